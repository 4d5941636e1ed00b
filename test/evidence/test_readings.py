"""Values from messages: every kind that robots report, and that nothing unreadable passes for a value."""

import math
from types import SimpleNamespace as Message

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from adf_ea_ros.contracts.readings import Derivation
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.readings import (
    Unreadable,
    angle,
    number,
    reading,
    rotation,
    scalar,
    stamp,
    vector,
    wrap,
    yaw,
)

HALF = math.sqrt(0.5)


def derive(**fields):
    return TypeAdapter(Derivation).validate_python(fields)


def xyz(x, y, z):
    return Message(x=x, y=y, z=z)


def turned(about_z):
    return Message(x=0.0, y=0.0, z=math.sin(about_z / 2), w=math.cos(about_z / 2))


def pose(x=0.0, y=0.0, z=0.0, turn=0.0):
    return Message(pose=Message(position=xyz(x, y, z), orientation=turned(turn)), goal=xyz(3.0, 4.0, 0.0))


JOINTS = Message(
    name=["shoulder", "elbow"], position=[0.1, -1.2], velocity=[], effort=np.array([5.0, np.nan])
)


@pytest.mark.parametrize(
    ("message", "path", "value"),
    [
        (Message(data=True), "data", True),
        (Message(data=False), "data", False),
        (Message(status=4), "status", 4),
        (Message(temperature=80.5), "temperature", 80.5),
        (Message(data="OPEN"), "data", "OPEN"),
        (Message(data=b"\x07"), "data", 7),  # what a field of type byte looks like
        (Message(data=np.array([1.5, 2.5], dtype=np.float32)), "data[1]", 2.5),
        (Message(data=np.array([3], dtype=np.uint8)), "data[0]", 3),
        (Message(data=np.array([True])), "data[0]", True),
        (JOINTS, "position[name=elbow]", -1.2),
        (JOINTS, "effort[name=shoulder]", 5.0),
        (pose(1.0, 2.0, 3.0), "pose.position.z", 3.0),
    ],
)
def test_plain_values(message, path, value):
    found = reading(path)(message)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("message", "path", "code"),
    [
        (Message(temperature=math.nan), "temperature", reasons.NOT_A_VALUE),
        (Message(temperature=math.inf), "temperature", reasons.NOT_A_VALUE),
        (Message(temperature=-math.inf), "temperature", reasons.NOT_A_VALUE),
        (Message(data=np.array([np.nan])), "data[0]", reasons.NOT_A_VALUE),
        (Message(), "temperature", reasons.NO_VALUE),
        (Message(temperature=None), "temperature", reasons.NO_VALUE),
        (Message(data=[]), "data[0]", reasons.NO_VALUE),
        (Message(data=[1.0]), "data[1]", reasons.NO_VALUE),
        (Message(data=[1.0]), "data", reasons.NO_VALUE),
        (Message(data=b""), "data", reasons.NO_VALUE),
        (JOINTS, "position[name=wrist]", reasons.NO_VALUE),
        (JOINTS, "velocity[name=elbow]", reasons.NO_VALUE),
        (JOINTS, "effort[name=elbow]", reasons.NOT_A_VALUE),
        (pose(), "pose.position", reasons.NO_VALUE),
        (pose(), "pose.speed.x", reasons.NO_VALUE),
    ],
)
def test_what_cannot_be_read_is_refused_and_never_zero(message, path, code):
    with pytest.raises(Unreadable) as caught:
        reading(path)(message)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("path", "how", "message", "value"),
    [
        ("pose.position", {"kind": "norm"}, pose(2.0, 3.0, 6.0), 7.0),
        ("data", {"kind": "norm"}, Message(data=np.array([3.0, 4.0])), 5.0),
        ("pose.position", {"kind": "distance", "to": [1.0, 1.0, 1.0]}, pose(3.0, 4.0, 7.0), 7.0),
        ("pose.position", {"kind": "distance", "to": [1.0, 1.0]}, pose(4.0, 5.0, 99.0), 5.0),
        ("pose.position", {"kind": "distance", "to_field": "goal"}, pose(0.0, 0.0, 0.0), 5.0),
        ("pose.orientation", {"kind": "yaw"}, pose(turn=1.0), 1.0),
        ("pose.orientation", {"kind": "yaw", "zero": 3.0}, pose(turn=-3.0), 2 * math.pi - 6.0),
        ("pose.orientation", {"kind": "yaw", "scale": 180 / math.pi}, pose(turn=math.pi / 2), 90.0),
        ("pose.orientation", {"kind": "angle", "to": {"w": 1.0}}, pose(turn=0.3), 0.3),
        ("pose.orientation", {"kind": "angle", "to": {"w": -1.0}}, pose(turn=0.3), 0.3),  # the same rotation
        ("pose.orientation", {"kind": "angle", "to": {"w": HALF, "x": HALF}}, pose(), math.pi / 2),
        ("pose.orientation", {"kind": "angle", "to_field": "pose.orientation"}, pose(turn=2.0), 0.0),
        ("pose.position.x", {"kind": "number", "scale": 1000.0}, pose(0.25), 250.0),  # m to mm
        (
            "temperature",
            {"kind": "number", "offset": -273.15},
            Message(temperature=353.15),
            80.0,
        ),  # K to degC
        ("range", {"kind": "number", "since_dispatch": True}, Message(range=2.0), 2.0),
    ],
)
def test_derived_readings(path, how, message, value):
    assert reading(path, derive(**how))(message) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("path", "how", "message"),
    [
        ("pose.position", {"kind": "norm"}, pose(math.nan)),
        ("data", {"kind": "norm"}, Message(data=[])),
        ("data", {"kind": "norm"}, Message(data=["a"])),
        ("data", {"kind": "norm"}, Message(data=[True, False])),
        ("data", {"kind": "norm"}, Message(data=3.0)),
        ("data", {"kind": "distance", "to": [0.0, 0.0, 0.0]}, Message(data=[1.0, 2.0])),
        ("pose.position", {"kind": "distance", "to_field": "target"}, pose()),
        ("pose.position", {"kind": "distance", "to_field": "goal.x"}, pose()),
        (
            "pose.orientation",
            {"kind": "yaw"},
            Message(pose=Message(orientation=Message(x=0.0, y=0.0, z=0.0, w=0.0))),
        ),
        (
            "pose.orientation",
            {"kind": "yaw"},
            Message(pose=Message(orientation=Message(x=0.0, y=HALF, z=0.0, w=HALF))),
        ),
        (
            "pose.orientation",
            {"kind": "angle", "to": {"w": 1.0}},
            Message(pose=Message(orientation=xyz(0.0, 0.0, 0.0))),
        ),
        ("data", {"kind": "number"}, Message(data=True)),
        ("data", {"kind": "number"}, Message(data="80")),
        ("data", {"kind": "number", "scale": 1e300}, Message(data=1e300)),
    ],
)
def test_what_cannot_be_derived_is_refused(path, how, message):
    with pytest.raises(Unreadable):
        reading(path, derive(**how))(message)


