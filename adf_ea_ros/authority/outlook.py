"""What fresh evidence would do for a request: findings that only have to be acquired again (section 3.6).

Advice that rests on retained findings alone would leave out the very request that is granted next: the
runtime brings fresh evidence along with each request, and what is retained has often grown old by then. So
each answer that is missing is assumed, where nobody has to act for it but a sensor:

    a fact that was decided and has only grown old                 is as it was
    a precondition, a goal that no step is to bring about,
    or a state that was certified and is not known to be lost      holds
    the effect of an unresolved attempt, where that is asked for   is absent

Nothing of this is ever decided on: it serves advice, which names what it assumes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.model import Attempt, ObligationKind
from adf_ea_ros.authority.questions import Question, about
from adf_ea_ros.authority.state import DECIDED, State, fact_key, fact_name
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Finding, Verdict

MENDED = frozenset(
    {
        "R2.precondition_unknown",
        "R2.dependency",
        "R2.obligation_order",
        "R6.no_qualified_negative",
        "R6.negative_too_early",
        "R6.partial_effect",
        "R7.unknown_now",
        "R9.uncovered",
        "R9.state_owed",
    }
)
"""Reasons that evidence can take away; where another one stands, nothing need be tried."""

NAMED = 5
"""As many assumptions are named, and each of them tried for need; a longer list is for nobody to read."""

Asking = rq.Dispatch | rq.Claim


def hopeful(state: State, request: Asking, now: Ns, *, absent: bool = False) -> tuple[Decision, str] | None:
    """The decision that fresh evidence would bring, with what that has to show; none where it is a refusal.

    ``absent``: the effect of an unresolved attempt may be assumed to be absent.
    """
    assumed = _assumptions(state, request, now, absent=absent)
    decision = decide(state, _with(request, assumed), now) if assumed else None
    if decision is None or not decision.authorized:
        return None
    if len(assumed) <= NAMED:
        for one in tuple(assumed):
            fewer = [other for other in assumed if other is not one]
            if decide(state, _with(request, fewer), now).authorized:
                assumed = fewer
    return decision, _said([found for _, found in assumed])


def _with(request: Asking, assumed: Iterable[tuple[Question, Finding]]) -> Asking:
    """The request with these findings in it."""
    pairs = tuple(assumed)
    fields = {"view": tuple(found for question, found in pairs if not question.attempt)}
    if isinstance(request, rq.Dispatch):
        fields["assessed"] = tuple(found for question, found in pairs if question.attempt)
    return msgspec.structs.replace(request, **fields)


def _assumptions(state: State, request: Asking, now: Ns, *, absent: bool) -> list[tuple[Question, Finding]]:
    looked_at = _looked_at(state, request)
    found = []
    for question in about(state, request, now):
        if question.attempt:
            holds = _on_attempt(state.attempts[question.attempt], question, now, absent=absent)
        else:
            holds = _at_present(state, question, now, looked_at=question.name in looked_at)
        if holds is not None:
            found.append((question, _finding(question, now, holds=holds)))
    return found


def _looked_at(state: State, request: Asking) -> set[str]:
    """What no step of the plan is to bring about first: only a sensor has to say it."""
    if isinstance(request, rq.Dispatch):
        needs = state.proposal.nodes[request.node].operation.preconditions
        return {fact_key(pre.requirement.id, pre.condition) for pre in needs}
    return {
        fact_key(requirement.id, goal.condition)
        for goal in state.goal
        if not goal.key or goal.initial or goal.kind is ObligationKind.PRESERVE
        for requirement in goal.requirements
    }


def _at_present(state: State, question: Question, now: Ns, *, looked_at: bool) -> bool | None:
    """What to assume of a present fact; nothing where it is known, or where somebody would have to act."""
    condition = question.requirement.condition
    found = state.facts.get(question.name)
    if found is not None and found.verdict in DECIDED and not state.outdated(found):
        known = state.finding(found.requirement, condition, now) is not None
        aged = found.negative or found.verdict is Verdict.SATISFIED
        return (not found.negative) if aged and not known and not found.integrity else None
    certificates = (state.certificates[c] for c in state.by_fact.get(fact_name(condition.fact), ()))
    return True if looked_at or any(c.condition.implies(condition) for c in certificates) else None


def _on_attempt(attempt: Attempt, question: Question, now: Ns, *, absent: bool) -> bool | None:
    """Whether a negative finding on an attempt has only grown old, or may be hoped for."""
    last = next((f for f in attempt.findings if fact_key(f.requirement, f.condition) == question.name), None)
    return False if absent or (last is not None and last.negative and now > last.valid_until) else None


def _finding(question: Question, now: Ns, *, holds: bool) -> Finding:
    requirement = question.requirement
    return Finding(
        requirement=requirement.id,
        condition=requirement.condition,
        verdict=Verdict.SATISFIED if holds else Verdict.UNSATISFIED,
        horizon=now,
        negative=not holds,
        captured=now,
        valid_until=now + requirement.max_age,
        basis=("assumed",),
    )


def _said(assumed: Iterable[Finding]) -> str:
    """What has to be shown, in words."""
    parts = dict.fromkeys(f"{f.condition} does not hold" if f.negative else str(f.condition) for f in assumed)
    names = list(parts)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return " and ".join(names[:NAMED]) + more
