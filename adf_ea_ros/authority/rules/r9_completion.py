"""Rule 9, second half: completion, stopping, hand-off.

Complete(S) iff  for all g in G: Covered(g, P)
            and  U_exec = {} and U_state = {}
            and  no interaction that is still open could undo the result        (TerminalPolicyOK)
            and  the task is not a standing one

Stopping grants no completion; what is unresolved stays on record.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import OPEN, Attempt, ObligationKind
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.requests import Claim, Stop
from adf_ea_ros.authority.rules.coverage import certificate_of, covered
from adf_ea_ros.authority.rules.invalidation import absorb


def claim(work: Work, request: Claim) -> Outcome:
    """Grant or refuse a completion claim."""
    absorb(work, request.view)
    refusals = check(work)
    if refusals:
        return denied(*refusals)
    certificates = [certificate_of(work, goal) for goal in work.state.goal]
    names = tuple(dict.fromkeys(c.id for c in certificates if c is not None))
    work.emit(ev.Completed(work.now, names))
    return granted(
        "R9", f"all {len(work.state.goal)} obligations are covered by live evidence; the task is complete"
    )


def check(work: Work) -> list[Refusal]:
    """Every reason against completion."""
    state = work.state
    refusals = [refuse("R9.standing")] if state.standing else []
    for goal in state.goal:
        if goal.kind is ObligationKind.PRESERVE and goal.id in state.broken:
            refusals.append(
                refuse("R9.preservation_broken", f"{goal.id!r} was broken: {goal.condition} did not hold")
            )
        elif not covered(work, goal):
            refusals.append(refuse("R9.uncovered", f"{goal.id!r} is not covered: {goal.condition}"))
    refusals += [
        refuse("R9.unresolved", f"the outcome of attempt {owed.attempt} is unresolved")
        for owed in state.execution.values()
    ]
    refusals += [
        refuse("R9.state_owed", f"{owed.condition} was lost and is needed") for owed in state.owed.values()
    ]
    refusals += [
        refuse("R9.in_flight", f"attempt {name} is still open at its provider")
        for name in state.lingering
        if _could_undo(work, state.attempts[name])
    ]
    return refusals


def _could_undo(work: Work, attempt: Attempt) -> bool:
    """Whether a certified attempt may still change the result.

    While its interaction is open it may do anything. Once it has answered, without a promise that this was
    the end, what may still come is its own effect: that harms where it is not what the task wants.
    """
    if not attempt.could_take_effect(work.now):
        return False
    operation = work.operation_of(attempt.key)
    if attempt.interaction in OPEN or operation is None:
        return True
    return any(
        effect.condition.fact == goal.condition.fact and not effect.condition.implies(goal.condition)
        for effect in operation.effects
        for goal in work.state.goal
        if goal.kind is not ObligationKind.EVENT
    )


def stop(work: Work, request: Stop) -> Outcome:
    """End the episode without a claim."""
    work.emit(ev.Stopped(work.now, request.by, request.reason, request.hand_to))
    where = f", handed to {request.hand_to}" if request.hand_to else ""
    return granted("R9", f"stopped by {request.by}: {request.reason}{where}; no completion is claimed")
