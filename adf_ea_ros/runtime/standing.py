"""Standing tasks: one episode for all goals of clients that know none, and each goal admitted in one breath.

The episode outlives the goals, and so do its accounts: a client that gives up waiting and sends its goal
again meets its own earlier attempt. Finding the episode, revising its proposal and asking for the dispatch is
one call under the one writer, so two goals cannot get between each other's steps.
"""

from __future__ import annotations

import uuid

import msgspec
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.grounding import GroundingFault, ground_operation, ground_task
from adf_ea_ros.authority.model import EffectKind, Node, Operation, accounting_key
from adf_ea_ros.authority.rules.x11_heir import at_rest, heir, may_give_way
from adf_ea_ros.authority.state import State, effect_key
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import Task
from adf_ea_ros.runtime.service import AuthorityService

LENGTH = 500
"""Attempts after which a standing episode gives way to a new one, as soon as nothing in it is open."""

PLANNED = 5
"""Steps in doubt that stay in the proposal beside the newest one."""


class Asked(msgspec.Struct, frozen=True):
    """A goal of a client that knows no episode. ``goal`` names it: asked for again, it is the same one."""

    task: str
    author: str
    capability: str
    provider: str
    arguments: str  # a JSON object
    goal: str


class Standing:
    """The standing episodes of one authority. Calls must be serialized, as for the service behind it."""

    def __init__(self, service: AuthorityService, length: int = LENGTH) -> None:
        """``length``: see ``LENGTH``."""
        self._service = service
        self._length = length

    def admit(self, asked: Asked, now: Ns) -> Decision:
        """Ask to carry out a goal; ``decision.attempt`` is to be sent where there is one.

        The decision is the one on the dispatch, or the refusal that came before it: of the task, or of the
        step as part of the proposal.
        """
        episode, refused = self._episode(asked, now)
        if refused is not None:
            return refused
        state = self._service.book.active()[episode]
        try:
            node = self._node(state, asked, now)
        except GroundingFault as fault:
            faults = ((fault.code, str(fault)),)
            return self._service.ask(episode, rq.Revise((), faults, asked.author), now)
        if state.proposal.nodes.get(node.id) != node:
            revised = self._service.ask(episode, rq.Revise(_residual(state, node), (), asked.author), now)
            if not revised.authorized:
                return revised
        return self._service.dispatch(episode, node.id, asked.provider, now)

    # -- episodes --------------------------------------------------------------------------------------

    def _episode(self, asked: Asked, now: Ns) -> tuple[str, Decision | None]:
        """The standing episode of a task: the one that is under way, or a new one."""
        try:
            task = self._service.catalog.task(asked.task)
        except KeyError as error:
            return "", self._service.refuse("Begin", asked.task, "X5.task", error.args[0], now)
        if not task.standing:
            text = f"{task.id} is not a standing task: it needs an episode of its own"
            return "", self._service.refuse("Begin", asked.task, "X5.task", text, now)
        if task.planners and asked.author not in task.planners:
            text = f"{asked.author!r} may not run {task.id}"
            return "", self._service.refuse("Begin", asked.task, "X5.planner", text, now)
        mine = [state for state in self._service.book.active().values() if _of(state, task)]
        if not mine:
            episode, decision = self._service.start_episode(task.id, asked.author, now)
            return episode, None if episode else decision
        # Two of them: a crash came between the beginning of one and the end of the other, which was long.
        current, *past = sorted(mine, key=lambda state: (at_rest(state, now), len(state.attempts)))
        for old in past:
            if at_rest(old, now):
                self._end(old, current.episode, asked.author, now)
        if len(current.attempts) >= self._length and may_give_way(current, now):
            return self._roll_over(current, task, asked.author, now), None
        return current.episode, None

    def _roll_over(self, old: State, task: Task, author: str, now: Ns) -> str:
        """Begin a new episode with what is left of the budgets and what was established, and end the old one.

        The name of the old one where that fails: it goes on.
        """
        name = f"{task.id}-{uuid.uuid4().hex[:8]}"
        try:
            start = ground_task(self._service.catalog, task, name, author, now)
        except GroundingFault:
            return old.episode
        start = heir(replace(start, generation=self._service.book.generation), old)
        if not self._service.begin(rq.Begin(start, task.planners), now).authorized:
            return old.episode
        self._end(old, name, author, now)
        return name

    def _end(self, old: State, name: str, author: str, now: Ns) -> None:
        reason = f"{len(old.attempts)} attempts, and none of them is open: {name} goes on"
        self._service.stop(old.episode, author, reason, now, name)

    # -- goals -----------------------------------------------------------------------------------------

    def _node(self, state: State, asked: Asked, now: Ns) -> Node:
        """The step that a goal means.

        A goal for a state is the same operation whenever it is asked for. A goal that causes an event is one
        of its own each time, unless an earlier one with the same effects is in doubt: then it is that one.
        """
        operation = ground_operation(self._service.catalog, asked.capability, asked.arguments, "once", now)
        if all(effect.kind is EffectKind.STATE for effect in operation.effects):
            return Node(f"{operation.capability}_{operation.key[1:9]}", operation)
        doubtful = _in_doubt(state, operation)
        occurrence = doubtful.occurrence if doubtful is not None else f"g{asked.goal}"
        key = accounting_key(operation.effects, occurrence)
        return Node(
            f"{operation.capability}_{occurrence}", replace(operation, occurrence=occurrence, key=key)
        )


def _of(state: State, task: Task) -> bool:
    return state.standing and state.task.startswith(f"task/{task.id}@")


def _in_doubt(state: State, operation: Operation) -> Operation | None:
    """The operation with the same effects whose outcome is owed."""
    wanted = _meaning(operation)
    for owed in state.execution.values():
        other = state.keys[owed.key].operation
        if other is not None and _meaning(other) == wanted:
            return other
    return None


def _meaning(operation: Operation) -> frozenset[str]:
    return frozenset(effect_key(effect.kind, effect.condition) for effect in operation.effects)


def _residual(state: State, node: Node) -> tuple[Node, ...]:
    """The latest steps that are in doubt, and the new one.

    All of them would make each revision as long as there are goals in flight. A step that is left out is owed
    all the same, and is planned again when its goal is sent again.
    """
    doubtful = sorted(
        (state.attempts[name] for name in state.execution), key=lambda one: one.dispatched, reverse=True
    )
    kept = [
        state.proposal.nodes[attempt.node]
        for attempt in doubtful[:PLANNED]
        if attempt.node in state.proposal.nodes and attempt.node != node.id
    ]
    return (*kept, node)
