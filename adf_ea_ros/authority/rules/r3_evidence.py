"""Rules 3 and 4: interaction records, evidence about attempts, promotion.

R3  a report changes the interaction record of its attempt and nothing else;
    evidence changes the attempt's findings; missing, stale or conflicting evidence proves no failure
R4  Promote(i, e) iff  e in E(o) outstanding for i
                  and  Req(e) is nonempty and every requirement in it is SATISFIED by evidence on i
    Effect: L gains a certificate for e; U_exec loses e of i, and i itself once nothing is outstanding.
    A certificate names its attempt and is never carried over to another.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import ANSWERED, NOT_EXECUTED, Attempt, Effect, Interaction
from adf_ea_ros.authority.reasons import refuse
from adf_ea_ros.authority.requests import Assess, Findings, Report
from adf_ea_ros.authority.rules.invalidation import absorb, certify
from adf_ea_ros.authority.state import DECIDED, current
from adf_ea_ros.evidence.types import Finding, Verdict

_ENDS = ANSWERED | NOT_EXECUTED | {Interaction.LOST}
_NEXT: dict[Interaction, frozenset[Interaction]] = {
    Interaction.DISPATCHED: frozenset(_ENDS | {Interaction.ACCEPTED}) - {Interaction.NEVER_ACCEPTED},
    Interaction.ACCEPTED: frozenset({*ANSWERED, Interaction.LOST}) - {Interaction.ONE_WAY},
    # A lost answer may still be found: late results settle the interaction, never the effect.
    Interaction.LOST: frozenset({Interaction.ACCEPTED, *ANSWERED, Interaction.REJECTED})
    - {Interaction.ONE_WAY},
}


def report(work: Work, request: Report) -> Outcome:
    """Record what a provider answered (rule 3)."""
    attempt = work.state.attempts.get(request.attempt)
    if attempt is None:
        return denied(refuse("X5.unknown_attempt", f"there is no attempt {request.attempt!r}"))
    if request.interaction not in _NEXT.get(attempt.interaction, frozenset()):
        step = f"{request.interaction.value} cannot follow {attempt.interaction.value}"
        return denied(refuse("R3.invalid_interaction", f"attempt {attempt.id}: {step}"))
    work.emit(ev.Reported(attempt.id, request.interaction, work.now, request.detail))
    return granted(
        "R3",
        f"{attempt.provider} answered {request.interaction.value}; that is no evidence of the effect",
        "R3.recorded",
    )


def assess(work: Work, request: Assess) -> Outcome:
    """Qualify evidence about an attempt, and promote what it establishes (rules 3 and 4)."""
    attempt = work.state.attempts.get(request.attempt)
    if attempt is None:
        return denied(refuse("X5.unknown_attempt", f"there is no attempt {request.attempt!r}"))
    absorb(work, request.view)
    if attempt.id not in work.state.execution:
        return denied(refuse("R5.nothing_to_observe", f"attempt {attempt.id} is already settled by evidence"))
    if promote(work, attempt, request.assessed):
        return granted("R4", _proven(work, attempt), "R4.promoted")
    bad = next((f for f in request.assessed if f.integrity), None)
    if bad is not None:
        return denied(refuse("R3.integrity", f"{bad.requirement}: {bad.integrity}"))
    return denied(
        refuse("R3.not_proven", "; ".join(describe(f) for f in request.assessed) or "no evidence yet")
    )


def promote(work: Work, attempt: Attempt, assessed: Findings) -> bool:
    """Record findings on an attempt and certify what they establish; true where nothing stays outstanding.

    Samples from before the dispatch show what was there without the attempt: they count for nothing here.
    """
    assessed = tuple(f for f in assessed if f.verdict not in DECIDED or f.captured > attempt.dispatched)
    seen = tuple(f for f in assessed if f.horizon <= work.now)
    if seen:
        work.emit(ev.Assessed(attempt.id, seen))
    operation = work.operation_of(attempt.key)
    owed = work.state.execution.get(attempt.id)
    if operation is None or owed is None:
        return owed is None
    for effect in operation.effects:
        found = proof(effect, assessed, work) if effect.id in owed.effects else None
        if found is not None:
            certify(work, attempt.key, effect, attempt.id, found, operation.fingerprint)
    return attempt.id not in work.state.execution


def proof(effect: Effect, assessed: Findings, work: Work) -> Findings | None:
    """One current satisfied finding per requirement of the effect, or none: a nonempty basis is required."""
    found: list[Finding] = []
    for requirement in effect.requirements:
        match = next(
            (f for f in assessed if f.requirement == requirement.id and f.condition == effect.condition), None
        )
        if (
            match is None
            or match.verdict is not Verdict.SATISFIED
            or not match.basis
            or not current(match, work.now)
        ):
            return None
        found.append(match)
    return tuple(found) or None


def describe(found: Finding) -> str:
    """One finding in words."""
    why = f" ({', '.join(found.reasons)})" if found.reasons else ""
    sense = "qualified negative" if found.negative else found.verdict.value
    return f"{found.condition}: {sense}{why}"


def _proven(work: Work, attempt: Attempt) -> str:
    operation = work.operation_of(attempt.key)
    effects = (
        " and ".join(str(e.condition) for e in operation.effects) if operation is not None else "its effect"
    )
    return f"qualified evidence shows {effects} after attempt {attempt.id}"
