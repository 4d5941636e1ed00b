"""What to try next while outcomes are ambiguous: five policies on every assignment of authored tasks."""
