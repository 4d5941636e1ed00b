"""What must be known before a request can be decided: the requirements to qualify, and in which context.

The runtime asks these of the evidence at hand and puts the findings into the request. The core stays pure,
and a decision rests on nothing older than itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import ANSWERED, Attempt, Binding, EffectKind, Node, Operation
from adf_ea_ros.authority.state import State, fact_key, fact_name
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Context, Requirement


class Question(msgspec.Struct, frozen=True):
    """A requirement to be qualified, about an attempt or about the present."""

    requirement: Requirement
    context: Context
    attempt: str = ""  # empty: a current fact
    later: Context | None = None  # where the first context does not satisfy: what decides instead

    @property
    def name(self) -> str:
        """Under which the answer is kept."""
        return fact_key(self.requirement.id, self.requirement.condition)


def about(state: State, request: rq.AnyRequest, now: Ns) -> tuple[Question, ...]:
    """The questions of a request. Linear in what the request concerns, never in the episode's history."""
    found: list[Question] = []
    if isinstance(request, rq.Dispatch | rq.Observe):
        node = state.proposal.nodes.get(request.node)
        if node is not None:
            found += _of_node(state, node)
            found += _of_pending(state, node.operation.key, now)
    elif isinstance(request, rq.Revise):
        found += [_present(state, p.requirement) for n in request.nodes for p in n.operation.preconditions]
    elif isinstance(request, rq.Assess):
        attempt = state.attempts.get(request.attempt)
        if attempt is not None:
            found += _of_pending(state, attempt.key, now)
    elif isinstance(request, rq.Claim | rq.Refresh):
        found += watched(state)
    return tuple({(q.attempt, q.name): q for q in found}.values())


def watched(state: State) -> Iterator[Question]:
    """The present facts that matter to an episode: its goals, its planned steps' needs, what it owes."""
    for goal in state.goal:
        for requirement in goal.requirements:
            yield _present(state, requirement, goal.key)
        record = state.keys.get(goal.key)
        if record is not None and record.operation is not None:
            yield from _effects(state, record.operation)  # an alias has requirements of its own
    for node in state.proposal.nodes.values():
        if not state.established(node.operation.key):
            for pre in node.operation.preconditions:
                yield _present(state, pre.requirement)
    for owed in state.owed.values():
        key = state.certificates[owed.certificate].key
        record = state.keys.get(key)
        if record is not None and record.operation is not None:
            yield from _effects(state, record.operation)


def open_attempts(state: State, now: Ns) -> Iterator[Question]:
    """The evidence that could settle the attempts which are unresolved."""
    for owed in state.execution.values():
        yield from _of_pending(state, owed.key, now)


def _of_node(state: State, node: Node) -> Iterator[Question]:
    """Preconditions, own effects, what the steps before it established, and what the steps after it need."""
    for pre in node.operation.preconditions:
        yield _present(state, pre.requirement)
    yield from _effects(state, node.operation)
    for name in state.proposal.needs.get(node.id, ()):
        yield from _effects(state, state.proposal.nodes[name].operation)
    for goal in state.goals_by_key.get(node.operation.key, ()):
        for earlier in (goal, *(state.goal_by_id[name] for name in goal.after)):
            for requirement in earlier.requirements:
                yield _present(state, requirement, earlier.key)
    yield from _downstream(state, node.operation.key, set())


def _downstream(state: State, key: str, seen: set[str]) -> Iterator[Question]:
    """What later steps need of this key, and, where such a step is itself in doubt or lost, so on."""
    if key in seen:
        return
    seen.add(key)
    for name, pre_id in state.proposal.links.get(key, ()):
        later = state.proposal.nodes[name]
        for pre in later.operation.preconditions:
            if pre.id == pre_id:
                yield _present(state, pre.requirement, key)
        if state.established(later.operation.key):
            yield from _downstream(state, later.operation.key, seen)


def _effects(state: State, operation: Operation) -> Iterator[Question]:
    for effect in operation.effects:
        for requirement in effect.requirements:
            yield _present(state, requirement, operation.key)


def _present(state: State, requirement: Requirement, key: str = "") -> Question:
    """A question about now: only samples from after the fact was last touched can answer it."""
    after = state.touched.get(fact_name(requirement.condition.fact), -1)
    return Question(requirement, Context(executor=state.executor(key), after=after))


def _of_pending(state: State, key: str, now: Ns) -> Iterator[Question]:
    owed = state.pending(key)
    record = state.keys.get(key)
    if owed is None or record is None or record.operation is None:
        return
    attempt = state.attempts[owed.attempt]
    binding = record.operation.binding(attempt.provider)
    context, later = attempt_contexts(attempt, now)
    for effect in record.operation.effects:
        for requirement in effect.requirements:
            then = later if effect.kind is EffectKind.STATE else None
            yield Question(_narrow(requirement, binding), context, attempt.id, then)


def attempt_contexts(attempt: Attempt, now: Ns) -> tuple[Context, Context | None]:
    """What evidence about an attempt must postdate: its dispatch; and, once it has answered, its end.

    While an action runs, the world is on its way: samples of a state from before its end may contradict
    those from after it without any conflict between them. Those from after it can decide alone. They need
    not: a readback that speaks only when something changes has often said its word before the answer came.
    """
    settled = now if attempt.could_take_effect(now) else attempt.absent_from()
    context = Context(
        executor=attempt.provider, after=attempt.dispatched, settled=settled, baseline=attempt.baseline
    )
    if attempt.interaction in ANSWERED and attempt.settled > attempt.dispatched:
        return context, msgspec.structs.replace(context, after=attempt.settled)
    return context, None


def _narrow(requirement: Requirement, binding: Binding | None) -> Requirement:
    """The requirement with only the routes that the executing provider's contract declares for it."""
    name = requirement.id.rpartition(".")[2]
    routes = dict(binding.routes).get(name, ()) if binding is not None else ()
    return msgspec.structs.replace(requirement, routes=routes) if routes else requirement
