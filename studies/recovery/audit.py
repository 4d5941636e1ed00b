"""Small tasks made from parameters: every value of every complete layer is compared with the reference.

Also here: what a budget that ends a layer leaves to be chosen, and a model that lacks what really happens
(section 6.4 of the recovery paper, 7.5 for its counts).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from adf_ea_ros.recovery.belief import Belief, Contradiction, initial, update
from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.model import Action, ActionKind
from adf_ea_ros.recovery.policies import rules, searching
from adf_ea_ros.recovery.search import Planner, leaf
from adf_ea_ros.recovery.world import Frame, begin
from studies.recovery.adjudicate import Raw, support
from studies.recovery.collect import plain
from studies.recovery.reference import Value, root

HORIZONS = (1, 2, 3)
BUDGETS = (1, 2, 3, 5, 8, 13)


@dataclass
class Tally:
    """What was compared, and how much of it agreed."""

    tasks: int = 0
    layers: int = 0
    layers_equal: int = 0
    values: int = 0
    values_equal: int = 0
    optimal: int = 0  # layers whose best action is one of the reference's best
    budgets: int = 0
    cut: int = 0  # of these, the budget ended a layer
    by_rules: int = 0  # of these, the rules chose
    budgets_right: int = 0
    contradiction: str = ""  # what a model without the real outcome ends in
    sentinel: bool = False  # an effect of unknown time stays so after waiting, and certifies nothing


def audit() -> Tally:
    """All comparisons."""
    tally = Tally()
    for raw in small_tasks():
        tally.tasks += 1
        frame = Frame(load(raw))
        belief = initial(frame)
        for horizon in HORIZONS:
            _layer(tally, raw, frame, belief, horizon)
        for budget in BUDGETS:
            _budget(tally, frame, belief, budget)
    tally.contradiction = mis_specified()
    tally.sentinel = _sentinel()
    return tally


def small_tasks() -> Iterator[Raw]:
    """Write or undo, at once or delayed, a dependency or none, equal or unequal weights; then more."""
    for undo, delay, child, weight in itertools.product((False, True), (0, 2), (False, True), (1, 3)):
        outcome = {"reply": "lost", "delay": delay}
        past = [{"commit_at": -1, "accepted_at": -1}] if undo else []
        first = {
            "id": "retract" if undo else "extend",
            "target": "arm",
            "goal": 0 if undo else 1,
            "promises": {"query": True, "reversible": undo, "commit_bound": 4},
            "alternatives": [
                {"id": "works", "past": past, "undos" if undo else "writes": [outcome], "weight": weight},
                {
                    "id": "fails_first",
                    "past": past,
                    "undos" if undo else "writes": [{"ok": False, "reply": "failed"}, outcome],
                },
            ],
        }
        yield _task(first, *([{"id": "grip", "target": "jaw", "after": [first["id"]]}] if child else []))
    for commit_at, key in itertools.product((1, 3, None), ("", "id-1")):
        pending = {
            "id": "pour",
            "target": "cup",
            "key": key,
            "promises": {"query": True, "final": True, "key_lifetime": 4 if key else 0},
            "alternatives": [
                {"id": "coming", "past": [{"commit_at": commit_at}], "weight": 2},
                {"id": "not"},
            ],
        }
        yield _task(pending)
    joint = [
        {
            "id": name,
            "target": name,
            "promises": {"query": True},
            "query": {"fee": fee},
            "alternatives": [{"id": "done", "past": [{"commit_at": 0}]}, {"id": "not"}],
        }
        for name, fee in (("heater", 4), ("door", 1))
    ]
    both = [{"alternatives": ["done", "done"], "weight": 3}, {"alternatives": ["not", "not"]}]
    yield {**_task(*joint), "support": both}


def _task(*operations: Raw) -> Raw:
    waits = [{"fee": 0, "duration": 2}]
    return {
        "id": "small",
        "deadline": 9,
        "fees": 9,
        "actions": 6,
        "waits": waits,
        "operations": [*operations],
    }


def _layer(tally: Tally, raw: Raw, frame: Frame, belief: Belief, horizon: int) -> None:
    expected = root(raw, support(raw), horizon)
    layer = Planner(frame, 10**9).run(belief, horizon).layers[horizon - 1]
    found: dict[str, Value] = {}
    for action, vector in layer.values:
        completion, met, cost = (Fraction(part, belief.mass) for part in vector)
        found[_name(frame, action)] = (completion, met, cost)
    tally.layers += 1
    tally.layers_equal += found == expected
    tally.values += len(expected)
    tally.values_equal += sum(found.get(name) == value for name, value in expected.items())
    best = max(expected.values())
    tally.optimal += expected[_name(frame, layer.best[0])] == best


def _name(frame: Frame, action: Action) -> str:
    return " ".join(str(part) for part in plain(frame, action).values())


def _budget(tally: Tally, frame: Frame, belief: Belief, budget: int) -> None:
    """The choice under a budget is that of the deepest complete layer, or the rules'."""
    unlimited = Planner(frame, 10**9).run(belief, max(HORIZONS))
    choice = searching(max(HORIZONS), budget)(frame, belief)
    assert choice.search is not None
    layers = choice.search.layers
    expected = rules(frame, belief).action
    if layers and layers[-1].best[1][:2] > leaf(frame, belief)[:2]:
        expected = unlimited.layers[len(layers) - 1].best[0]
    tally.budgets += 1
    tally.cut += choice.search.unfinished is not None
    tally.by_rules += choice.basis == "rules"
    tally.budgets_right += choice.action == expected and layers == unlimited.layers[: len(layers)]


def mis_specified() -> str:
    """A model without the outcome that really comes: the second attempt works, and the model says never."""
    writes: list[Raw] = [{"ok": False, "reply": "failed"}, {"reply": "done"}]
    real = _task({"id": "start", "target": "stirrer", "alternatives": [{"id": "x", "writes": writes}]})
    lacking = _task({"id": "start", "target": "stirrer", "alternatives": [{"id": "x", "writes": writes[:1]}]})
    there, model = Frame(load(real)), Frame(load(lacking))
    world, belief, action = begin(there, (0,)), initial(model), Action(ActionKind.WRITE, 0)
    try:
        for _ in range(2):
            world, seen = there.step(world, action, belief.time)
            belief = update(model, belief, action, seen)
    except Contradiction as error:
        return str(error)
    return ""


def _sentinel() -> bool:
    raw = _task({"id": "pour", "target": "cup", "alternatives": [{"id": "x", "past": [{"commit_at": None}]}]})
    frame = Frame(load(raw))
    belief, wait = initial(frame), Action(ActionKind.WAIT, 0)
    world, seen = frame.step(belief.members[0][0], wait, 0)
    after = update(frame, belief, wait, seen)
    return (
        bool(world.things[0].pending) and not world.things[0].amount and not frame.stable(after.members[0][0])
    )
