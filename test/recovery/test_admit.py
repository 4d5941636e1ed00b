"""The check that every policy shares, and the certificate."""

from __future__ import annotations

import pytest
from tasks import ASK, DONE, LATER, NOT, UNKNOWN, Raw, frame, op

from adf_ea_ros.recovery.admit import actions, admissible, certified, hazards, permitted
from adf_ea_ros.recovery.belief import initial, update
from adf_ea_ros.recovery.model import Action, ActionKind
from adf_ea_ros.recovery.world import Frame

WRITE, UNDO, QUERY, WAIT = (
    Action(kind, 0) for kind in (ActionKind.WRITE, ActionKind.UNDO, ActionKind.QUERY, ActionKind.WAIT)
)


def allowed(f: Frame, action: Action = WRITE) -> bool:
    return admissible(f, initial(f), action)


def test_one_world_of_the_least_weight_is_enough_to_forbid() -> None:
    f = frame(op("a", alternatives=[{**NOT, "weight": 2**40}, DONE]))
    assert not allowed(f)
    assert allowed(frame(op("a", alternatives=[NOT])))


@pytest.mark.parametrize("alternative", [LATER, UNKNOWN])
def test_what_is_under_way_forbids_a_second_append(alternative: Raw) -> None:
    assert not allowed(frame(op("a", alternatives=[NOT, alternative])))
    assert allowed(frame(op("a", effect="replace", alternatives=[NOT, alternative])))


def test_a_valid_key_permits_a_repeat_and_an_expired_one_does_not() -> None:
    past = {"id": "x", "past": [{"commit_at": None, "accepted_at": -3}]}
    keyed = op("a", key="k", promises={"key_lifetime": 4}, alternatives=[past])
    f = frame(keyed)
    assert allowed(f)
    later = update(f, initial(f), WAIT, f.step(initial(f).members[0][0], WAIT, 0)[1])
    assert not admissible(f, later, WRITE)


def test_a_step_before_its_dependency_is_refused_in_any_world() -> None:
    f = frame(op("a", alternatives=[DONE, LATER]), op("b", after=["a"]))
    assert not allowed(f, Action(ActionKind.WRITE, 1))
    f = frame(op("a", alternatives=[DONE]), op("b", after=["a"]))
    assert allowed(f, Action(ActionKind.WRITE, 1))


def test_unknown_undoing_of_what_a_step_rests_on() -> None:
    """The dependency holds now; an undo of unknown time could take it away below the step."""
    past = [{"commit_at": 0}, {"commit_at": None, "kind": "undo"}]
    f = frame(
        op("a", promises={"reversible": True}, alternatives=[{"id": "x", "past": past}]),
        op("b", after=["a"]),
    )
    assert not allowed(f, Action(ActionKind.WRITE, 1))


def test_undoing_needs_a_world_without_dependents() -> None:
    def under(child: Raw) -> Frame:
        return frame(
            op("a", promises={"reversible": True}, alternatives=[DONE]),
            op("b", after=["a"], alternatives=[child]),
        )

    assert allowed(under(NOT), UNDO)
    assert not allowed(under(DONE), UNDO)
    assert not allowed(under(UNKNOWN), UNDO)


def test_an_undo_that_may_find_nothing() -> None:
    """A second one of what appends would take back what is not there."""
    under_way = {"id": "x", "past": [{"commit_at": 0}, {"commit_at": None, "kind": "undo"}]}
    raw = op("a", goal=0, promises={"reversible": True}, alternatives=[under_way])
    assert not allowed(frame(raw), UNDO)
    assert allowed(frame({**raw, "effect": "replace"}), UNDO)


def test_a_task_that_went_wrong_already_may_still_be_worked_on() -> None:
    """An earlier violation stays, forbids no harmless action, and is never certified."""
    twice = {"id": "x", "past": [{"commit_at": 0, "copies": 2}]}
    f = frame(op("a", promises=ASK, alternatives=[twice]), op("b"))
    belief = initial(f)
    assert admissible(f, belief, Action(ActionKind.WRITE, 1))
    assert not admissible(f, belief, WRITE)
    belief = update(
        f,
        belief,
        Action(ActionKind.WRITE, 1),
        f.step(belief.members[0][0], Action(ActionKind.WRITE, 1), 0)[1],
    )
    assert not certified(f, belief)


