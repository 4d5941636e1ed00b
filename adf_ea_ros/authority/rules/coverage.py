"""Covered(g, P): whether an obligation has the support that its kind asks for (section 3.4).

    state     iff  Live(c) for some c with k(c) = k(g), effect(c) = effect(g), and g holds by current evidence
    event     iff  some unrevoked event certificate c with k(c) = k(g), effect(c) = effect(g)
    preserve  iff  g holds by current evidence and was never seen broken

A state never stands in for an event, nor an event for a state. A state without a producer, and one that
the task trusts initially, needs current evidence alone.
"""

from __future__ import annotations

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import Certificate, EffectKind, Obligation, ObligationKind
from adf_ea_ros.authority.state import effect_key
from adf_ea_ros.evidence.types import Verdict


def covered(work: Work, goal: Obligation) -> bool:
    """Whether ``goal`` is covered now."""
    if goal.kind is ObligationKind.EVENT:
        certificate = certificate_of(work, goal)
        return certificate is not None and certificate.kind is EffectKind.EVENT and not certificate.revoked
    holds = shown(work, goal)
    if goal.kind is ObligationKind.PRESERVE:
        return holds and goal.id not in work.state.broken
    if not goal.key or goal.initial:
        return holds
    certificate = certificate_of(work, goal)
    return (
        holds
        and certificate is not None
        and certificate.kind is EffectKind.STATE
        and work.state.live(certificate, work.now)
    )


def shown(work: Work, goal: Obligation) -> bool:
    """Whether current evidence satisfies every requirement of a goal's condition."""
    found = [work.finding(requirement.id, goal.condition) for requirement in goal.requirements]
    return bool(found) and all(f is not None and f.verdict is Verdict.SATISFIED for f in found)


def certificate_of(work: Work, goal: Obligation) -> Certificate | None:
    """The latest certificate for the effect that a goal names."""
    record = work.state.keys.get(goal.key)
    kind = EffectKind.EVENT if goal.kind is ObligationKind.EVENT else EffectKind.STATE
    name = record.certificates.get(effect_key(kind, goal.condition)) if record is not None else None
    return work.state.certificates[name] if name is not None else None
