"""A sequence of decisions that does not depend on how often a planner asks while time passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Decision

REQUESTS = ("Begin", "Revise", "Dispatch", "Claim", "Stop")


class Step(NamedTuple):
    """One decision: what was asked, and with which answer. ``mode`` and ``provider`` of an attempt."""

    request: str
    subject: str
    authorized: bool
    provider: str = ""
    mode: str = ""


def from_decisions(decisions: Iterable[Decision]) -> tuple[Step, ...]:
    """The sequence of what a service told its listeners."""
    return from_events([event for decision in decisions for event in decision.events])


def from_events(events: Sequence[ev.AnyEvent]) -> tuple[Step, ...]:
    """The sequence of a ledger's events: grants in order, and observations as they were granted.

    Refusals are left out: how often a planner is told to wait depends on the time that its messages take.
    What a refusal leads to is in the sequence.
    """
    found: list[Step] = []
    for index, event in enumerate(events):
        if not isinstance(event, ev.Decided) or not event.authorized:
            continue
        if event.request not in {*REQUESTS, "Observe"}:
            continue
        attempt = next((e.attempt for e in _caused(events, index) if isinstance(e, ev.Dispatched)), None)
        if attempt is not None:
            found.append(Step(event.request, event.subject, True, attempt.provider, attempt.mode.value))
        elif event.request != "Begin":
            subject = event.subject if event.request == "Observe" else ""
            found.append(Step(event.request, subject, True))
    return tuple(found)


def _caused(events: Sequence[ev.AnyEvent], index: int) -> Iterable[ev.AnyEvent]:
    for event in events[index + 1 :]:
        if isinstance(event, ev.Decided):
            return
        yield event


def words(steps: Iterable[Step]) -> str:
    """The sequence in one line; several observations in a row as one."""
    told: list[str] = []
    for step in steps:
        what = f"{step.request.lower()} {step.subject}".strip()
        if step.mode:
            what += f" on {step.provider} ({step.mode.lower()})"
        if not told or told[-1] != what:
            told.append(what)
    return "; ".join(told)
