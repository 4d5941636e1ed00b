"""What physically happened, as the checker needs to be told of it. No authority took part in this record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from studies.checker.conditions import Fact, Json, holds


class World(Protocol):
    """The questions that the checker asks of a world."""

    def value(self, fact: Fact, time: int) -> object:
        """The value of a fact at ``time``; None where the fact did not exist."""

    def happened(self, attempt: str, fact: Fact, time: int) -> bool:
        """Whether an effect of ``attempt`` on ``fact`` physically took place at or before ``time``."""

    def to_come(self, attempt: str, time: int) -> tuple[tuple[Fact, object], ...]:
        """The changes that ``attempt`` made, or may still make, after ``time``."""

    def broke(self, condition: Json, since: int, until: int) -> bool:
        """Whether ``condition`` was ever false between the two times."""


@dataclass
class WorldHistory:
    """A finished recording: timelines of facts, and the physical changes that each attempt made."""

    facts: dict[Fact, list[tuple[int, object]]] = field(default_factory=dict)  # changes, in time order
    executions: list[tuple[int, str, Fact, object]] = field(
        default_factory=list
    )  # time, attempt, fact, value

    def set(self, time: int, fact: Fact, value: object, attempt: str = "") -> None:
        """Record that a fact took a value at ``time``, by an attempt or by the environment."""
        self.facts.setdefault(fact, []).append((time, value))
        if attempt:
            self.executions.append((time, attempt, fact, value))

    def value(self, fact: Fact, time: int) -> object:
        """See ``World``."""
        found = None
        for when, value in self.facts.get(fact, ()):
            if when <= time:
                found = value
        return found

    def happened(self, attempt: str, fact: Fact, time: int) -> bool:
        """See ``World``."""
        return any(w <= time and a == attempt and f == fact for w, a, f, _ in self.executions)

    def to_come(self, attempt: str, time: int) -> tuple[tuple[Fact, object], ...]:
        """See ``World``."""
        return tuple((f, v) for w, a, f, v in self.executions if w > time and a == attempt)

    def broke(self, condition: Json, since: int, until: int) -> bool:
        """See ``World``."""
        name = (condition["subject"], condition["path"])
        times = [since, *(w for w, _ in self.facts.get(name, ()) if since <= w <= until)]
        return any(not holds(condition, self.value(name, t)) for t in times)
