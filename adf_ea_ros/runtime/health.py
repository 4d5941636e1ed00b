"""How an authority stands, in lines for whoever watches over robots: no ROS, and no clock of its own.

``nodes.health`` publishes the lines on /diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

import msgspec

from adf_ea_ros.authority.model import Attempt, Interaction
from adf_ea_ros.authority.rules.x11_standing import spent as spent_goal
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import EffectKind, EvidenceSpec, Lifecycle
from adf_ea_ros.contracts.units import format_duration
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.public import judged

AHEAD: Ns = 1_000_000_000
"""How far (ns) a readback's clock may run ahead of ours before that is worth a word."""
_NAMED = 5  # attempts and states in one message
OPEN = (Interaction.DISPATCHED, Interaction.ACCEPTED)


class Level(IntEnum):
    """As in ``diagnostic_msgs/msg/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


class Line(msgspec.Struct, frozen=True):
    """How one part stands; ``name`` is unique within an authority."""

    name: str
    level: Level
    message: str
    values: Mapping[str, object] = {}


class Readback(msgspec.Struct, frozen=True):
    """What is known of one readback."""

    name: str
    received: int = 0
    last: Ns = -1  # stamp of the newest sample that was taken; -1: none
    foreign: int = 0  # messages of others than the declared node
    mismatch: str = ""  # why messages can never arrive
    refused: Mapping[str, int] = {}  # how often a message was not taken, by reason code


def authority_line(closed: str, generation: int, *, waiting: int = 0, refused: int = 0) -> Line:
    """Whether it decides. ``closed`` says why it does not; requests wait, or were refused as too many."""
    values = {"generation": generation, "requests_waiting": waiting, "requests_refused": refused}
    return Line("authority", Level.WARN if closed else Level.OK, closed or "active", values)


def lease_lines(book: Book) -> Iterator[Line]:
    """What the attempts hold of that which several authorities share (rule X10), where it is anything."""
    held = book.leases.held
    if held:
        yield Line("leases", Level.OK, f"held: {', '.join(held)}", dict(held))


def ledger_line(name: str, fault: str, *, opened: bool, remedies: Iterable[str] = ()) -> Line:
    """Whether decisions can be kept: ``fault`` says why the last one could not."""
    got_over = list(remedies)
    values = {"ledger": name, "remedies": len(got_over)}
    if fault:
        return Line("ledger", Level.ERROR, fault, values)
    if not opened:
        return Line("ledger", Level.WARN, "not open", values)
    if got_over:
        return Line("ledger", Level.WARN, f"writable; got over: {'; '.join(got_over)}", values)
    return Line("ledger", Level.OK, "writable", values)


def episode_lines(book: Book, now: Ns) -> Iterator[Line]:
    """Every active episode, and every stopped one of which an effect may still come."""
    for name, state in book.active().items():
        yield _active(name, state, now)
    stopped: dict[str, list[str]] = {}
    for name, _, attempt in book.unsettled(now):
        if name not in book.active():
            stopped.setdefault(name, []).append(attempt.id)
    for name, attempts in stopped.items():
        text = f"stopped, and an effect may still come: {', '.join(attempts)}"
        yield Line(f"episode {name}", Level.WARN, text, {"unresolved": len(attempts)})


def _active(name: str, state: State, now: Ns) -> Line:
    open_ = [state.attempts[attempt] for attempt in state.execution]
    # What a standing task's client was told, and nobody has to do anything about, is no trouble.
    unresolved = [attempt for attempt in open_ if not spent_goal(state, attempt, now)]
    ended = [attempt for attempt in unresolved if not _under_way(attempt, now)]
    absent = [attempt.id for attempt in ended if judged(state, attempt)[1]]
    unknown = [attempt.id for attempt in ended if attempt.id not in absent]
    troubles = []
    if state.halted:
        troubles.append(f"halted by {state.halted}")
    if unknown:
        troubles.append(f"outcome unknown: {_some(unknown)}")
    if absent:
        troubles.append(f"shown to have had no effect: {_some(absent)}")
    if state.owed:
        troubles.append(f"state lost: {_some(list(state.owed))}")
    spent = [kind for kind in ("physical", "observation") if getattr(state, kind) < 1]
    if spent:
        troubles.append(f"no {' and no '.join(spent)} budget left")
    idle = "open for its clients" if state.standing else "waiting for its planner"
    return Line(
        f"episode {name}",
        Level.WARN if troubles else Level.OK,
        "; ".join(troubles) or ("under way" if unresolved else idle),
        {
            "unresolved": len(unresolved),
            "unknown": len(unknown),
            "absent": len(absent),
            "doubtful": sum(attempt.doubtful for attempt in unresolved),
            "lost_states": len(state.owed),
            "physical": state.physical,
            "observation": state.observation,
        },
    )


def _some(names: list[str]) -> str:
    """The first few of them, and how many more there are. Attempts are numbered."""
    names = sorted(names, key=lambda name: (len(name), name))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _under_way(attempt: Attempt, now: Ns) -> bool:
    """Whether its answer is still to be expected: an open outcome is then nothing to worry about."""
    return attempt.interaction in OPEN and not attempt.doubtful and now <= attempt.deadline


def lifetimes(catalog: Catalog) -> dict[str, Ns]:
    """For each readback: the greatest age (ns) at which a sample of it can still prove a state.

    Readbacks that prove events alone are left out: their silence says nothing.
    """
    found: dict[str, Ns] = {}

    def serve(routes: Iterable[str], spec: EvidenceSpec) -> None:
        for route in routes:
            found[route] = max(found.get(route, 0), spec.max_age)

    for provider in catalog.providers():
        if provider.tool is None or provider.lifecycle is not Lifecycle.ACTIVE:
            continue
        capability = catalog.capability(provider.tool.provides)
        for name, routes in provider.evidence.items():
            requirement = capability.evidence.get(name)
            if requirement is None:
                serve(routes, capability.invocation.requires[name].evidence)
            elif capability.effects[requirement.effect].kind is EffectKind.STATE:
                serve(routes, requirement)
    for task in catalog.tasks():
        for obligation in task.obligations.values():
            if obligation.evidence is not None:
                serve(obligation.routes, obligation.evidence)
    return found


def readback_line(state: Readback, lifetime: Ns | None, now: Ns) -> Line:
    """Whether a readback can prove anything now.

    ``lifetime`` is that of ``lifetimes``; None where no state rests on it.
    """
    age = max(now - state.last, 0) if state.last >= 0 else -1
    level, message = Level.OK, "fresh"
    if state.mismatch:
        level, message = Level.ERROR, state.mismatch
    elif state.foreign:
        level, message = Level.WARN, f"{state.foreign} messages from others than the declared node"
    elif state.last > now + AHEAD:
        level, message = Level.WARN, f"its newest sample is {(state.last - now) / 1e9:.1f} s in the future"
    elif lifetime is None:  # silence is no fault here
        message = f"newest sample {age / 1e9:.1f} s old" if age >= 0 else "no sample yet"
        message += "; no state rests on it"
    elif age < 0:
        level, message = Level.WARN, "no usable sample yet"
    elif age > lifetime:
        old = f"newest sample {age / 1e9:.1f} s old"
        level, message = Level.STALE, f"{old}: evidence must not be older than {format_duration(lifetime)}"
    refused = {code.removeprefix("E."): count for code, count in state.refused.items()}
    values = {"received": state.received, "age_ns": age, "foreign": state.foreign, **refused}
    return Line(f"readback {state.name}", level, message, values)


def provider_line(name: str, tool: str, reason: str | None) -> Line:
    """Whether a provider can be asked. ``reason``: why not; empty: it can; None: nobody knows yet."""
    level = Level.OK if reason == "" else Level.WARN
    message = "not seen yet" if reason is None else reason or "available"
    return Line(f"provider {name}", level, message, {"tool": tool})
