"""How a world goes on: order, keys, authorization, visibility, compensation, sentinels."""

from __future__ import annotations

import pytest
from tasks import ASK, DONE, NOT, UNKNOWN, frame, op

from adf_ea_ros.recovery.belief import initial
from adf_ea_ros.recovery.model import HAND_OVER, Action, ActionKind
from adf_ea_ros.recovery.world import NEVER, Frame, Observation, World, begin

WRITE, UNDO, QUERY, WAIT = (
    Action(kind, 0) for kind in (ActionKind.WRITE, ActionKind.UNDO, ActionKind.QUERY, ActionKind.WAIT)
)
UNAUTHORIZED, DUPLICATE, DEPENDENCY, COMPENSATION = range(4)


def only(f: Frame) -> World:
    (world, _), *more = initial(f).members
    assert not more
    return world


def run(f: Frame, *actions: Action) -> tuple[World, Observation]:
    """The only world of a task after these actions, and the last observation."""
    world, now, seen = only(f), 0, Observation("", "", "", 0, "")
    for action in actions:
        world, seen = f.step(world, action, now)
        now = seen.time
    return world, seen


def test_an_append_twice_is_a_duplicate_and_a_replacement_is_not() -> None:
    twice, _ = run(frame(op("a", alternatives=[DONE])), WRITE)
    assert (twice.things[0].amount, twice.breaches[DUPLICATE]) == (2, 1)
    same, _ = run(frame(op("a", effect="replace", alternatives=[DONE])), WRITE)
    assert (same.things[0].amount, same.breaches[DUPLICATE]) == (1, 0)


def test_copies_beyond_the_first_are_duplicates_too() -> None:
    world, _ = run(frame(op("a", alternatives=[{"id": "x", "writes": [{"copies": 3}]}])), WRITE)
    assert world.breaches[DUPLICATE] == 2


def test_the_last_outcome_repeats() -> None:
    writes = [{"ok": False, "reply": "failed"}, {"ok": True, "delay": 2, "reply": "lost"}]
    f = frame(op("a", effect="replace", alternatives=[{"id": "x", "writes": writes}]))
    assert run(f, WRITE)[1].status == "failed"
    assert run(f, WRITE, WRITE)[1].status == "lost"
    assert run(f, WRITE, WRITE, WRITE)[1].status == "lost"
    assert run(f, WRITE, WRITE)[0].things[0].amount == 0
    assert run(f, WRITE, WRITE, WAIT)[0].things[0].amount == 1


def test_a_key_protects_while_it_lives_and_not_a_moment_longer() -> None:
    past = {"id": "x", "past": [{"commit_at": -1, "accepted_at": -3}]}
    f = frame(op("a", key="k", promises={"key_lifetime": 5}, alternatives=[past]))
    world, seen = run(f, WAIT, WRITE)  # sent at 1, four after its acceptance
    assert (seen.status, seen.request, world.things[0].amount) == ("known", "k", 1)
    world, seen = run(f, WAIT, WAIT, WRITE)  # sent at 2
    assert (seen.status, world.breaches[DUPLICATE]) == ("done", 1)


def test_a_key_that_the_provider_did_not_keep_protects_nothing() -> None:
    past = {"id": "x", "past": [{"commit_at": 0, "keyed": False}]}
    world, _ = run(frame(op("a", key="k", promises={"key_lifetime": 9}, alternatives=[past])), WRITE)
    assert world.breaches[DUPLICATE] == 1


def test_a_request_that_was_refused_leaves_no_key() -> None:
    writes = {"id": "x", "writes": [{"ok": False, "reply": "lost"}, {}]}
    f = frame(op("a", key="k", promises={"key_lifetime": 9}, alternatives=[writes]))
    world, seen = run(f, WRITE, WRITE)
    assert (seen.status, world.things[0].amount) == ("done", 1)


def test_a_dependency_counts_when_the_effect_comes() -> None:
    later = {"id": "later", "past": [{"commit_at": 3}]}
    slow = {"id": "slow", "writes": [{"delay": 5}]}
    b = Action(ActionKind.WRITE, 1)
    early, _ = run(frame(op("a", alternatives=[later]), op("b", after=["a"])), b)
    assert early.breaches[DEPENDENCY] == 1
    f = frame(op("a", alternatives=[later]), op("b", after=["a"], alternatives=[slow]))
    assert f.settled(run(f, b)[0]).breaches[DEPENDENCY] == 0


@pytest.mark.parametrize(("names", "breaches"), [(("z", "a"), 0), (("a", "z"), 0)])
def test_equal_times_go_by_dependency_then_by_name(names: tuple[str, str], breaches: int) -> None:
    """Both come at 3; the first of the chain comes first whatever its name is."""
    at = [{"id": "x", "past": [{"commit_at": 3}]}]
    first, second = names
    f = frame(op(second, after=[first], alternatives=at), op(first, alternatives=at))
    assert f.settled(only(f)).breaches[DEPENDENCY] == breaches


