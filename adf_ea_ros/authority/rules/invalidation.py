"""Rule 9, first half: invalidation before use, and the state obligations that it opens and closes.

    on a qualified negative finding of p, or a satisfied finding of q that excludes p:
      revoke every unrevoked state certificate whose condition implies p
      revoke every certificate that rests on a condition so lost, and so on        (transitively)
      for each revoked state: if a planned, unverified step or a goal needs it, U_state gains it
    on a satisfied finding of an owed state: a fresh certificate is granted and U_state loses it
    on a finding, of whatever requirement, that shows a preserved fact to be otherwise: broken for good

The historical success stays in L, and no failed attempt is made of it: U_exec does not change.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import Certificate, Effect, EffectKind, ObligationKind, StateObligation
from adf_ea_ros.authority.requests import Findings
from adf_ea_ros.authority.state import State, current, effect_key, fact_name
from adf_ea_ros.contracts.conditions import Condition
from adf_ea_ros.evidence.types import Finding, Verdict


def absorb(work: Work, view: Findings) -> None:
    """Take findings into the state, with all that the usable ones among them invalidate or restore.

    One that says nothing (expired, broken, without a basis, from before the fact was touched) is recorded all
    the same: it is the answer to what was asked now, and an older, better one must not stand in for it.
    """
    seen = tuple(f for f in view if f.horizon <= work.now)
    if not seen:
        return
    usable = tuple(f for f in seen if current(f, work.now) and not work.state.outdated(f))
    work.emit(ev.FactsChecked(seen))
    for found in usable:
        _break(work, found)
        if found.negative:
            _lose(work, found)
        elif found.verdict is Verdict.SATISFIED:
            _restore(work, found)


def _lose(work: Work, found: Finding) -> None:
    lost = found.condition
    for name in work.state.by_fact.get(fact_name(lost.fact), ()):
        certificate = work.state.certificates[name]
        if certificate.condition.implies(lost) and found.horizon >= certificate.granted:
            revoke(work, certificate, f"{lost} was seen to be false")
    _topple(work, lost)


def _break(work: Work, found: Finding) -> None:
    """Whoever asked, and under whichever requirement: a preserved fact that was seen otherwise is broken."""
    seen = found.condition
    for goal in work.state.preserved:
        if found.negative:
            otherwise = goal.condition.implies(seen)
        else:
            otherwise = found.verdict is Verdict.SATISFIED and seen.excludes(goal.condition)
        if otherwise and goal.id not in work.state.broken:
            work.emit(ev.PreservationBroken(goal.id, work.now))


def _restore(work: Work, found: Finding) -> None:
    holds = found.condition
    for name in work.state.by_fact.get(fact_name(holds.fact), ()):
        certificate = work.state.certificates[name]
        if holds.excludes(certificate.condition) and found.horizon >= certificate.granted:
            _exclude(work, certificate, holds)
    owed = work.state.owed.get(str(holds)) if work.state.owed else None
    if owed is None:
        return
    old = work.state.certificates[owed.certificate]
    known = [work.finding(requirement, holds) for requirement in old.requirements]
    proof = tuple(f for f in known if f is not None and f.verdict is Verdict.SATISFIED)
    if len(proof) == len(old.requirements) and work.state.pending(old.key) is None:
        certify(work, old.key, _effect_like(old), "", proof, old.revision)


def _exclude(work: Work, certificate: Certificate, holds: Condition) -> None:
    revoke(work, certificate, f"{holds} was seen, which excludes it")
    _topple(work, certificate.condition)


def revoke(work: Work, certificate: Certificate, reason: str) -> None:
    """End a certificate's use, and record what is now owed and what rested on it."""
    if certificate.revoked:
        return
    work.emit(ev.Revoked(certificate.id, reason, work.now))
    if certificate.kind is EffectKind.STATE:
        needed = _needed_by(work.state, certificate)
        if needed:
            work.emit(ev.StateOwed(certificate.condition, certificate.id, work.now, needed))


def _topple(work: Work, lost: Condition) -> None:
    """Revoke what rests on a lost condition, and what rests on that."""
    for name in work.state.resting.get(fact_name(lost.fact), ()):
        certificate = work.state.certificates[name]
        if not certificate.revoked and any(base.implies(lost) for base in certificate.rests_on):
            revoke(work, certificate, f"it rested on {lost}")
            _topple(work, certificate.condition)


def certify(work: Work, key: str, effect: Effect, attempt: str, findings: Findings, revision: str) -> None:
    """Rule 4's act: grant a certificate on these satisfied findings, one per requirement of the effect."""
    record = work.state.keys.get(key)
    meaning = effect_key(effect.kind, effect.condition)
    previous = record.certificates.get(meaning) if record is not None else None
    if previous is not None and not work.state.certificates[previous].revoked:
        work.emit(ev.Revoked(previous, "replaced by newer evidence", work.now))
    work.emit(
        ev.Certified(
            Certificate(
                id=f"{work.state.episode}/c{len(work.state.certificates) + 1}",
                key=key,
                effect=effect.id,
                attempt=attempt,
                kind=effect.kind,
                condition=effect.condition,
                requirements=tuple(found.requirement for found in findings),
                granted=work.now,
                captured=min(found.captured for found in findings),
                valid_until=min(found.valid_until for found in findings),
                revision=revision,
                lineage=tuple(dict.fromkeys(name for found in findings for name in found.basis)),
                rests_on=effect.rests_on,
            )
        )
    )
    for name in work.state.by_fact.get(fact_name(effect.condition.fact), ()):
        other = work.state.certificates[name]
        if effect.kind is EffectKind.STATE and effect.condition.excludes(other.condition):
            _exclude(work, other, effect.condition)
    if str(effect.condition) in work.state.owed:
        work.emit(ev.StateSettled(effect.condition, "verified again"))
    _end_temporary_needs(work)


def _end_temporary_needs(work: Work) -> None:
    """A requirement for a step ends once that step is verified: an open door is not needed for ever."""
    for owed in list(work.state.owed.values()):
        if not still_needed(work.state, owed):
            work.emit(ev.StateSettled(owed.condition, "the step that needed it is verified"))


def still_needed(state: State, owed: StateObligation) -> bool:
    """Whether anything that made a lost state material is still ahead."""
    for name in owed.needed_by:
        if name.startswith("goal:"):
            return True
        node = state.proposal.nodes.get(name)
        if node is None:
            continue
        if not state.established(node.operation.key) or state.pending(node.operation.key) is not None:
            return True
    return False


def _needed_by(state: State, certificate: Certificate) -> tuple[str, ...]:
    steps = []
    for name, pre_id in state.proposal.links.get(certificate.key, ()):
        node = state.proposal.nodes[name]
        pre = next(p for p in node.operation.preconditions if p.id == pre_id)
        unverified = (
            not state.established(node.operation.key) or state.pending(node.operation.key) is not None
        )
        if unverified and certificate.condition.implies(pre.condition):
            steps.append(name)
    goals = [
        f"goal:{goal.id}"
        for goal in state.goals_by_key.get(certificate.key, ())
        if goal.kind is ObligationKind.STATE and goal.condition == certificate.condition
    ]
    return (*dict.fromkeys(steps), *goals)


def _effect_like(certificate: Certificate) -> Effect:
    return Effect(certificate.effect, certificate.kind, certificate.condition, (), certificate.rests_on)
