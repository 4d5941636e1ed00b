"""The result of ``decide``, and the working copy of the state that the rules share while it is made."""

from __future__ import annotations

import msgspec

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.model import Attempt, Operation
from adf_ea_ros.authority.reasons import REASONS, Refusal
from adf_ea_ros.authority.rules.x10_lease import Lease
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Condition, Ns
from adf_ea_ros.evidence.types import Finding


class Decision(msgspec.Struct, frozen=True):
    """What was decided. ``events`` are to be appended before anything else happens; ``after`` is their
    fold."""

    id: str
    authorized: bool
    rules: tuple[str, ...]
    reasons: tuple[str, ...]
    sentence: str
    events: tuple[ev.AnyEvent, ...]
    after: State
    attempt: Attempt | None = None  # to be sent now, where a dispatch was authorized


class Outcome(msgspec.Struct, frozen=True):
    """What a rule concluded, before it is dressed as a decision."""

    authorized: bool
    rules: tuple[str, ...]
    reasons: tuple[str, ...]
    sentence: str
    attempt: Attempt | None = None


def granted(rule: str, sentence: str, *reasons: str, attempt: Attempt | None = None) -> Outcome:
    """An authorization under ``rule``."""
    return Outcome(True, (rule,), reasons, sentence, attempt)


SAID = 10
"""As many particulars are told for one reason: a claim may lack a thousand obligations."""


def denied(*refusals: Refusal) -> Outcome:
    """A denial for all these reasons; the rules are those of the codes."""
    particulars: dict[str, list[str]] = {}
    for refusal in refusals:
        particulars.setdefault(refusal.code, []).append(refusal.text)
    said = []
    for texts in particulars.values():
        said += texts[:SAID]
        if len(texts) > SAID:
            said.append(f"and {len(texts) - SAID} more of these")
    rules = tuple(dict.fromkeys(code.partition(".")[0] for code in particulars))
    return Outcome(False, rules, tuple(particulars), "; ".join(said))


class Work:
    """The state as it becomes while one decision is made: each event is folded in at once.

    So a rule that runs after an invalidation already sees its consequences, and no event can be emitted
    that the state does not know.
    """

    def __init__(self, state: State, now: Ns) -> None:
        """Start from ``state`` at ``now``."""
        self.state = state
        self.now = now
        self.leases: tuple[Lease, ...] = ()
        self.replaced: tuple[str, ...] = ()
        self.events: list[ev.AnyEvent] = []

    def emit(self, event: ev.AnyEvent) -> None:
        """Record an event and let it take effect."""
        self.events.append(event)
        self.state = fold(self.state, event)

    def finding(self, requirement: str, condition: Condition) -> Finding | None:
        """What is currently known of a condition under a requirement."""
        return self.state.finding(requirement, condition, self.now)

    def operation_of(self, key: str) -> Operation | None:
        """The operation that a key last stood for."""
        record = self.state.keys.get(key)
        return record.operation if record is not None else None


def conclude(work: Work, request: str, subject: str, outcome: Outcome) -> Decision:
    """The decision with its record first and its consequences after it."""
    for code in outcome.reasons:
        if code not in REASONS:
            raise AssertionError(f"undeclared reason code {code}")
    number = f"{work.state.episode}:{work.state.decisions + 1}"
    record = ev.Decided(
        number,
        work.now,
        request,
        subject,
        outcome.authorized,
        outcome.rules,
        outcome.reasons,
        outcome.sentence,
    )
    # Decided touches only counters, so folding it last gives the state of folding it first.
    return Decision(
        id=number,
        authorized=outcome.authorized,
        rules=outcome.rules,
        reasons=outcome.reasons,
        sentence=outcome.sentence,
        events=(record, *work.events),
        after=fold(work.state, record),
        attempt=outcome.attempt,
    )
