"""The search: complete layers only, exact comparison, a budget that bounds effort and nothing else."""

from __future__ import annotations

import itertools

import pytest
from tasks import ASK, DONE, LATER, NOT, Raw, frame, op

from adf_ea_ros.recovery.admit import admissible
from adf_ea_ros.recovery.belief import initial
from adf_ea_ros.recovery.model import Action, ActionKind, Expense
from adf_ea_ros.recovery.policies import rules, searching
from adf_ea_ros.recovery.search import Planner, Vector, cost, leaf
from adf_ea_ros.recovery.world import Frame

WRITE, QUERY, WAIT = (Action(kind, 0) for kind in (ActionKind.WRITE, ActionKind.QUERY, ActionKind.WAIT))


def doubtful(**more: object) -> Raw:
    """Done, under way until 3, or nothing: the query tells, after a wait."""
    return op("a", promises={**ASK, "commit_bound": 3}, alternatives=[DONE, LATER, NOT], **more)


def retirement() -> Frame:
    """Take the old one away, which may take its time, then put the new one up."""
    slow = {"id": "slow", "past": [{"commit_at": 0}], "undos": [{"delay": 2, "reply": "lost"}]}
    quick = {"id": "quick", "past": [{"commit_at": 0}], "undos": [{"reply": "lost"}]}
    return frame(
        op("old", goal=0, promises={**ASK, "reversible": True}, alternatives=[slow, quick]),
        op("new", after=["old"], promises=ASK),
        op("z_other", promises=ASK, alternatives=[DONE]),
        deadline=12,
        waits=[{"fee": 0, "duration": 1}, {"fee": 0, "duration": 3}],
    )


@pytest.mark.parametrize("make", [lambda: frame(doubtful(), op("b", after=["a"])), retirement])
def test_whatever_the_budget_the_choice_is_of_a_complete_layer(make: object) -> None:
    f = make()  # type: ignore[operator]
    belief = initial(f)
    unlimited = Planner(f, 10**6).run(belief, 4)
    assert len(unlimited.layers) == 4
    assert unlimited.unfinished is None
    cut = 0
    for budget in itertools.chain(range(40), range(40, unlimited.expanded + 20, 13)):
        found = Planner(f, budget).run(belief, 4)
        assert found.layers == unlimited.layers[: len(found.layers)]
        assert found.expanded <= budget
        choice = searching(4, budget)(f, belief)
        if found.deepest is not None and found.deepest.best[1][:2] > leaf(f, belief)[:2]:
            assert (choice.action, choice.basis) == (found.deepest.best[0], "search")
        else:
            assert (choice.action, choice.basis) == (rules(f, belief).action, "rules")
        if found.unfinished is not None:
            cut += 1
            assert found.unfinished.depth == len(found.layers) + 1
            assert not found.unfinished.complete
    assert cut > 10


def test_an_unfinished_layer_is_kept_and_compared_with_nothing() -> None:
    f = frame(doubtful(), op("b", after=["a"]))
    belief = initial(f)
    for budget in range(200):
        found = Planner(f, budget).run(belief, 6)
        if found.unfinished is not None and found.unfinished.values:
            break
    assert found.unfinished is not None
    assert found.unfinished.depth > 1
    deeper = dict(found.unfinished.values)
    assert set(deeper) < {action for action, _ in found.layers[-1].values}
    assert searching(6, budget)(f, belief).search == found


def test_a_slow_compensation_is_begun_at_once() -> None:
    """A wait first would end as well by the horizon's measure of one action, and miss the deadline."""
    f = retirement()
    belief = initial(f)
    choice = searching()(f, belief)
    assert choice.action is not None
    assert choice.action.name(f.task) == "undo old"


def test_waiting_is_chosen_where_only_time_is_missing() -> None:
    f = frame(doubtful(), waits=[{"fee": 0, "duration": 3}], deadline=20)
    choice = searching()(f, initial(f))
    assert (choice.action, choice.basis) == (WAIT, "search")


def test_certain_completion_in_parts_is_as_good_as_in_one() -> None:
    """Three worlds that are told apart and each completed: thirds add up to one, and to nothing less."""
    f = frame(doubtful(), waits=[{"fee": 0, "duration": 3}])
    deepest = Planner(f, 10**6).run(initial(f), 3).deepest
    assert deepest is not None
    _, value = deepest.best
    assert value.completion == initial(f).mass == 3


def test_among_equals_the_cheaper_and_then_the_quicker() -> None:
    f = frame(
        op("a", promises=ASK, query={"fee": 1, "duration": 1}, alternatives=[DONE, NOT]),
        waits=[{"fee": 1, "duration": 2}, {"fee": 1, "duration": 3}, {"fee": 2, "duration": 1}],
    )
    deepest = Planner(f, 10**6).run(initial(f), 2).deepest
    assert deepest is not None
    order = [a.name(f.task) for a, _ in deepest.values]
    assert order[0] == "query a"
    assert order.index("wait 2") < order.index("wait 3") < order.index("wait 1")


def test_cost_is_fee_first() -> None:
    f = frame(op("a", write={"fee": 2, "duration": 7}), tie=100)
    assert cost(f.task, WRITE) == 207
    assert f.task.operations[0].query == Expense(1, 1)


def test_every_completed_root_action_has_its_whole_vector() -> None:
    f = frame(doubtful())
    for layer in Planner(f, 10**6).run(initial(f), 3).layers:
        assert layer.complete
        assert {a for a, _ in layer.values} == {QUERY, WAIT, Action(ActionKind.HAND_OVER)}
        assert all(isinstance(v, Vector) and len(v) == 3 for _, v in layer.values)


def test_at_the_root_only_what_is_given() -> None:
    f = frame(doubtful(), op("b", after=["a"]))
    for layer in Planner(f, 10**6).run(initial(f), 3, [WAIT, WRITE]).layers:
        assert [a for a, _ in layer.values] == [WAIT]  # the write is not admissible
    deepest = Planner(f, 10**6).run(initial(f), 4, [WAIT]).deepest
    assert deepest is not None
    assert deepest.best[1].completion > 0  # behind the root everything is


def test_a_budget_bounds_no_check() -> None:
    """One world in 4,096 forbids the write; with no budget at all it is not chosen."""
    two = [NOT, {"id": "other", "writes": [{"delay": 1}]}]
    last = {"id": "done", "past": [{"commit_at": 0}]}
    many = [op(f"o{i:02}", alternatives=two) for i in range(11)]
    f = frame(op("a", alternatives=[{**NOT, "weight": 2**30}, last]), *many, fees=1)
    belief = initial(f)
    assert len(belief.members) == 4096
    assert not admissible(f, belief, WRITE)
    assert searching(2, 0)(f, belief).action != WRITE