def test_limits() -> None:
    raw = op("a", promises=ASK, query={"fee": 2, "duration": 3})
    assert allowed(frame(raw, fees=2, deadline=3, actions=1), QUERY)
    assert not allowed(frame(raw, fees=1), QUERY)
    assert not allowed(frame(raw, deadline=2), QUERY)
    assert not allowed(frame(raw, actions=0), QUERY)


def test_limits_on_one_kind_of_action() -> None:
    other = Action(ActionKind.WRITE, 1)
    f = frame(op("a", promises=ASK), op("b"), writes=1, queries=0)
    belief = initial(f)
    assert not admissible(f, belief, QUERY)
    assert admissible(f, belief, other)
    belief = update(f, belief, WRITE, f.step(belief.members[0][0], WRITE, 0)[1])
    assert not admissible(f, belief, other)
    assert admissible(f, belief, WAIT)


def test_an_operation_approves_so_many_attempts() -> None:
    failing = [{"id": "x", "writes": [{"ok": False, "reply": "failed"}]}]
    f = frame(op("a", attempts=1, alternatives=failing))
    belief = initial(f)
    assert admissible(f, belief, WRITE)
    belief = update(f, belief, WRITE, f.step(belief.members[0][0], WRITE, 0)[1])
    assert not admissible(f, belief, WRITE)
    assert not allowed(frame(op("a", attempts=0)))


def test_what_is_approved_at_all() -> None:
    f = frame(op("a", goal=0, promises={"reversible": True}), op("b"))
    names = [a.name(f.task) for a in actions(f)]
    assert names == ["undo a", "write b", "wait 1", "hand over"]


def test_nothing_after_a_handover() -> None:
    f = frame(op("a", alternatives=[DONE]))
    over = initial(f)._replace(handed_over=True)
    assert permitted(f, over) == []
    assert not certified(f, over)
    assert certified(f, initial(f))


# -- the certificate ---------------------------------------------------------------------------------------


def of(*past: Raw, effect: str = "replace") -> bool:
    f = frame(
        op("a", effect=effect, promises={"reversible": True}, alternatives=[{"id": "x", "past": [*past]}])
    )
    return certified(f, initial(f))


def test_every_world_has_to_be_complete() -> None:
    f = frame(op("a", alternatives=[{**DONE, "weight": 2**40}, NOT]))
    assert not certified(f, initial(f))


@pytest.mark.parametrize("second", [3, 5])
def test_the_goal_has_to_hold_in_between_too(second: int) -> None:
    """An undo under way, and a write behind it that restores the goal: at another moment, or at the same."""
    undo, write = {"commit_at": 3, "kind": "undo"}, {"commit_at": second}
    assert not of({"commit_at": 0}, undo, write)
    assert of({"commit_at": 0}, write)


def test_what_comes_of_unknown_time_certifies_nothing() -> None:
    assert not of({"commit_at": 0}, {"commit_at": None})


def test_what_is_to_come_is_not_there_yet() -> None:
    assert not of({"commit_at": 2})


def test_a_duplicate_to_come_is_no_completion() -> None:
    assert not of({"commit_at": 0}, {"commit_at": 4}, effect="append")
    assert of({"commit_at": 0}, {"commit_at": 4}, effect="replace")


def test_hazards_are_counted_and_never_played() -> None:
    f = frame(op("a", alternatives=[{"id": "x", "past": [{"commit_at": 0}, {"commit_at": None}]}]))
    assert hazards(f, initial(f).members[0][0]) == (0, 1, 0, 0)


def test_the_hazard_of_an_unmet_dependency() -> None:
    """Of an effect of unknown time whose dependency is not met, or may not be by then."""
    for first, hazard in ((NOT, 1), (UNKNOWN, 1), (DONE, 0)):
        f = frame(op("a", alternatives=[first]), op("b", after=["a"], alternatives=[UNKNOWN]))
        assert hazards(f, initial(f).members[0][0])[2] == hazard
