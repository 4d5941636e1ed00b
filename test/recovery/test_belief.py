"""Priors, weights and joint supports."""

from __future__ import annotations

from tasks import ASK, DONE, NOT, frame, op

from adf_ea_ros.recovery.belief import assignments, branches, initial, update
from adf_ea_ros.recovery.model import Action, ActionKind

QUERY = Action(ActionKind.QUERY, 0)


def test_without_a_support_the_alternatives_are_independent() -> None:
    two = [{**DONE, "weight": 3}, NOT]
    f = frame(op("a", alternatives=two), op("b", alternatives=two))
    assert [w for _, w in assignments(f)] == [9, 3, 3, 1]
    assert initial(f).mass == 16


def test_a_joint_support_says_what_goes_together() -> None:
    """Both or neither: to see one is to know the other."""
    two = [DONE, NOT]
    f = frame(
        op("a", promises=ASK, alternatives=two),
        op("b", promises=ASK, alternatives=two),
        support=[{"alternatives": ["done", "done"], "weight": 2}, {"alternatives": ["not", "not"]}],
    )
    belief = initial(f)
    assert belief.mass == 3
    for branch in branches(f, belief, QUERY):
        ((world, weight),) = branch.belief.members
        assert weight == 1
        assert {t.amount for t in world.things} == {branch.observation.amount}


def test_alternatives_stay_apart_while_they_look_alike() -> None:
    """What is the same so far may go on otherwise."""
    f = frame(op("a", alternatives=[{"id": "x"}, {"id": "y", "writes": [{"delay": 1}]}]))
    assert len(initial(f).members) == 2


def test_weights_have_no_common_divisor() -> None:
    f = frame(op("a", promises=ASK, alternatives=[{**DONE, "weight": 4}, {**NOT, "weight": 6}]))
    assert initial(f).mass == 5
    found = {b.observation.amount: (b.factor, b.belief.mass) for b in branches(f, initial(f), QUERY)}
    assert found == {1: (2, 1), 0: (3, 1)}


def test_an_update_takes_what_was_spent() -> None:
    f = frame(op("a", promises=ASK, query={"fee": 2, "duration": 3}))
    belief = initial(f)
    after = update(f, belief, QUERY, branches(f, belief, QUERY)[0].observation)
    assert (after.fees, after.actions, after.time, after.handed_over) == (2, 1, 3, False)