def test_what_lies_before_is_played_in_its_order_of_time() -> None:
    """The child's effect came before its parent's: both are there now, and it was a violation."""
    f = frame(
        op("a", alternatives=[{"id": "x", "past": [{"commit_at": -1, "accepted_at": -5}]}]),
        op("b", after=["a"], alternatives=[{"id": "x", "past": [{"commit_at": -2, "accepted_at": -5}]}]),
    )
    world = only(f)
    assert [t.amount for t in world.things] == [1, 1]
    assert world.breaches[DEPENDENCY] == 1


@pytest.mark.parametrize(
    ("timing", "enforced", "breach", "amount"),
    [("acceptance", False, 0, 1), ("commit", False, 1, 1), ("commit", True, 0, 0)],
)
def test_authorization_by_its_timing(timing: str, enforced: bool, breach: int, amount: int) -> None:
    """Accepted at 0, effective at 4, authorized until 2."""
    f = frame(
        op(
            "a",
            authorized_until=2,
            promises={"authorization": timing, "enforced": enforced},
            alternatives=[{"id": "x", "past": [{"commit_at": 4}]}],
        )
    )
    settled = f.settled(only(f))
    assert (settled.breaches[UNAUTHORIZED], settled.things[0].amount) == (breach, amount)


def test_a_provider_that_enforces_refuses_what_comes_too_late() -> None:
    f = frame(op("a", authorized_until=0, promises={"enforced": True}))
    world, seen = run(f, WRITE)
    assert (seen.status, world.things[0].amount, world.breaches) == ("failed", 0, (0, 0, 0, 0))


def test_an_answer_shows_an_effect_once_it_is_visible() -> None:
    f = frame(
        op(
            "a",
            promises={"query": True, "visibility_delay": 3, "final": True},
            alternatives=[{**DONE, "visible_after": 3}],
        )
    )
    assert run(f, QUERY)[1][-2:] == (0, 0)
    assert run(f, WAIT, WAIT, QUERY)[1][-2:] == (1, 1)


def test_an_answer_that_counts_for_nothing_says_nothing() -> None:
    f = frame(op("a", promises={"query": True, "authoritative": False}, alternatives=[DONE]))
    assert run(f, QUERY)[1].status == "unusable"
    assert run(f, QUERY)[1].amount == -1


def test_finality_is_another_matter_than_the_present_amount() -> None:
    f = frame(op("a", promises={**ASK, "final": True}, alternatives=[UNKNOWN]))
    assert run(f, QUERY)[1][-2:] == (0, 0)
    f = frame(op("a", promises={**ASK, "final": True}, alternatives=[NOT]))
    assert run(f, QUERY)[1][-2:] == (0, 1)


def test_undoing_takes_one_of_what_appends_and_all_of_what_replaces() -> None:
    back = {"reversible": True}
    world, _ = run(frame(op("a", promises=back, alternatives=[DONE])), UNDO, UNDO)
    assert (world.things[0].amount, world.breaches[COMPENSATION]) == (0, 1)
    world, _ = run(frame(op("a", effect="replace", promises=back, alternatives=[DONE])), UNDO, UNDO)
    assert (world.things[0].amount, world.breaches[COMPENSATION]) == (0, 0)


@pytest.mark.parametrize("child", [DONE, UNKNOWN, {"id": "later", "past": [{"commit_at": 30}]}])
def test_undoing_below_what_rests_on_it_is_a_violation(child: dict[str, object]) -> None:
    f = frame(
        op("a", promises={"reversible": True}, alternatives=[DONE]),
        op("b", after=["a"], alternatives=[child]),
    )
    assert run(f, UNDO)[0].breaches[COMPENSATION] == 1


def test_a_repeated_undo_has_a_key_of_its_own() -> None:
    f = frame(
        op("a", key="k", promises={"reversible": True, "undo_key_lifetime": 9}, alternatives=[DONE]),
    )
    world, seen = run(f, UNDO, UNDO)
    assert (seen.status, world.breaches[COMPENSATION]) == ("known", 0)
    world, seen = run(f, UNDO, *[WAIT] * 8, UNDO)  # sent at 9, with the key from 0
    assert (seen.status, world.breaches[COMPENSATION]) == ("done", 1)


def test_a_sentinel_never_comes() -> None:
    f = frame(op("a", alternatives=[UNKNOWN]), waits=[{"fee": 0, "duration": 2**40}])
    world, _ = run(f, WAIT)
    assert [e.at for e in f.settled(world).things[0].pending] == [NEVER]
    assert world.things[0].amount == 0


def test_handing_over_takes_its_time() -> None:
    f = frame(op("a"), hand_over={"fee": 3, "duration": 7})
    assert f.step(begin(f, (0,)), HAND_OVER, 1)[1].time == 8


@pytest.mark.parametrize(("deadline", "met"), [(2, 0), (3, 1)])
def test_what_comes_after_the_deadline_is_not_met(deadline: int, met: int) -> None:
    f = frame(op("a", alternatives=[{"id": "x", "past": [{"commit_at": 3}]}]), deadline=deadline)
    assert f.met_in_time(only(f)) == met
