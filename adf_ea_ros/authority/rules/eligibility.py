"""Adm(o, S): what every dispatch needs, whatever its mode (section 3.4).

Adm(o, S) iff  bound(o, p) and eligible(p, t)
  and for all n that o's node needs: verified(k(n), t)           (ordinary successors, rule 6)
  and for all obligations g before the one that o produces: Covered(g, P)
  and for all p in Pre(o): KnownNow(p) and not NegNow(p)
  and no other operation in flight, of any episode, may change a fact in E(o) or undo one in Pre(o)   (X6)
  and no other authority holds what o and p share with it                                            (X10)
  and a person has approved just this, where a contract asks for it                                  (X12)
  and b_p >= 1
"""

from __future__ import annotations

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import Binding, Node, Operation, Precondition
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.rules.coverage import covered
from adf_ea_ros.authority.rules.x10_lease import held
from adf_ea_ros.authority.rules.x11_standing import spent
from adf_ea_ros.authority.rules.x12_approval import unapproved
from adf_ea_ros.contracts.conditions import Condition
from adf_ea_ros.evidence.types import Verdict

Elsewhere = tuple[tuple[str, str, str], ...]
"""(subject, path, attempt): facts that open attempts of other episodes may change."""


def admissible(work: Work, node: Node, provider: str, elsewhere: Elsewhere = ()) -> list[Refusal]:
    """Every reason against dispatching ``node`` to ``provider`` now; empty where it is admissible."""
    refusals: list[Refusal] = []
    binding = node.operation.binding(provider)
    if binding is None:
        known = ", ".join(b.provider for b in node.operation.bindings) or "none"
        refusals.append(
            refuse("R2.not_bound", f"step {node.id!r} has no binding to {provider!r} (it has: {known})")
        )
    else:
        refusals += filter(None, [eligible(work, binding)])
    refusals += _dependencies(work, node)
    for pre in node.operation.preconditions:
        refusals += filter(None, [_precondition(work, pre)])
    refusals += _in_flight(work, node.operation)
    if elsewhere:
        concerned = node.operation.facts | {pre.condition.fact for pre in node.operation.preconditions}
        refusals += [
            refuse("X6.fact_in_flight", f"attempt {attempt} may still change {subject}.{path}")
            for subject, path, attempt in elsewhere
            if (subject, path) in concerned
        ]
    refusals += held(work.leases, node.operation, provider)
    refusals += unapproved(work.state, node, provider, work.now, work.replaced)
    if work.state.physical < 1:
        refusals.append(refuse("R2.budget"))
    return refusals


def eligible(work: Work, binding: Binding) -> Refusal | None:
    """Whether a binding may be used now: available, not revoked, not drifted, not expired (X3, X4)."""
    reason = work.state.unavailable.get(binding.provider)
    if reason is not None:
        return refuse("R2.provider_unavailable", f"{binding.provider} is not eligible: {reason}")
    if 0 <= binding.expires <= work.now:
        return refuse("R2.contract_expired", f"the contract {binding.contract} has expired")
    return None


def _dependencies(work: Work, node: Node) -> list[Refusal]:
    state = work.state
    refusals = []
    for name in state.proposal.needs.get(node.id, ()):
        other = state.proposal.nodes[name]
        if name in node.after and not state.verified(other.operation.key, work.now):
            refusals.append(refuse("R2.dependency", f"step {name!r} is not verified by live evidence"))
    for goal in state.goals_by_key.get(node.operation.key, ()):
        refusals += [
            refuse("R2.obligation_order", f"obligation {name!r} comes before {goal.id!r} and is not covered")
            for name in goal.after
            if not covered(work, state.goal_by_id[name])
        ]
    return refusals


def _precondition(work: Work, pre: Precondition) -> Refusal | None:
    found = work.finding(pre.requirement.id, pre.condition)
    if found is None or found.verdict is not Verdict.SATISFIED:
        if found is not None and found.negative:
            return refuse("R2.precondition_false", f"{pre.condition} is false now")
        why = ", ".join(found.reasons) if found is not None and found.reasons else "no current evidence"
        return refuse(
            "R2.precondition_unknown", f"{pre.condition} is not decided by current evidence ({why})"
        )
    return None


def _in_flight(work: Work, operation: Operation) -> list[Refusal]:
    state = work.state
    refusals = []
    for key in _open_keys(work):
        other = state.keys[key].operation
        if key == operation.key or other is None:
            continue
        for effect in other.effects:
            if effect.condition.fact in operation.facts or _would_undo(effect.condition, operation):
                fact = ".".join(effect.condition.fact)
                refusals.append(refuse("X6.fact_in_flight", f"{other.capability} may still change {fact}"))
    return refusals


def _open_keys(work: Work) -> list[str]:
    """Keys of attempts that are unresolved, or whose interaction could still change something, in order."""
    state = work.state
    unresolved = {
        owed.key for name, owed in state.execution.items() if not spent(state, state.attempts[name], work.now)
    }
    lingering = {k for a, k in state.lingering.items() if state.attempts[a].could_take_effect(work.now)}
    return sorted(unresolved | lingering)


def _would_undo(effect: Condition, operation: Operation) -> bool:
    return any(
        effect.fact == pre.condition.fact and not effect.implies(pre.condition)
        for pre in operation.preconditions
    )
