"""One name for all places that behave alike: times relative to now, and nothing that no rule can ask for
again.

Times further back than any rule can tell apart are equal; revoked certificates, decided requests and ended
attempts are history. ``--check`` compares places that got the same name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from adf_ea_ros.authority.model import (
    ANSWERED,
    NOT_EXECUTED,
    OPEN,
    Approval,
    Attempt,
    Certificate,
    EffectKind,
    Interaction,
)
from adf_ea_ros.authority.rules.x11_standing import spent
from adf_ea_ros.authority.state import DECIDED, State, current, fact_key
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Finding, Verdict
from studies.exploration.models import BOUND, MAX_AGE
from studies.exploration.moves import Place
from studies.exploration.world import TinyWorld

Age = Callable[[Ns, int], int | None]


def name(place: Place) -> bytes:
    """The name of a place."""
    state, world = place.state, place.world
    now = world.now

    def age(time: Ns, most: int) -> int | None:
        """How long ago; nothing asks further back than ``most``."""
        return None if time < 0 else max(time - now, -most)

    alive = {a for a in state.attempts if _matters(state, a, now)}
    parts = (
        state.phase,
        state.physical,
        state.observation,
        state.halted,
        sorted(state.unavailable),
        sorted(state.broken),
        place.restarts,
        place.heirs,
        sorted((n.id, n.operation.capability, n.after) for n in state.proposal.nodes.values()),
        [_attempt(state.attempts[a], state, age, now) for a in sorted(alive)],
        sorted(_certificate(c, state, age) for c in state.certificates.values() if not c.revoked),
        sorted(
            (
                k,
                r.retries,
                r.attempts > 0,
                r.established,
                r.latest if r.latest in alive else "",
                state.executor(k),
                r.operation.capability if r.operation is not None else "",
                sorted((e, bool(state.certificates[c].revoked)) for e, c in r.certificates.items()),
            )
            for k, r in state.keys.items()
        ),
        sorted((o, state.certificates[w.certificate].key, w.needed_by) for o, w in state.owed.items()),
        sorted((k, _finding(state.facts[k], age)) for k in _relied_on(state) if _known(state, k, now)),
        sorted((k, now - t) for k, t in state.touched.items() if now - t <= MAX_AGE),
        [(o.attempt, o.effects) for o in state.execution.values()],
        sorted(a for a in state.lingering if state.attempts[a].could_take_effect(now)),
        world.facts,
        _past(world),
        sorted(world.unseen),
        sorted(world.sampled),
        world.interference,
        sorted(map(str, world.broken)),
        [
            (c.attempt, c.left, c.accepted and state.attempts[c.attempt].interaction in OPEN)
            for c in world.commands
            if c.left or c.attempt in state.execution or (c.attempt in state.lingering and c.attempt in alive)
        ],
        sorted(_done(world, state, alive)),
        state.approved,
        sorted(_approval(given, state, age) for given in state.approvals.values()),
        _under_way(state) if place.approvals else (),
        sorted((n.id, n.operation.arguments) for n in state.proposal.nodes.values()),
    )
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).digest()


def _under_way(state: State) -> list[str]:
    """Keys whose next attempt nobody may approve yet: the latest one runs."""
    return sorted(
        key
        for key, record in state.keys.items()
        if record.latest and state.attempts[record.latest].interaction in OPEN - {Interaction.LOST}
    )


def _approval(given: Approval, state: State, age: Age) -> tuple[object, ...]:
    """An approval by what may still come of it: whether what it was counted at is the count now."""
    record = state.keys.get(given.key)
    return (
        given.step,
        given.key,
        given.fingerprint,
        given.arguments,
        given.by,
        given.number - (record.attempts if record is not None else 0),
        [(name, bound, times == state.revocations.get(name, 0)) for name, bound, times in given.providers],
        given.halts == state.halts,
        bool(given.attempt),
        bool(given.withdrawn),
        age(given.valid_until, 1),
    )


def _matters(state: State, attempt: str, now: Ns) -> bool:
    one = state.attempts[attempt]
    latest = state.keys[one.key].latest == attempt
    return latest or attempt in state.execution or one.could_take_effect(now)


def _attempt(attempt: Attempt, state: State, age: Age, now: Ns) -> tuple[object, ...]:
    """Answers of one kind are one; an attempt that is settled and at its end matters by its provider
    alone. Of its times only those matter from which something is still to be told.
    """
    who = (attempt.id, attempt.key, attempt.provider)
    unresolved = attempt.id in state.execution
    if not unresolved and not attempt.could_take_effect(now):
        return who
    said, final = attempt.interaction.value, False
    if attempt.interaction in ANSWERED:
        said, final = "answered", attempt.promises.final_on_result
    elif attempt.interaction in NOT_EXECUTED:
        said = "never"
    return (
        *who,
        said,
        age(attempt.dispatched, MAX_AGE + 1 if attempt.over else MAX_AGE + BOUND),
        age(attempt.settled, MAX_AGE) if final else None,
        attempt.superseded,
        attempt.cancel_requested,
        attempt.accepted and attempt.interaction in OPEN,
        attempt.doubtful,
        sorted(attempt.supported) if unresolved else (),
        spent(state, attempt, now),
        sorted((f.requirement, _finding(f, age)) for f in attempt.findings if unresolved and _speaks(f, now)),
    )


def _relied_on(state: State) -> set[str]:
    """Facts that a decision may rely on without asking about them anew: those that keep a certificate live,
    or could settle what is owed. All others that a request concerns come along with it, and count instead.
    """
    owed = {w.certificate for w in state.owed.values()}
    return {
        fact_key(requirement, one.condition)
        for one in state.certificates.values()
        if not one.revoked or one.id in owed
        for requirement in one.requirements
    }


def _known(state: State, name: str, now: Ns) -> bool:
    found = state.facts.get(name)
    return found is not None and _speaks(found, now) and not state.outdated(found)


def _speaks(found: Finding, now: Ns) -> bool:
    """Whether a finding says anything now: insufficient evidence is as good as none."""
    return current(found, now) and (found.verdict in DECIDED or found.verdict is Verdict.UNKNOWN)


def _finding(found: Finding, age: Age) -> tuple[object, ...]:
    if found.verdict not in DECIDED:
        return (found.verdict.value,)
    return found.verdict.value, found.negative, bool(found.basis), age(found.captured, MAX_AGE)


def _done(world: TinyWorld, state: State, alive: set[str]) -> Iterator[tuple[object, ...]]:
    """What attempts did. Of a state only that an open attempt has acted; when an event happened counts."""
    for attempt, fact, time in world.events:
        if fact in world.happenings:
            yield attempt, fact, world.now - time > MAX_AGE - 1
        elif attempt in alive and state.attempts[attempt].interaction in OPEN:
            yield attempt, fact, True


def _past(world: TinyWorld) -> list[tuple[object, ...]]:
    """What an old sample may still show: nothing of a fact that is shown as it is now, or will be."""
    told = world.unseen | world.sampled
    return [tuple((f, v) for f, v in facts if f not in told) for facts in world.past[:MAX_AGE]]


def _certificate(one: Certificate, state: State, age: Age) -> tuple[object, ...]:
    """A newer finding decides in place of the times on the certificate."""
    later = []
    for requirement in one.requirements:
        found = state.facts.get(fact_key(requirement, one.condition))
        later.append(found is not None and found.horizon > one.granted)
    mine = one.id in state.keys[one.key].certificates.values()
    times = () if all(later) else (age(one.granted, 1), age(one.valid_until, 1))
    attempt = one.attempt if one.kind is EffectKind.EVENT else ""
    return (one.key, one.effect, one.requirements, mine, attempt, times, later)
