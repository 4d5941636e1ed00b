"""The common check of every policy's actions, and the certificate of completion (sections 3.4 and 4.1).

    admissible(a, B)  iff  a is one of the task's actions; its fee, its number and its end are within limits,
                           and so is the number of its kind
                      and  for every world s in B, of every weight:
                           violations(settle(f(s, a)))  <=  violations(settle(s))      kind by kind
                           hazards(settle(f(s, a)))     <=  hazards(settle(s))         kind by kind
    certified(B)      iff  for every s in B: the goal holds now and after each effect that is still to come,
                           nothing was violated and will be, nothing of unknown time is under way,
                           and the limits are kept

``settle`` lets every effect come that has a time. Hazards are what an effect of unknown time could still do:
they are counted, never played (the sentinel stands for no particular moment).
"""

from __future__ import annotations

from adf_ea_ros.recovery.belief import Belief
from adf_ea_ros.recovery.model import (
    HAND_OVER,
    Action,
    ActionKind,
    EffectClass,
    Task,
    expense,
)
from adf_ea_ros.recovery.world import NEVER, UNDO, WRITE, Counts, Frame, World


def actions(frame: Frame) -> tuple[Action, ...]:
    """Every action that the task knows, in a fixed order. A write is approved only for an owed effect."""
    found = []
    for i in frame.order:
        op = frame.operations[i]
        if op.promises.query:
            found.append(Action(ActionKind.QUERY, i))
        if op.goal == 1:
            found.append(Action(ActionKind.WRITE, i))
        if op.promises.reversible:
            found.append(Action(ActionKind.UNDO, i))
    found += [Action(ActionKind.WAIT, i) for i in range(len(frame.task.waits))]
    return (*found, HAND_OVER)


def affordable(task: Task, belief: Belief, action: Action) -> bool:
    """Whether the limits of the task leave room for an action."""
    spent, kind = expense(task, action), action.kind
    return (
        belief.fees + spent.fee <= task.fees
        and belief.actions + 1 <= task.actions
        and belief.time + spent.duration <= task.deadline
        and not (kind is ActionKind.WRITE and task.writes is not None and belief.writes >= task.writes)
        and not (kind is ActionKind.QUERY and task.queries is not None and belief.queries >= task.queries)
    )


def admissible(frame: Frame, belief: Belief, action: Action) -> bool:
    """Whether an action adds nothing bad in any world of the belief. Nothing is sampled or left out."""
    if belief.handed_over or not affordable(frame.task, belief, action):
        return False
    if action.kind not in (ActionKind.WRITE, ActionKind.UNDO):
        return True  # time alone: what is settled afterwards is what is settled now
    approved = frame.operations[action.subject].attempts
    if action.kind is ActionKind.WRITE and approved is not None:
        tried = max(world.things[action.subject].tried for world, _ in belief.members)
        if tried >= approved:
            return False
    return all(_harmless(frame, world, action, belief.time) for world, _ in belief.members)


def permitted(frame: Frame, belief: Belief) -> list[Action]:
    """The admissible actions, in their fixed order."""
    return [action for action in actions(frame) if admissible(frame, belief, action)]


def certified(frame: Frame, belief: Belief) -> bool:
    """C(h): completion is certain in every world, and stays so whatever is still under way."""
    task = frame.task
    within = belief.time <= task.deadline and belief.fees <= task.fees and belief.actions <= task.actions
    return within and not belief.handed_over and all(frame.stable(world) for world, _ in belief.members)


def _harmless(frame: Frame, world: World, action: Action, now: int) -> bool:
    without = frame.settled(world)
    with_it = frame.settled(frame.step(world, action, now)[0])
    return _within(with_it.breaches, without.breaches) and _within(
        hazards(frame, with_it), hazards(frame, without)
    )


def hazards(frame: Frame, world: World) -> Counts:
    """What effects of unknown time could violate, in a world where all others have come."""
    duplicate = dependency = compensation = 0
    for i, thing in enumerate(world.things):
        if not thing.pending:
            continue
        op = frame.operations[i]
        writes = sum(e.copies for e in thing.pending if e.kind == WRITE and e.at == NEVER)
        undos = sum(e.copies for e in thing.pending if e.kind == UNDO and e.at == NEVER)
        appends = op.effect is EffectClass.APPEND
        if writes and appends:
            duplicate += max(0, thing.amount + writes - 1)
        if writes or (undos and op.goal == 0):
            dependency += sum(_unsure(frame, world, j) for j in frame.before[i])
        if undos:
            compensation += sum(_present(world, j) for j in frame.behind[i])
            compensation += max(0, undos - thing.amount) if appends else 0
    return (0, duplicate, dependency, compensation)


def _unsure(frame: Frame, world: World, i: int) -> bool:
    """Whether an operation may be without its goal value at a moment that nobody knows."""
    thing = world.things[i]
    return thing.amount != frame.operations[i].goal or any(e.at == NEVER for e in thing.pending)


def _present(world: World, i: int) -> bool:
    thing = world.things[i]
    return thing.amount > 0 or any(e.kind == WRITE for e in thing.pending)


def _within(counts: Counts, limit: Counts) -> bool:
    return all(mine <= theirs for mine, theirs in zip(counts, limit, strict=True))
