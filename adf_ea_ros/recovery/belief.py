"""What may be the case: every world that the public history leaves possible (section 3.3).

An update keeps exactly the worlds that predict the whole observation. Weights are integers without a common
divisor, so that equal beliefs are equal values; a low weight never makes a world less present.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from adf_ea_ros.recovery.model import HAND_OVER, Action, ActionKind, expense
from adf_ea_ros.recovery.world import Frame, Observation, World, begin


class Contradiction(Exception):
    """No world of the support predicts what was observed: the model is wrong. Nothing may be concluded."""

    def __init__(self, action: str, observation: Observation) -> None:
        """Both as they were."""
        super().__init__(f"no alternative of the model explains {observation.status!r} after {action!r}")
        self.observation = observation


class Belief(NamedTuple):
    """The public part (time, what was spent) and the support with its weights, in a fixed order."""

    time: int
    fees: int
    actions: int
    writes: int  # counted where the task limits them, as queries are
    queries: int
    handed_over: bool
    members: tuple[tuple[World, int], ...]

    @property
    def mass(self) -> int:
        """The sum of the weights."""
        return sum(weight for _, weight in self.members)


class Branch(NamedTuple):
    """One observation that an action may bring. ``factor`` times its weights are the weights before."""

    observation: Observation
    factor: int
    belief: Belief


def initial(frame: Frame) -> Belief:
    """The belief at 0: the joint support where the task gives one, else the product of the alternatives."""
    members = [(begin(frame, chosen), weight) for chosen, weight in assignments(frame)]
    return _reduced(members, 0, 0, 0, 0, 0, False)[1]


def assignments(frame: Frame) -> list[tuple[tuple[int, ...], int]]:
    """Every member of the support: an alternative for each operation, and the weight."""
    ops = frame.operations
    if frame.task.support:
        places = [{a.id: i for i, a in enumerate(op.alternatives)} for op in ops]
        return [
            (tuple(p[n] for p, n in zip(places, m.alternatives, strict=True)), m.weight)
            for m in frame.task.support
        ]
    ranges = [range(len(op.alternatives)) for op in ops]
    return [
        (chosen, math.prod(op.alternatives[i].weight for op, i in zip(ops, chosen, strict=True)))
        for chosen in itertools.product(*ranges)
    ]


def branches(frame: Frame, belief: Belief, action: Action) -> list[Branch]:
    """What may be observed after ``action``, in a fixed order, with the belief that each leads to."""
    split: dict[Observation, list[tuple[World, int]]] = {}
    for world, weight in belief.members:  # of two assignments no world is the same: it knows its alternatives
        after, seen = frame.step(world, action, belief.time)
        split.setdefault(seen, []).append((after, weight))
    task, spent = frame.task, expense(frame.task, action)
    public = (
        belief.time + spent.duration,
        belief.fees + spent.fee,
        belief.actions + 1,
        belief.writes + (task.writes is not None and action.kind is ActionKind.WRITE),
        belief.queries + (task.queries is not None and action.kind is ActionKind.QUERY),
        action == HAND_OVER,
    )
    return [Branch(seen, *_reduced(split[seen], *public)) for seen in sorted(split)]


def update(frame: Frame, belief: Belief, action: Action, observation: Observation) -> Belief:
    """The belief once ``action`` was done and ``observation`` seen.

    Raises:
        Contradiction: no member predicts it.
    """
    for branch in branches(frame, belief, action):
        if branch.observation == observation:
            return branch.belief
    raise Contradiction(action.name(frame.task), observation)


def _reduced(
    members: list[tuple[World, int]],
    time: int,
    fees: int,
    actions: int,
    writes: int,
    queries: int,
    over: bool,
) -> tuple[int, Belief]:
    factor = math.gcd(*(weight for _, weight in members))
    kept = tuple(sorted((world, weight // factor) for world, weight in members))
    return factor, Belief(time, fees, actions, writes, queries, over, kept)
