"""Rule 5: observation, the answer to uncertainty.

Observe(o, S) iff  something about o is unresolved: Pending(k(o)), or an established state not known now
              and  the policy permits observation for the interruption at hand
              and  b_v >= 1, and the contract's own limit is not reached

Effect: b_v decreases. The obligation stays until qualification supports its resolution.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import Attempt, Cause, Disposition, Interaction, Node
from adf_ea_ros.authority.reasons import refuse
from adf_ea_ros.authority.requests import Observe
from adf_ea_ros.authority.rules.invalidation import absorb
from adf_ea_ros.authority.rules.r3_evidence import promote
from adf_ea_ros.evidence.types import Verdict


def observe(work: Work, request: Observe) -> Outcome:
    """Spend an observation on a step whose outcome or current state is not known."""
    node = work.state.proposal.nodes.get(request.node)
    if node is None:
        return denied(refuse("R2.unknown_node", f"the admitted proposal has no step {request.node!r}"))
    absorb(work, request.view)
    pending = work.state.pending(node.operation.key)
    attempt = work.state.attempts[pending.attempt] if pending is not None else None
    if attempt is not None and promote(work, attempt, request.assessed):
        return granted("R4", f"evidence at hand already settles attempt {attempt.id}", "R4.promoted")
    cause = _cause(work, node, attempt)
    if cause is None:
        return denied(refuse("R5.nothing_to_observe"))
    policy = node.operation.policy
    if not policy.allows(cause, Disposition.OBSERVE):
        return denied(refuse("R5.not_permitted", f"the contract permits no observation for {cause.value}"))
    if work.state.observation < 1:
        return denied(refuse("R5.budget"))
    if attempt is not None and 0 <= policy.observations <= attempt.observed:
        return denied(refuse("R5.limit"))
    work.emit(ev.ObservationSpent(attempt.id if attempt is not None else ""))
    what = f"attempt {attempt.id}" if attempt is not None else f"step {node.id!r}"
    return granted("R5", f"observation of {what} because of {cause.value}; {work.state.observation} left")


def _cause(work: Work, node: Node, attempt: Attempt | None) -> Cause | None:
    """The interruption that makes an observation useful; none where everything is known."""
    if attempt is None:
        for effect in node.operation.effects:
            for requirement in effect.requirements:
                found = work.finding(requirement.id, effect.condition)
                if found is None or not (found.negative or found.verdict is Verdict.SATISFIED):
                    return Cause.EVIDENCE_INSUFFICIENT if work.state.established(node.operation.key) else None
        return None
    attempt = work.state.attempts[attempt.id]
    if any(found.verdict is Verdict.UNKNOWN for found in attempt.findings):
        return Cause.EVIDENCE_CONFLICTING
    if attempt.interaction is Interaction.LOST or attempt.doubtful:
        return Cause.OUTCOME_UNKNOWN
    return Cause.EVIDENCE_INSUFFICIENT
