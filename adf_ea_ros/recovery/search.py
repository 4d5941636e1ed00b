"""Search over what may be observed, by complete layers of one depth (section 4.2).

    V(B, 0)  =  (weight of B if certified, expected obligations met by the deadline, 0)
    V(B, d)  =  V(B, 0) where B is certified, handed over, or permits nothing
             =  max over admissible a of  -cost(a) + sum over observations o of V(B after o, d - 1)

compared in this order: weight of certified completion, obligations met, negative cost. All three are
integers: weights are not normalized, obligations are summed over worlds, cost is in 1/tie of a fee unit. So
nothing is rounded, and a tie is a tie.

The search goes deeper layer by layer. A layer counts only once every admissible action at the root, with all
its observations, was evaluated to the same depth; what a budget cuts off is kept for diagnosis and compared
with nothing. The budget bounds beliefs that are expanded, never the worlds that a check looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adf_ea_ros.recovery.admit import certified, permitted
from adf_ea_ros.recovery.belief import Belief, branches
from adf_ea_ros.recovery.model import Action, Task, expense
from adf_ea_ros.recovery.world import Frame


class Vector(NamedTuple):
    """Weight of certified completion, weight of obligations met, negative cost; over one belief's mass."""

    completion: int
    met: int
    negative_cost: int


class Layer(NamedTuple):
    """What one depth says of each action at the root, the best first."""

    depth: int
    values: tuple[tuple[Action, Vector], ...]
    complete: bool

    @property
    def best(self) -> tuple[Action, Vector]:
        """The first action; among equals, the one that a single step favours."""
        return self.values[0]


class Search(NamedTuple):
    """Every layer that was completed, the unfinished one if there is one, and what it took."""

    mass: int
    layers: tuple[Layer, ...]
    unfinished: Layer | None
    expanded: int

    @property
    def deepest(self) -> Layer | None:
        """The layer that decides."""
        return self.layers[-1] if self.layers else None


class _Spent(Exception):
    """The budget is used up."""


def cost(task: Task, action: Action) -> int:
    """What an action costs, in 1/tie of a fee unit."""
    spent = expense(task, action)
    return spent.fee * task.tie + spent.duration


def leaf(frame: Frame, belief: Belief) -> Vector:
    """V(B, 0). What is met counts what is under way and comes by the deadline."""
    whole = belief.mass if certified(frame, belief) else 0
    met = sum(weight * frame.met_in_time(world) for world, weight in belief.members)
    return Vector(whole, met, 0)


class Planner:
    """A search with its cache of (belief, depth). One for each decision: the cache lives as long."""

    def __init__(self, frame: Frame, budget: int) -> None:
        """``budget``: beliefs that may be expanded, over all layers."""
        self.frame = frame
        self.budget = budget
        self.expanded = 0
        self._values: dict[tuple[Belief, int], Vector] = {}
        self._permitted: dict[Belief, list[Action]] = {}

    def run(self, belief: Belief, horizon: int, among: Sequence[Action] | None = None) -> Search:
        """Layers of depth 1 to ``horizon``, as far as the budget goes.

        ``among``: at the root, of what is admissible only these.
        """
        if among is not None:
            self._permitted[belief] = [a for a in permitted(self.frame, belief) if a in among]
        layers: list[Layer] = []
        unfinished = None
        for depth in range(1, horizon + 1):
            layer = self._layer(belief, depth, layers[0] if layers else None)
            if not layer.complete:
                unfinished = layer
                break
            if not layer.values:
                break
            layers.append(layer)
        return Search(belief.mass, tuple(layers), unfinished, self.expanded)

    def _layer(self, belief: Belief, depth: int, first: Layer | None) -> Layer:
        order = self._allowed(belief) if first is None else [action for action, _ in first.values]
        values: list[tuple[Action, Vector]] = []
        try:
            self._expand()
            for action in order:
                values.append((action, self.value(belief, action, depth)))
        except _Spent:
            return Layer(depth, tuple(values), complete=False)
        # Stable: what is equal stays in the order of the single step, and before that in the fixed order.
        values.sort(key=lambda pair: pair[1], reverse=True)
        return Layer(depth, tuple(values), complete=True)

    def value(self, belief: Belief, action: Action, depth: int) -> Vector:
        """The value of an action at ``belief`` with ``depth`` decisions to go, itself included."""
        completion = met = 0
        negative = -cost(self.frame.task, action) * belief.mass
        for _, factor, after in branches(self.frame, belief, action):
            found = self._best(after, depth - 1)
            completion += factor * found.completion
            met += factor * found.met
            negative += factor * found.negative_cost
        return Vector(completion, met, negative)

    def _best(self, belief: Belief, depth: int) -> Vector:
        known = self._values.get((belief, depth))
        if known is not None:
            return known
        found = leaf(self.frame, belief)
        if depth > 0 and not found.completion:
            allowed = self._allowed(belief)
            if allowed:
                self._expand()
                found = max(self.value(belief, action, depth) for action in allowed)
        self._values[belief, depth] = found
        return found

    def _allowed(self, belief: Belief) -> list[Action]:
        if belief not in self._permitted:
            self._permitted[belief] = permitted(self.frame, belief)
        return self._permitted[belief]

    def _expand(self) -> None:
        if self.expanded >= self.budget:
            raise _Spent
        self.expanded += 1
