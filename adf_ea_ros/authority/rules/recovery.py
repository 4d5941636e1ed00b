"""Rules 2, 5, 6, 7 and 8: what a request to run a step means, given history and current evidence.

    pending(k)                      -> R4 if evidence now establishes the effect, else R6 or a refusal (R5)
    not pending(k), established(k)  -> R7 or R8
    never attempted                 -> R8 if trusted initial evidence establishes it, else R2

Execution uncertainty comes first: a pending outcome cannot become a repair by another name.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import Attempt, EffectKind, Mode, Node
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.requests import Dispatch
from adf_ea_ros.authority.rules import r6_retry, r7_repair
from adf_ea_ros.authority.rules.eligibility import admissible
from adf_ea_ros.authority.rules.invalidation import absorb, certify, revoke
from adf_ea_ros.authority.rules.r3_evidence import promote, proof
from adf_ea_ros.authority.rules.x10_lease import needed
from adf_ea_ros.authority.rules.x12_approval import terms
from adf_ea_ros.authority.state import fact_name


def dispatch(work: Work, request: Dispatch) -> Outcome:
    """Decide what running ``request.node`` now would be, and authorize that or refuse it."""
    state = work.state
    if request.generation and request.generation != state.generation:
        return denied(
            refuse(
                "X1.stale_generation", f"generation {request.generation} is over; it is {state.generation}"
            )
        )
    if state.halted:
        return denied(refuse("X8.halted", f"halted by {state.halted}"))
    node = state.proposal.nodes.get(request.node)
    if node is None:
        return denied(refuse("R2.unknown_node", f"the admitted proposal has no step {request.node!r}"))
    work.leases, work.replaced = request.leases, request.replaced
    absorb(work, request.view)
    key = node.operation.key
    pending = work.state.pending(key)
    if pending is not None:
        attempt = work.state.attempts[pending.attempt]
        if not promote(work, attempt, request.assessed):
            return _authorize(work, node, request, Mode.RETRY, r6_retry.check(work, node, request.provider))
    record = work.state.keys.get(key)
    if record is not None and record.established and record.attempts:
        return _authorize(work, node, request, Mode.REPAIR, r7_repair.check(work, node, request.provider))
    if _initially_true(work, node):
        return denied(refuse("R8.initially_true"))
    return _authorize(work, node, request, Mode.FIRST, [])


def _authorize(work: Work, node: Node, request: Dispatch, mode: Mode, refusals: list[Refusal]) -> Outcome:
    """Send it, where neither the rule of its mode refuses it nor ``Adm(o, S)``, which every mode needs."""
    refusals = refusals or admissible(work, node, request.provider, request.elsewhere)
    if refusals:
        return denied(*refusals)
    before = work.state.keys.get(node.operation.key)
    attempt = send(work, node, request, mode)
    rule, sentence = _GRANTS[mode]
    words = {
        "capability": node.operation.capability,
        "provider": attempt.provider,
        "before": before.latest if before is not None else "",
    }
    return granted(rule, sentence.format(**words), attempt=attempt)


_GRANTS = {
    Mode.FIRST: ("R2", "first dispatch of {capability} to {provider}"),
    Mode.RETRY: ("R6", "{before} is shown to have had no effect; retry on {provider}"),
    Mode.REPAIR: ("R7", "{capability} restores a state that was lost and is needed"),
}


def send(work: Work, node: Node, request: Dispatch, mode: Mode) -> Attempt:
    """Write the attempt: the only place where a physical request comes into being."""
    operation, state = node.operation, work.state
    binding = operation.binding(request.provider)
    assert binding is not None, "admissible() holds that the binding exists"
    attempt = Attempt(
        id=f"{state.episode}.{len(state.attempts) + 1}",
        key=operation.key,
        node=node.id,
        provider=request.provider,
        mode=mode,
        generation=state.generation,
        dispatched=work.now,
        deadline=work.now + binding.deadline,
        promises=binding.promises,
        baseline=request.baseline,
        leases=needed(operation, request.provider),
        approval=state.approvals[node.id].id if terms(state, node) else "",
    )
    work.emit(ev.Dispatched(attempt))
    # What this attempt may overwrite needs new evidence; keeping it live would prove a past state.
    for effect in operation.effects:
        for name in work.state.by_fact.get(fact_name(effect.condition.fact), ()):
            certificate = work.state.certificates[name]
            if certificate.key == operation.key or not effect.condition.implies(certificate.condition):
                revoke(work, certificate, f"{attempt.id} may change it")
    return attempt


def _initially_true(work: Work, node: Node) -> bool:
    """Certify the effects of a never attempted step whose truth the task trusts from initial evidence."""
    operation = node.operation
    mine = work.state.goals_by_key.get(operation.key, ())
    trusted = {goal.condition for goal in mine if goal.initial}
    proofs = []
    for effect in operation.effects:
        if effect.condition not in trusted or effect.kind is not EffectKind.STATE:
            return False
        known = (work.finding(requirement.id, effect.condition) for requirement in effect.requirements)
        found = proof(effect, tuple(f for f in known if f is not None), work)
        if found is None:
            return False
        proofs.append((effect, found))
    for effect, found in proofs:
        certify(work, operation.key, effect, "", found, operation.fingerprint)
    return True
