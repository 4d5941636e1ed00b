"""The decisions that were heard, each once, and which of them are shown. Pure: no ROS, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from adf_ea_ros.cli.watch_view import DecisionView


class Filter(msgspec.Struct, frozen=True):
    """Which decisions are shown."""

    episode: str = ""  # empty: every one
    authorized: bool | None = None  # None: granted and refused
    reason: str = ""  # part of a rule, a reason code, the subject or the sentence; any case
    routine: bool = False  # also those that only note facts

    def admits(self, decision: DecisionView) -> bool:
        """Whether the decision is shown."""
        if decision.routine and not self.routine:
            return False
        if self.episode and decision.episode != self.episode:
            return False
        if self.authorized is not None and decision.authorized != self.authorized:
            return False
        words = (*decision.rules, *decision.reasons, decision.subject, decision.request, decision.sentence)
        return self.reason.casefold() in " ".join(words).casefold()


def alike(one: DecisionView, other: DecisionView) -> bool:
    """Whether two decisions say the same, apart from their time: a client that asks again and again."""
    return (one.episode, one.request, one.subject, one.authorized, one.reasons, one.sentence) == (
        other.episode, other.request, other.subject, other.authorized, other.reasons, other.sentence
    )  # fmt: skip


def runs(decisions: Iterable[DecisionView]) -> list[tuple[DecisionView, int]]:
    """Decisions in a row that say the same, as the newest of them and their number."""
    found: list[tuple[DecisionView, int]] = []
    for decision in decisions:
        if found and alike(found[-1][0], decision):
            found[-1] = (decision, found[-1][1] + 1)
        else:
            found.append((decision, 1))
    return found


class DecisionLog:
    """The newest decisions, in the order in which they came; each id once.

    A restarted authority may publish again what a latched topic has brought already.
    """

    def __init__(self, kept: int = 1000) -> None:
        """``kept``: how many are remembered."""
        self._kept = kept
        self._by_id: dict[str, DecisionView] = {}

    def add(self, decision: DecisionView) -> bool:
        """Take it up; whether it is new."""
        if decision.id in self._by_id:
            return False
        self._by_id[decision.id] = decision
        if len(self._by_id) > self._kept:
            del self._by_id[next(iter(self._by_id))]
        return True

    def clear(self) -> None:
        """Forget all."""
        self._by_id.clear()

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[DecisionView]:
        return iter(self._by_id.values())

    def shown(self, chosen: Filter) -> list[DecisionView]:
        """Those that the filter admits, oldest first."""
        return [decision for decision in self if chosen.admits(decision)]
