"""From a native goal back to arguments, and what a goal says beyond them."""

from __future__ import annotations

import math
import struct
from types import SimpleNamespace

import pytest

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.fields import FieldError, set_field
from adf_ea_ros.contracts.gates import contradicted, excess, read_arguments, rebuild, sources
from adf_ea_ros.contracts.loader import read_text
from adf_ea_ros.contracts.model import CapabilityContract, Gate, Tool


class Message:
    """A ROS message, as far as the mapping looks at it."""

    def __init__(self, kinds: dict[str, str], **values: object) -> None:
        self.__dict__.update(values)
        self._kinds = kinds

    def get_fields_and_field_types(self) -> dict[str, str]:
        return self._kinds


def point(x: float = 0.0, y: float = 0.0) -> Message:
    return Message({"x": "double", "y": "double"}, x=x, y=y)


def quaternion(z: float = 0.0, w: float = 1.0) -> Message:
    return Message(dict.fromkeys("xyzw", "double"), x=0.0, y=0.0, z=z, w=w)


def goal(**more: object) -> Message:
    fields = {
        "frame": "",
        "at": point(),
        "facing": quaternion(),
        "behavior": "",
        "widths": [0.0, 0.0],
        "speed": 0.0,
    }
    kinds = {"frame": "string", "at": "x/Point", "facing": "x/Quaternion", "behavior": "string"}
    return Message({**kinds, "widths": "sequence<float>", "speed": "float"}, **{**fields, **more})


TOOL = Tool(
    kind="action",
    name="/hardware/move",
    type="x_msgs/action/Move",
    provides="move",
    arguments={"at.x": "x", "at.y": "y", "widths[0]": "width", "widths[1]": "width"},
    yaw={"facing": "heading"},
    constants={"frame": "map"},
    accepts={"robot": ("one",)},
)
CAPABILITY = read_text(
    """
spec: adf_ea_ros/1
kind: capability
id: move
version: 1.0.0
subject: "{robot}"
parameters:
  robot: {type: string, pattern: "[a-z]+"}
  x: {type: number}
  y: {type: number}
  heading: {type: number, unit: rad, minimum: -4, maximum: 4}
  width: {type: number, minimum: 0, maximum: 0.085}
  speed: {type: number, default: 0.5}
effects:
  there: {kind: state, condition: {path: pose/x, eq: 1}}
evidence:
  seen: {effect: there, role: SAME_PROVIDER, max_age: 1 s}
interruption:
  effect_absent: [stop]
  evidence_insufficient: [stop]
  evidence_conflicting: [stop]
  outcome_unknown: [stop]
  provider_unavailable: [stop]
  state_lost: [stop]
"""
).contracts[0]


def gate(**more: object) -> Gate:
    given = {"spec": "adf_ea_ros/1", "kind": "gate", "id": "move_gate", "version": "1.0.0", "name": "/move"}
    return Gate.model_validate({**given, "provider": "base", "task": "any", "redundant": "reject", **more})


def arguments(message: Message, **more: object) -> dict[str, object]:
    assert isinstance(CAPABILITY, CapabilityContract)
    return read_arguments(message, sources(gate(**more), TOOL, CAPABILITY))


def full() -> Message:
    half = 0.25
    return goal(
        frame="map",
        at=point(1.5, -2.0),
        facing=quaternion(math.sin(half), math.cos(half)),
        widths=[0.02, 0.02],
    )


def test_the_way_back_is_the_inverse_of_the_way_there() -> None:
    found = arguments(full())
    assert found == {"robot": "one", "x": 1.5, "y": -2.0, "heading": pytest.approx(0.5), "width": 0.02}
    assert excess(full(), rebuild(goal(), TOOL, found)) == ""


def test_a_gate_may_take_them_from_elsewhere() -> None:
    found = arguments(goal(speed=2.0), fields={"x": "speed"}, arguments={"y": 7.0})
    assert (found["x"], found["y"]) == (2.0, 7.0)


def test_a_number_from_a_narrow_field_is_the_one_that_was_written() -> None:
    (narrow,) = struct.unpack("f", struct.pack("f", 0.085))
    assert narrow > 0.085  # the contract would refuse it
    assert arguments(goal(widths=[narrow, narrow]))["width"] == 0.085
    assert math.isnan(arguments(goal(widths=[math.nan, math.nan]), fields={"width": "widths[0]"})["width"])
    assert arguments(goal(at=point(narrow)))["x"] == narrow  # a wide field says what it says


def test_fields_that_mean_one_argument_must_agree() -> None:
    with pytest.raises(FieldError, match=r"widths\[0\] and widths\[1\] mean one argument, and differ"):
        arguments(goal(widths=[0.02, 0.03]))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"x": "at"}, "'at' is a Message, not a single value"),
        ({"x": "widths[7]"}, r"has no 'widths\[7\]'"),
        ({"x": "nowhere"}, "has no 'nowhere'"),
    ],
)
def test_what_holds_no_value_is_no_argument(fields: dict[str, str], error: str) -> None:
    with pytest.raises(FieldError, match=error):
        arguments(goal(), fields=fields)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("behavior", "fast"),
        ("speed", 1.0),
        ("frame", "odom"),
        ("facing.x", 0.5),
        ("widths[1]", 0.03),
        ("at.y", True),
    ],
)
def test_what_a_goal_says_beyond_its_arguments_is_found(path: str, value: object) -> None:
    sent = full()
    set_field(sent, path, value)  # type: ignore[arg-type]
    assert excess(sent, full()) == path
    assert excess(sent, full(), (path,)) == ""
    assert excess(sent, full(), (path.partition(".")[0].partition("[")[0],)) == ""


def test_lists_of_other_length_are_another_goal() -> None:
    sent = full()
    sent.widths.append(0.0)
    assert excess(sent, full()) == "widths"


def test_numbers_are_equal_as_far_as_they_can_be() -> None:
    sent = full()
    sent.at.x += 1e-9
    assert excess(sent, full()) == ""
    sent.at.x = "1.5"
    assert excess(sent, full()) == "at.x"


def test_what_the_mapping_fixes_is_not_the_clients_to_say() -> None:
    assert contradicted(full(), TOOL) == ""
    assert contradicted(goal(frame="odom"), TOOL) == "frame"
    assert contradicted(goal(frame="odom"), TOOL, ("frame",)) == ""
    assert contradicted(SimpleNamespace(), TOOL) == "frame"


def test_the_shipped_gate_is_in_the_catalog() -> None:
    from pathlib import Path

    config = Path(__file__).parents[2] / "config"
    catalog = Catalog.load([config / name for name in ("contracts", "providers", "gates")])
    assert [one.name for one in catalog.gates()] == ["/bench/heat"]
