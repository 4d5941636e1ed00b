"""Rules 7 and 8: repair of an established state that was lost, and the refusal of everything else.

    RepairNeeded(o, a, S) iff  Established(o, L) and not Pending(k(o), U_exec)
                          and  Link(o, a) is nonempty
                          and  for all p in Link(o, a): KnownNow(p)
                          and  for some p in Link(o, a): NegNow(p)
    Repair(o, S) iff  RepairNeeded(o, a, S) for some next action a
                 and  the policy permits repair of a lost state, and where the provider differs rebind (as R6)
                 and  E(o) holds no event, and no attempt of k(o) could still take effect
                 and  Adm(o, S)
    Refused as redundant (R8) iff the linked effects still hold, or nothing that comes next needs them.

A next action is an admitted step that is not yet dispatched, one whose own retry or repair is due, or the
completion claim itself, whose preconditions are the task's state obligations.
"""

from __future__ import annotations

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import Cause, Disposition, EffectKind, Node, ObligationKind
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.rules.r6_retry import rebind, replay_safe
from adf_ea_ros.authority.rules.x11_standing import wanted
from adf_ea_ros.contracts.conditions import Condition
from adf_ea_ros.evidence.types import Finding, Verdict

Link = tuple[str, Condition]  # requirement under which the condition is judged, and the condition


def check(work: Work, node: Node, provider: str) -> list[Refusal]:
    """Every reason against repeating an established operation; empty where the repair rule itself holds."""
    operation = node.operation
    record = work.state.keys[operation.key]
    if all(effect.kind is EffectKind.EVENT for effect in operation.effects):
        return [refuse("R8.event_done")]
    links = next_links(work, operation.key, frozenset())
    links = list(dict.fromkeys([*links, *wanted(work.state, node)]))
    known = [work.finding(*link) for link in links]
    if not links:
        return [_unneeded(work, node)]
    if any(_undecided(found) for found in known):
        return [refuse("R7.unknown_now", f"observe {_named(links, known)} first")]
    if not any(found is not None and found.negative for found in known):
        return [refuse("R8.redundant", f"{_named(links, None)} still holds")]
    refusals = []
    if any(effect.kind is EffectKind.EVENT for effect in operation.effects):
        refusals.append(refuse("R7.event_effect"))
    before = record.operation or operation
    policies = (before.policy, operation.policy)  # an alias is no way around a stricter contract
    if not all(policy.allows(Cause.STATE_LOST, Disposition.REPAIR) for policy in policies):
        refusals.append(refuse("R7.not_permitted"))
    last = work.state.attempts.get(record.latest)
    if last is not None and last.could_take_effect(work.now):
        refusals.append(refuse("R7.could_take_effect", f"attempt {last.id} could still take effect"))
    previous = work.state.executor(operation.key)
    if previous and provider != previous:
        code = "R7.rebind_not_permitted"
        refusals += filter(None, [rebind(work, before, policies, previous, provider, Cause.STATE_LOST, code)])
    return refusals


def next_links(work: Work, key: str, seen: frozenset[str]) -> list[Link]:
    """Link(o, a) over all next actions a: what they need and the key's effects provide."""
    state = work.state
    found: list[Link] = []
    for name, pre_id in state.proposal.links.get(key, ()):
        node = state.proposal.nodes[name]
        if _is_next(work, node, seen | {key}):
            pre = next(p for p in node.operation.preconditions if p.id == pre_id)
            found.append((pre.requirement.id, pre.condition))
    if not _steps_ahead(work):
        found += [
            (requirement.id, goal.condition)
            for goal in state.goals_by_key.get(key, ())
            if goal.kind is ObligationKind.STATE
            for requirement in goal.requirements
        ]
    return list(dict.fromkeys(found))


def _is_next(work: Work, node: Node, seen: frozenset[str]) -> bool:
    """Whether a step could be dispatched next, were it not for lost states."""
    key, state = node.operation.key, work.state
    if key in seen:
        return False
    pending = state.pending(key)
    if pending is not None:
        attempt = state.attempts[pending.attempt]
        return replay_safe(work, attempt, node.operation, node.operation.policy.replay) is None
    if state.established(key):
        return any(_is_lost(work.finding(*link)) for link in next_links(work, key, seen))
    return all(
        state.established(state.proposal.nodes[n].operation.key)
        for n in state.proposal.needs.get(node.id, ())
    )


def _steps_ahead(work: Work) -> bool:
    """Whether an admitted step is still to be dispatched or settled: then the claim is not next."""
    state = work.state
    if state.execution:
        return True
    return any(not state.established(node.operation.key) for node in state.proposal.nodes.values())


def _unneeded(work: Work, node: Node) -> Refusal:
    lost = any(
        _is_lost(work.finding(requirement.id, effect.condition))
        for effect in node.operation.effects
        for requirement in effect.requirements
    )
    return refuse("R8.not_needed" if lost else "R8.redundant")


def _is_lost(found: Finding | None) -> bool:
    return found is not None and found.negative


def _undecided(found: Finding | None) -> bool:
    return found is None or not (found.negative or found.verdict is Verdict.SATISFIED)


def _named(links: list[Link], known: list[Finding | None] | None) -> str:
    pairs = zip(links, known or [None] * len(links), strict=True)
    return " and ".join(str(link[1]) for link, found in pairs if known is None or _undecided(found))
