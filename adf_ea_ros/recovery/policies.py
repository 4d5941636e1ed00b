"""Five ways to choose the next action, all behind the same check (section 4.3).

    rules    the first of: undo what must not be there, write what is owed, query what tells worlds apart,
             wait for what is still to come or to show, hand over
    verify   the same, with the informative query first
    greedy   the best single step: completion, obligations, how far it tells worlds apart, cost; where no
             step gains completion or obligations, the rules
    search   the best action of the deepest complete layer; where that gains nothing, or there is none, the
             rules
    stop     nothing

A policy sees the belief and the task, never which world is the real one. None acts on what is certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from adf_ea_ros.recovery.admit import certified, permitted
from adf_ea_ros.recovery.belief import Belief, branches
from adf_ea_ros.recovery.model import HAND_OVER, Action, ActionKind
from adf_ea_ros.recovery.search import Planner, Search, Vector, cost, leaf
from adf_ea_ros.recovery.world import NEVER, Frame, Thing, World

HORIZON = 6
"""Decisions that the search looks ahead."""
BUDGET = 128
"""Beliefs that it expands for one decision."""


class Choice(msgspec.Struct, frozen=True):
    """What a policy wants done next, and on what ground. Without an action it ends."""

    action: Action | None
    basis: str  # certified, search, greedy, rules, stop
    search: Search | None = None


Policy = Callable[[Frame, Belief], Choice]


def rules(frame: Frame, belief: Belief, among: Sequence[Action] | None = None) -> Choice:
    """The capability rules. ``among``: of what is admissible only these."""
    return _first(frame, belief, (_undo, _write, _query, _wait, _give_up), among)


def verify(frame: Frame, belief: Belief) -> Choice:
    """Verify before anything else."""
    return _first(frame, belief, (_query, _undo, _write, _wait, _give_up))


def greedy(frame: Frame, belief: Belief) -> Choice:
    """The best single step."""
    if certified(frame, belief):
        return Choice(None, "certified")
    now = leaf(frame, belief)
    planner = Planner(frame, 0)
    best: tuple[tuple[int, ...], Action] | None = None
    for action in permitted(frame, belief):
        value = planner.value(belief, action, 1)
        left = sum(b.factor * b.belief.mass * len(b.belief.members) for b in branches(frame, belief, action))
        rank = (value.completion, value.met, -left, -cost(frame.task, action))
        if best is None or rank > best[0]:
            best = (rank, action)
    if best is not None and best[0][:2] > (now.completion, now.met):
        return Choice(best[1], "greedy")
    return rules(frame, belief)


def searching(horizon: int = HORIZON, budget: int = BUDGET) -> Policy:
    """The search to a depth and within a budget."""

    def search(frame: Frame, belief: Belief) -> Choice:
        if certified(frame, belief):
            return Choice(None, "certified")
        found = Planner(frame, budget).run(belief, horizon)
        layer = found.deepest
        if layer is not None and _gains(layer.best[1], leaf(frame, belief)):
            return Choice(layer.best[0], "search", found)
        return Choice(rules(frame, belief).action, "rules", found)

    return search


def stop(frame: Frame, belief: Belief) -> Choice:
    """Nothing: a lower control."""
    return Choice(None, "certified" if certified(frame, belief) else "stop")


POLICIES: dict[str, Policy] = {
    "search": searching(),
    "rules": rules,
    "verify": verify,
    "greedy": greedy,
    "stop": stop,
}


def _gains(value: Vector, now: Vector) -> bool:
    return value[:2] > now[:2]


Rule = Callable[[Frame, Belief, list[Action]], Iterator[Action]]


def _first(
    frame: Frame, belief: Belief, order: tuple[Rule, ...], among: Sequence[Action] | None = None
) -> Choice:
    if certified(frame, belief):
        return Choice(None, "certified")
    allowed = [a for a in permitted(frame, belief) if among is None or a in among]
    for rule in order:
        for action in rule(frame, belief, allowed):
            return Choice(action, "rules")
    return Choice(None, "rules")


def _of_kind(kind: ActionKind, allowed: list[Action]) -> Iterator[Action]:
    return (action for action in allowed if action.kind is kind)


def _settled(frame: Frame, belief: Belief, i: int) -> Iterator[Thing]:
    return (frame.settled(world).things[i] for world, _ in belief.members)


def _undo(frame: Frame, belief: Belief, allowed: list[Action]) -> Iterator[Action]:
    """What must not be there, and is or will be in some world."""
    for action in _of_kind(ActionKind.UNDO, allowed):
        op = frame.operations[action.subject]
        if op.goal == 0 and any(t.amount for t in _settled(frame, belief, action.subject)):
            yield action


def _write(frame: Frame, belief: Belief, allowed: list[Action]) -> Iterator[Action]:
    """What is owed in some world in which some attempt to come would succeed."""
    for action in _of_kind(ActionKind.WRITE, allowed):
        for thing in _settled(frame, belief, action.subject):
            outcomes = frame.alternative(action.subject, thing).writes[thing.writes :]
            if thing.amount != 1 and any(outcome.ok for outcome in outcomes):
                yield action
                break


def _query(frame: Frame, belief: Belief, allowed: list[Action]) -> Iterator[Action]:
    """Whose answer tells worlds apart."""
    for action in _of_kind(ActionKind.QUERY, allowed):
        if len(branches(frame, belief, action)) > 1:
            yield action


def _wait(frame: Frame, belief: Belief, allowed: list[Action]) -> Iterator[Action]:
    """While something is still to come or to show, which the deadline leaves time for."""
    if any(_moving(world, frame.task.deadline) for world, _ in belief.members):
        waits = list(_of_kind(ActionKind.WAIT, allowed))
        yield from sorted(waits, key=lambda a: (frame.task.waits[a.subject].duration, a))


def _moving(world: World, deadline: int) -> bool:
    return any(
        any(event.at != NEVER and event.at <= deadline for event in thing.pending)
        or any(at <= deadline for at, _ in thing.showing)
        for thing in world.things
    )


def _give_up(_frame: Frame, _belief: Belief, allowed: list[Action]) -> Iterator[Action]:
    yield from (action for action in allowed if action == HAND_OVER)
