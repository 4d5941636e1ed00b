"""Approval: where a contract asks for it, a person answers for one dispatch, just as it is sent.

X12 Approval: let Terms(o, S) be what the contract of o asks of an approval, and what the contract asked
    under which k(o) was dispatched last: an alias is no way around a stricter contract.
    An approval q of step n binds: n, k(o) and so the occurrence, the contract's fingerprint, the arguments,
    the number of the attempt it is for, each provider that was eligible, with its contract's fingerprint and
    how often it had been revoked, and how often the episode had been halted.
    A dispatch of n to p needs, beside all else in Adm(o, S), where Terms(o, S) is not empty:
                       the latest q of n is neither withdrawn, nor used up, nor over (t <= valid_until)
                  and  o, its contract, its arguments and the number of the attempt are what q binds
                  and  the contracts of o and p are the loaded ones: others would make something else of it
                  and  p was eligible without interruption since q, and no halt came after q
                  and  who gave q has not planned n since
    Effect of that dispatch: q is used up, in the decision, and so the transaction, that makes the attempt.
    Revoked and granted again is not eligible without interruption. A restart of the authority ends no
    approval, and neither does a new proposal that holds the same step.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from adf_ea_ros.authority.model import Approval, ApprovalTerms, Binding, Node
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import person


def terms(state: State, node: Node) -> tuple[ApprovalTerms, ...]:
    """Terms(o, S): empty where nobody has to approve."""
    record = state.keys.get(node.operation.key)
    before = record.operation if record is not None else None
    own, earlier = node.operation.approval, before.approval if before is not None else None
    if own is None:
        return (earlier,) if earlier is not None else ()
    return (own,) if earlier is None or earlier == own else (own, earlier)


def binding_of(state: State, node: Node, open_to: Iterable[Binding], now: Ns) -> Approval:
    """What an approval of the step is for: all that a dispatch would be now. Nobody has given it yet."""
    operation = node.operation
    return Approval(
        id=f"{state.episode}/a{state.approved + 1}",
        step=node.id,
        key=operation.key,
        number=number(state, node),
        fingerprint=operation.fingerprint,
        arguments=operation.arguments,
        providers=tuple((b.provider, b.fingerprint, state.revocations.get(b.provider, 0)) for b in open_to),
        halts=state.halts,
        by="",
        reason="",
        granted=now,
        valid_until=now + min((one.max_age for one in terms(state, node)), default=0),
    )


def approvers(asked: Iterable[ApprovalTerms]) -> str:
    """Who may approve, in words."""
    return " or ".join(dict.fromkeys(name for one in asked for name in one.by)) or "a person"


def number(state: State, node: Node) -> int:
    """Which attempt of its key a dispatch of the step would be."""
    record = state.keys.get(node.operation.key)
    return (record.attempts if record is not None else 0) + 1


def unapproved(
    state: State, node: Node, provider: str, now: Ns, replaced: tuple[str, ...] = ()
) -> list[Refusal]:
    """Every reason for which a dispatch of the step to the provider lacks a person's approval now."""
    asked = terms(state, node)
    if not asked:
        return []
    given = state.approvals.get(node.id)
    if given is None:
        return [refuse("X12.missing", f"step {node.id!r} has to be approved by {approvers(asked)} first")]
    return over(given, now) or [
        *planned(state, given.by),
        *_changed(state, node, given),
        *outdated(node, provider, replaced),
        *_interrupted(state, node, given, provider),
    ]


def awaited(state: State, node: Node, now: Ns) -> State:
    """The state as it would be with an approval of the step, by somebody who may give it."""
    given = binding_of(state, node, node.operation.bindings, now)
    return replace(state, approvals=state.approvals.set(node.id, given))


def void(state: State, given: Approval, now: Ns) -> list[Refusal]:
    """Why an approval lets nothing through any more, whichever provider is asked for; empty while it does."""
    node = state.proposal.nodes.get(given.step)
    if state.phase != "active":
        return over(given, now) or [refuse("X5.not_active", f"the episode is {state.phase}")]
    if node is None:
        gone = refuse("X12.changed", f"the proposal does not hold step {given.step!r} any more")
        return over(given, now) or [gone]
    each = [unapproved(state, node, provider, now) for provider, _, _ in given.providers]
    return min(each, key=len, default=[])


def over(given: Approval, now: Ns) -> list[Refusal]:
    """Whether an approval is over by itself, whatever would be sent."""
    if given.attempt:
        return [
            refuse("X12.spent", f"{given.attempt} has used {given.id}: each attempt needs one of its own")
        ]
    if given.withdrawn:
        return [refuse("X12.withdrawn", f"{given.id} was withdrawn by {given.withdrawn}")]
    if now > given.valid_until:
        return [refuse("X12.expired", f"{given.id} by {given.by} has expired")]
    return []


def planned(state: State, by: str) -> list[Refusal]:
    """Separation of duties: whoever wanted a step does not approve it."""
    if person(by) in {person(state.planner), person(state.proposal.author)} - {""}:
        return [refuse("X12.own_step", f"{by} planned this step, and so may not approve it")]
    return []


def contract_names(node: Node) -> dict[str, str]:
    """The contracts of a step, as ``capability/ID`` and ``provider/ID``, with the fingerprints it knows."""
    bound = {f"provider/{binding.provider}": binding.fingerprint for binding in node.operation.bindings}
    return {f"capability/{node.operation.capability}": node.operation.fingerprint, **bound}


def outdated(node: Node, provider: str, replaced: tuple[str, ...]) -> list[Refusal]:
    """Where the step was admitted under another contract than the one that would make a request of it now."""
    mine = (f"capability/{node.operation.capability}", f"provider/{provider}")
    others = [name for name in mine if name in replaced]
    if not others:
        return []
    text = f"step {node.id!r} was admitted under another contract of {' and '.join(others)}: propose it again"
    return [refuse("X12.changed", text)]


def _changed(state: State, node: Node, given: Approval) -> list[Refusal]:
    """What would be sent now, against what was approved."""
    operation = node.operation
    pairs = {
        "its effect or occurrence": (given.key, operation.key),
        "its contract": (given.fingerprint, operation.fingerprint),
        "its arguments": (given.arguments, operation.arguments),
    }
    other = [what for what, (then, now) in pairs.items() if then != now]
    if other:
        text = f"step {node.id!r} is not what {given.id} is for: {' and '.join(other)}"
        return [refuse("X12.changed", text)]
    due = number(state, node)
    if given.number != due:
        return [refuse("X12.attempt", f"{given.id} is for attempt {given.number}, and this would be {due}")]
    return []


def _interrupted(state: State, node: Node, given: Approval, provider: str) -> list[Refusal]:
    refusals = []
    if given.halts != state.halts:
        refusals.append(refuse("X12.halted", f"a halt came after {given.id}"))
    binding = node.operation.binding(provider)
    now = (provider, binding.fingerprint if binding is not None else "", state.revocations.get(provider, 0))
    if now not in given.providers:
        text = f"{provider} was not eligible without interruption since {given.id}"
        refusals.append(refuse("X12.provider", text))
    return refusals
