"""A world made from contracts: what satisfies an effect, how facts move, and messages that say so."""

from __future__ import annotations

from types import SimpleNamespace as Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.fields import get_field
from adf_ea_ros.contracts.model import Route
from adf_ea_ros.sim.plant import Plant, satisfying
from adf_ea_ros.sim.readback import first_value, obstacle, write

GTE, LTE, GT, LT, EQ = Operator.GTE, Operator.LTE, Operator.GT, Operator.LT, Operator.EQ


def condition(*clauses):
    return Condition("s1", "temperature", tuple(Clause(op, bound) for op, bound in clauses))


@pytest.mark.parametrize(
    ("clauses", "value"),
    [
        ([(EQ, True)], True),
        ([(EQ, "open")], "open"),
        ([(GTE, 79.0), (LTE, 81.0)], 80.0),
        ([(GTE, 79.0)], 79.0),
        ([(LTE, 81)], 81),
        ([(GT, 2.0), (LT, 1.0)], None),
        ([(EQ, 3.0), (GT, 5.0)], None),
    ],
)
def test_a_value_that_satisfies_an_effect(clauses, value):
    assert satisfying(condition(*clauses)) == value


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(0.1, 1e6),
    lower=st.sampled_from([GT, GTE]),
    upper=st.sampled_from([LT, LTE]),
)
def test_whatever_is_given_satisfies(low, width, lower, upper):
    for clauses in ([(lower, low)], [(upper, low)], [(lower, low), (upper, low + width)]):
        found = satisfying(condition(*clauses))
        assert found is None or condition(*clauses).test(found)
    assert satisfying(condition((lower, low))) is not None


def test_numbers_move_evenly_and_everything_else_changes_at_the_end():
    plant = Plant()
    plant.facts |= {("arm", "elbow"): 0.0, ("door", "open"): False}
    motion = plant.begin({("arm", "elbow"): 1.0, ("door", "open"): True, ("new", "fact"): 5}, 2.0)
    plant.step(0.5)
    assert plant.facts["arm", "elbow"] == pytest.approx(0.25)
    plant.step(0.5)
    assert plant.facts["arm", "elbow"] == pytest.approx(0.5)
    assert plant.facts["door", "open"] is False
    assert not motion.done
    plant.step(5.0)
    assert motion.done
    assert plant.facts == {("arm", "elbow"): 1.0, ("door", "open"): True, ("new", "fact"): 5}
    assert plant.subjects("open") == ["door"]


def test_a_stopped_motion_stays_and_a_later_one_takes_over():
    plant = Plant()
    plant.facts["arm", "elbow"] = 0.0
    first = plant.begin({("arm", "elbow"): 10.0}, 10.0)
    plant.step(1.0)
    second = plant.begin({("arm", "elbow"): 0.0}, 1.0)
    plant.step(0.5)
    assert plant.facts["arm", "elbow"] == pytest.approx(0.5)
    second.stop()
    plant.step(20.0)
    assert plant.facts["arm", "elbow"] == pytest.approx(0.5)
    assert first.done  # it ends in its time, and moves nothing


def route(**changes):
    values = {
        "topic": "/t",
        "type": "p/msg/T",
        "path": "temperature",
        "subject": {"field": "frame"},
        "value": {"field": "value"},
    }
    return Route.model_validate({**values, **changes})


def test_a_message_says_what_the_route_reads():
    message = Message(frame="", value=0.0, sample="")
    given_route = route(
        correlation={"sample": "sample"}, derive={"kind": "number", "scale": 2.0, "offset": 1.0}
    )
    write(message, given_route, "s1", 21.0, {"sample": "s1"})
    assert vars(message) == {"frame": "s1", "value": 10.0, "sample": "s1"}
    assert first_value(given_route, Message(value=3.0)) == 7.0


def test_words_are_written_for_what_they_mean():
    locked = route(value={"field": "state", "map": {"1": False, "2": True}}, subject={"const": "door"})
    message = Message(state=0)
    write(message, locked, "door", True, {})
    assert message.state == 2
    assert first_value(locked, Message(state=1)) is False
    assert first_value(locked, Message(state=7)) is False  # it has no meaning: the first that has one
    switch = route(
        value={"field": "on", "map": {"true": "closed", "false": "open"}}, subject={"const": "door"}
    )
    message = Message(on=False)
    write(message, switch, "door", "closed", {})
    assert message.on is True


def test_elements_that_are_found_by_a_name_are_added_with_it():
    message = Message(name=[], position=[])
    for joint, value in (("elbow", 0.5), ("wrist", 1), ("elbow", 0.75)):
        path = f"position[name={joint}]"
        write(message, route(value={"field": path}, subject={"const": "arm"}), "arm", value, {})
        assert get_field(message, path) == value
    assert message.name == ["elbow", "wrist"]
    assert first_value(route(value={"field": "position[name=hip]"}), message) == 0.0


@pytest.mark.parametrize(
    ("derive", "works"),
    [
        (None, True),
        ({"kind": "number", "scale": 2.0}, True),
        ({"kind": "number", "since_dispatch": True}, False),
        ({"kind": "norm"}, False),
        ({"kind": "yaw"}, False),
    ],
)
def test_what_cannot_be_turned_back_is_said(derive, works):
    assert (obstacle(route(derive=derive)) == "") == works
