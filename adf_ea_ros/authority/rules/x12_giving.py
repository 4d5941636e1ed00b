"""Who may approve what, and take it back.

Approve(n, S) iff  the episode is not halted, n is a step of D, and Terms(o, S) is not empty
              and  who approves is named, by each of the Terms too where they name anybody, and planned
                   nothing: is neither the planner of the episode nor the author of D
              and  the latest attempt of k(o) has ended, or its answer is lost
              and  some binding of o is eligible, and its contract and that of o are the loaded ones
Effect: an approval (X12) of the next attempt of k(o) by the providers that are eligible, in place of an
    earlier one of n. It lasts as long as was asked for, and no longer than the Terms allow.

Withdraw(n, S) iff  who withdraws is named, and n has an approval that is neither used up nor withdrawn
Effect: that approval lets nothing through any more. Anybody may: it only makes less possible.
"""

from __future__ import annotations

from msgspec.structs import replace

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import OPEN, ApprovalTerms, Interaction, Node
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.requests import Approve, Withdraw
from adf_ea_ros.authority.rules.eligibility import eligible
from adf_ea_ros.authority.rules.x12_approval import binding_of, outdated, over, planned, terms
from adf_ea_ros.authority.state import State

_UNDER_WAY = OPEN - {Interaction.LOST}


def approve(work: Work, request: Approve) -> Outcome:
    """X12: give an approval for the next attempt of a step."""
    state = work.state
    if state.halted:
        return denied(refuse("X8.halted", f"halted by {state.halted}"))
    node = state.proposal.nodes.get(request.node)
    if node is None:
        return denied(refuse("R2.unknown_node", f"the admitted proposal has no step {request.node!r}"))
    asked = terms(state, node)
    if not asked:
        return denied(refuse("X12.not_needed", f"{node.operation.capability} asks for no approval"))
    usable = [binding for binding in node.operation.bindings if eligible(work, binding) is None]
    current = [b for b in usable if not outdated(node, b.provider, request.replaced)]
    refusals = _may_give(state, asked, request.by) + _ahead(state, node)
    if not current:
        refusals += list(filter(None, (eligible(work, b) for b in node.operation.bindings)))
        refusals += [fault for b in usable for fault in outdated(node, b.provider, request.replaced)]
        refusals += [] if node.operation.bindings else [refuse("R1.no_provider")]
    if refusals:
        return denied(*refusals)
    given = binding_of(state, node, current, work.now)
    until = min(work.now + request.valid_for, given.valid_until) if request.valid_for else given.valid_until
    work.emit(ev.Approved(replace(given, by=request.by, reason=request.reason, valid_until=until)))
    names = " or ".join(binding.provider for binding in current)
    why = f": {request.reason}" if request.reason else ""
    what = f"attempt {given.number} of {node.operation.capability} {node.operation.arguments} on {names}"
    return granted("X12", f"{request.by} approves {what}{why}")


def withdraw(work: Work, request: Withdraw) -> Outcome:
    """X12: take an approval back that no dispatch has used."""
    given = work.state.approvals.get(request.node)
    if not request.by.strip():
        return denied(refuse("X12.unnamed"))
    if given is None:
        return denied(refuse("X12.missing", f"step {request.node!r} has no approval"))
    if given.attempt or given.withdrawn:
        return denied(*over(given, work.now))
    work.emit(ev.ApprovalWithdrawn(given.id, given.step, request.by, request.reason, work.now))
    why = f": {request.reason}" if request.reason else ""
    return granted("X12", f"{request.by} takes {given.id} of step {given.step} back{why}")


def _may_give(state: State, asked: tuple[ApprovalTerms, ...], by: str) -> list[Refusal]:
    if not by.strip():
        return [refuse("X12.unnamed")]
    refusals = [
        refuse("X12.approver", f"{by} is none of {', '.join(one.by)}, who may approve")
        for one in asked
        if one.by and by not in one.by
    ]
    return refusals + planned(state, by)


def _ahead(state: State, node: Node) -> list[Refusal]:
    """While an attempt runs, nobody knows what comes next: an approval sent twice would be for a retry."""
    record = state.keys.get(node.operation.key)
    last = state.attempts.get(record.latest) if record is not None else None
    if last is not None and last.interaction in _UNDER_WAY:
        return [refuse("X12.under_way", f"{last.id} is under way ({last.interaction.value.lower()})")]
    return []
