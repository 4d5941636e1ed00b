"""The rules. Each predicate stands under its formal statement; ``doc/rules.md`` shows them in one place."""
