"""Rules of our own: what the paper leaves to the implementation.

X1  Restart: the generation rises; attempts in flight become doubtful; decisions of an older generation are
    void for dispatch.
X2  Reconcile: the provider's answer by goal id settles the interaction of a doubtful attempt, nothing else:
    terminal -> that end; running -> accepted; never accepted -> not executed; cannot tell -> lost.
X3  Revocation, expiry: an ineligible provider gets no dispatch from now on; its attempts in flight may be
    asked to stop, and stay unresolved until evidence says otherwise.
X4  Drift: a provider whose interface is not the bound one is ineligible (as X3, with that reason).
X5  Mediation: whatever is not listed, or comes outside an active episode, is denied.
X6  In flight: no two unresolved operations on one fact (see ``eligibility``).
X7  Clock: while time is behind the latest decision, no evidence and no deadline is judged.
X8  Halt: no dispatch until a new authorization; attempts in flight are asked to stop and stay unresolved.
X9  Attestation: an operator's word is evidence only where the contract names that role.
X10 Lease: what several authorities share is used by one at a time (see ``x10_lease``).
X12 Approval: where a contract asks for it, a person approves what is sent (see ``x12_approval``).
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import ANSWERED, OPEN, Attempt, Interaction
from adf_ea_ros.authority.reasons import refuse
from adf_ea_ros.authority.requests import (
    Answer,
    Attest,
    Begin,
    Halt,
    Reconcile,
    Restart,
    Resume,
    SetAvailability,
)
from adf_ea_ros.authority.rules.invalidation import absorb
from adf_ea_ros.authority.rules.r3_evidence import promote
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Finding, Requirement, Verdict


def begin(work: Work, request: Begin) -> Outcome:
    """X5: only a task that the operator loaded, for a planner that it names, becomes an episode."""
    start = request.start
    if work.state.phase:
        return denied(refuse("X5.task", f"episode {work.state.episode} has already started"))
    refusals = [refuse("X5.task", f"{code}: {text}") for code, text in request.faults]
    if request.planners and start.planner not in request.planners:
        refusals.append(refuse("X5.planner", f"{start.planner!r} may not run {start.task}"))
    if refusals:
        return denied(*refusals)
    work.emit(start)
    return granted("X5", f"episode {start.episode} of {start.task} with {len(start.obligations)} obligations")


def restart(work: Work, request: Restart) -> Outcome:
    """X1: take over after a crash or a planned restart."""
    if request.generation <= work.state.generation:
        return denied(
            refuse(
                "X1.stale_generation", f"generation {request.generation} is not after {work.state.generation}"
            )
        )
    work.emit(ev.Restarted(request.generation, work.now))
    doubtful = sum(attempt.doubtful for attempt in in_flight(work))
    return granted("X1", f"generation {request.generation}; {doubtful} attempts in doubt", "X1.restarted")


def reconcile(work: Work, request: Reconcile) -> Outcome:
    """X2: settle the interaction of a doubtful attempt by what its provider knows of it."""
    attempt = work.state.attempts.get(request.attempt)
    if attempt is None:
        return denied(refuse("X5.unknown_attempt", f"there is no attempt {request.attempt!r}"))
    if attempt.interaction not in OPEN:
        return denied(refuse("X2.not_doubtful", f"attempt {attempt.id} is {attempt.interaction.value}"))
    found = {
        Answer.TERMINAL: request.interaction if request.interaction in ANSWERED else Interaction.LOST,
        Answer.RUNNING: Interaction.ACCEPTED,
        Answer.NEVER_ACCEPTED: Interaction.NEVER_ACCEPTED,
        Answer.CANNOT_TELL: Interaction.LOST,
    }[request.answer]
    if found is Interaction.NEVER_ACCEPTED and attempt.accepted:
        # It was accepted once: a server that denies that has forgotten, which proves nothing.
        found = Interaction.LOST
    work.emit(ev.Reported(attempt.id, found, work.now, request.detail))
    code = "X2.cannot_tell" if found is Interaction.LOST else "X2.reconciled"
    return granted(
        "X2",
        f"{attempt.provider} says of {attempt.id}: {request.answer.value}; the effect needs evidence",
        code,
    )


def set_availability(work: Work, request: SetAvailability) -> Outcome:
    """X3, X4: change a provider's eligibility."""
    work.emit(ev.AvailabilityChanged(request.provider, request.reason, work.now))
    if not request.reason:
        return granted("X3", f"{request.provider} is eligible")
    if request.cancel:
        for attempt in in_flight(work):
            if attempt.provider == request.provider and not attempt.cancel_requested:
                work.emit(ev.CancelRequested(attempt.id, request.reason))
    return granted("X3", f"{request.provider} is not eligible: {request.reason}")


def halt(work: Work, request: Halt) -> Outcome:
    """X8: refuse dispatches and ask everything in flight to stop."""
    work.emit(ev.Halted(request.by, request.reason))
    for attempt in in_flight(work):
        if not attempt.cancel_requested:
            work.emit(ev.CancelRequested(attempt.id, f"halt: {request.reason}"))
    return granted("X8", f"halted by {request.by}: {request.reason}")


def resume(work: Work, request: Resume) -> Outcome:
    """X8: lift a halt; every dispatch still needs its own authorization."""
    work.emit(ev.Resumed(request.by))
    return granted("X8", f"resumed by {request.by}")


def attest(work: Work, request: Attest) -> Outcome:
    """X9: take an operator's word where the contract names it as evidence."""
    requirement = _attestable(work, request)
    if requirement is None:
        return denied(refuse("X9.not_attestable"))
    found = Finding(
        requirement=requirement.id,
        condition=request.condition,
        verdict=Verdict.SATISFIED if request.holds else Verdict.UNSATISFIED,
        negative=not request.holds,
        horizon=work.now,
        captured=work.now,
        valid_until=work.now + requirement.max_age,
        basis=(f"operator:{request.by}",),
        reasons=(request.reason,),
    )
    if request.attempt and request.attempt in work.state.execution:
        promote(work, work.state.attempts[request.attempt], (found,))
    else:
        absorb(work, (found,))
    return granted(
        "X9",
        f"{request.by} attests that {request.condition} is {str(request.holds).lower()}: {request.reason}",
    )


def _attestable(work: Work, request: Attest) -> Requirement | None:
    attempt = work.state.attempts.get(request.attempt)
    operation = work.operation_of(attempt.key) if attempt is not None else None
    requirements = [r for e in operation.effects for r in e.requirements] if operation is not None else []
    requirements += [r for goal in work.state.goal for r in goal.requirements]
    return next(
        (r for r in requirements if r.role is Role.OPERATOR and r.condition == request.condition), None
    )


def in_flight(work: Work) -> list[Attempt]:
    """Attempts whose interaction has not ended: unresolved, or certified while the answer is outstanding."""
    names = (*work.state.execution, *work.state.lingering)
    return [work.state.attempts[n] for n in names if work.state.attempts[n].interaction in OPEN]
