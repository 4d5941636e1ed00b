"""Lease: what several authorities share is used by one of them at a time.

X10 Lease: let Shared(o, p) be the subjects that operation o changes or rests on, where its contract says that
    they are shared, and the name of the device behind provider p, where that is shared.
    A dispatch of o to p needs, beside Adm(o, S): for all s in Shared(o, p), no other authority holds s.
    The attempt takes Shared(o, p) in the transaction that makes it durable, or is void.
    An attempt holds them while its outcome is owed or its interaction is open; one that the provider never
    took up holds nothing; in an episode that was stopped, until its interaction says that nothing is to
    come. Time alone, or the death of the holder, ends no hold: an effect may still be under way.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adf_ea_ros.authority.model import NOT_EXECUTED, OPEN, Attempt, Operation
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.state import State


class Lease(msgspec.Struct, frozen=True):
    """A shared subject in another authority's hands."""

    subject: str
    holder: str
    attempt: str
    since: str  # wall time, ISO 8601 in UTC: two authorities need not share a ROS clock


def needed(operation: Operation, provider: str) -> tuple[str, ...]:
    """Shared(o, p), in order of name."""
    binding = operation.binding(provider)
    device = (binding.device,) if binding is not None and binding.device else ()
    return tuple(sorted({*operation.shared, *device}))


def held(leases: Iterable[Lease], operation: Operation, provider: str) -> list[Refusal]:
    """Every lease against dispatching the operation to the provider now."""
    wanted = needed(operation, provider)
    return [
        refuse("X10.held", f"{one.subject} is held by {one.holder} for {one.attempt} since {one.since}")
        for one in leases
        if one.subject in wanted
    ]


def holds(state: State) -> dict[str, tuple[str, ...]]:
    """What the attempts of an episode hold, by attempt."""
    if state.phase == "completed":
        return {}
    found = {}
    for name in (*state.execution, *state.lingering):
        attempt = state.attempts[name]
        if attempt.leases and not _settled(state, attempt):
            found[name] = attempt.leases
    return found


def _settled(state: State, attempt: Attempt) -> bool:
    if attempt.id not in state.execution:
        return attempt.interaction not in OPEN  # proven: only the answer may be outstanding
    if state.phase != "active":
        return attempt.over  # nothing more will be learned here
    return attempt.interaction in NOT_EXECUTED