@pytest.mark.parametrize(
    "how",
    [
        {"kind": "distance"},
        {"kind": "distance", "to": [1.0, 2.0], "to_field": "goal"},
        {"kind": "distance", "to": [1.0]},
        {"kind": "distance", "to": [1.0, math.nan]},
        {"kind": "angle"},
        {"kind": "angle", "to": {"w": 0.0}},
        {"kind": "angle", "to": {"w": 1.0, "x": 1.0}},
        {"kind": "number", "scale": 0.0},
        {"kind": "norm", "to": [1.0, 2.0]},
        {"kind": "guess"},
    ],
)
def test_derivations_that_mean_nothing_are_refused_at_load(how):
    with pytest.raises(ValidationError):
        derive(**how)


@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1))
def test_angle_and_yaw_agree_for_turns_about_z(one, other):
    first, second = rotation(turned(one)), rotation(turned(other))
    assert yaw(first) == pytest.approx(one, abs=1e-9)
    assert angle(first, second) == pytest.approx(abs(wrap(one - other)), abs=1e-7)
    assert angle(first, second) == pytest.approx(angle(second, first), abs=1e-12)


@pytest.mark.parametrize("length", [0.0, 0.5, 1.5])
def test_a_quaternion_of_another_length_is_no_rotation(length):
    with pytest.raises(Unreadable, match="is not a rotation"):
        rotation(Message(x=0.0, y=0.0, z=0.0, w=length))
    assert rotation(Message(x=0.0, y=0.0, z=0.0, w=1.004)).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_small_angles_keep_their_digits():
    assert angle(rotation(turned(0.0)), rotation(turned(1e-9))) == pytest.approx(1e-9, rel=1e-6)


def test_wrap_is_within_half_a_turn():
    assert wrap(3 * math.pi) == pytest.approx(math.pi)
    assert wrap(-math.pi) == math.pi
    assert -math.pi < wrap(100.0) <= math.pi


@given(
    st.one_of(
        st.floats(), st.integers(), st.booleans(), st.text(), st.none(), st.binary(), st.lists(st.floats())
    )
)
def test_a_scalar_is_always_a_value_or_refused(thing):
    single = isinstance(thing, (bool, int, str)) or (isinstance(thing, bytes) and len(thing) == 1)
    if single or (isinstance(thing, float) and math.isfinite(thing)):
        assert scalar(thing) == (thing[0] if isinstance(thing, bytes) else thing)
        return
    with pytest.raises(Unreadable):
        scalar(thing)


def test_numbers_and_vectors_take_no_truth_values():
    with pytest.raises(Unreadable):
        number(np.bool_(True))
    assert vector(Message(x=1, y=2)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("thing", "time"),
    [
        (Message(sec=12, nanosec=345), 12_000_000_345),
        (12_000_000_345, 12_000_000_345),
        (12.5, 12_500_000_000),
        (np.float64(0.25), 250_000_000),
    ],
)
def test_stamps(thing, time):
    assert stamp(thing) == time


@pytest.mark.parametrize("thing", [Message(sec=0, nanosec=0), 0, -3, True, "12", math.nan, Message(sec=1)])
def test_an_unset_stamp_is_no_time(thing):
    with pytest.raises(Unreadable) as caught:
        stamp(thing)
    assert caught.value.code in {reasons.NO_STAMP, reasons.NOT_A_VALUE, reasons.NO_VALUE}
