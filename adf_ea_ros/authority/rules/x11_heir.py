"""Heirs: how a long standing episode gives way to a new one, and what that one starts with.

X11 Heir: s may give way to h at t iff  both are of one standing task, and s is not halted
                                   and  U_exec(s) = {} and U_state(s) = {}
                                   and  no attempt of s could still take effect
    h starts with  b_p and b_v of s
              and  for each o that is established in s, where E(o) holds no event and no certificate of k(o)
                   is revoked: o and its provider as they were dispatched last, b_r(k(o)), its certificates,
                   and the latest findings by which these are judged: what is not live in s is not in h
              and  when each fact was touched last, and which preserved ones were broken
    s ends in favour of h before h dispatches anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from adf_ea_ros.authority.events import EpisodeStarted, Inheritance
from adf_ea_ros.authority.model import Certificate, EffectKind
from adf_ea_ros.authority.state import State, fact_key, fact_name
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Finding


def at_rest(state: State, now: Ns) -> bool:
    """Nothing is unresolved, and nothing that was verified could still act."""
    lingering = (state.attempts[name] for name in state.lingering)
    return not state.execution and not any(attempt.could_take_effect(now) for attempt in lingering)


def may_give_way(state: State, now: Ns) -> bool:
    """Whether a new episode may go on in this one's place: nothing in it is open, and it is not halted."""
    return at_rest(state, now) and not state.owed and not state.halted


def heir(start: EpisodeStarted, old: State) -> EpisodeStarted:
    """``start``, the first event of a fresh episode, with all that it inherits from ``old``."""
    accounts = tuple(_established(old))
    told = {fact for account in accounts for fact, _ in account.touched}
    return replace(
        start,
        inherited=accounts,
        physical=old.physical,
        observation=old.observation,
        touched=tuple(sorted((fact, time) for fact, time in old.touched.items() if fact not in told)),
        broken=tuple(sorted(old.broken.items())),
    )


def _established(state: State) -> Iterator[Inheritance]:
    """The accounts of what holds: without them a goal for it would be carried out once more.

    There are no more of them than there are facts: certificates of two states that exclude each other do not
    stand beside each other.
    """
    for key, record in state.keys.items():
        operation = record.operation
        certificates = tuple(state.certificates[name] for name in record.certificates.values())
        if (
            record.established
            and operation is not None
            and all(effect.kind is EffectKind.STATE for effect in operation.effects)
            and not any(certificate.revoked for certificate in certificates)
        ):
            facts = sorted(map(fact_name, operation.facts))
            touched = tuple((fact, state.touched[fact]) for fact in facts if fact in state.touched)
            yield Inheritance(
                key,
                operation,
                record.retries,
                certificates,
                touched,
                state.executor(key),
                tuple(_findings(state, certificates)),
            )


def _findings(state: State, certificates: tuple[Certificate, ...]) -> Iterator[Finding]:
    """What was found last of what keeps the certificates live, be it for them or not."""
    for one in certificates:
        for requirement in one.requirements:
            found = state.facts.get(fact_key(requirement, one.condition))
            if found is not None:
                yield found
