"""Fields of messages by path."""

from __future__ import annotations

import math
from types import SimpleNamespace as Message

import pytest

from adf_ea_ros.contracts.fields import FieldError, get_field, goal_fields, overlapping, set_field
from adf_ea_ros.contracts.model import Tool


def joints() -> Message:
    return Message(
        name=["shoulder", "elbow.left"], position=[0.5, 1.5], header=Message(frame_id="base"), count=2
    )


def test_get():
    assert get_field(joints(), "header.frame_id") == "base"
    assert get_field(joints(), "position[1]") == 1.5
    assert get_field(joints(), "position[name=elbow.left]") == 1.5
    nested = Message(inner=[Message(value=3)])
    assert get_field(nested, "inner[0].value") == 3


@pytest.mark.parametrize(
    "path",
    [
        "absent",
        "header.absent",
        "position[7]",
        "position[name=wrist]",
        "position[absent=x]",
        "count[0]",
        "a..b",
        "",
        "position[",
        "header.",
        "Header",
    ],
)
def test_get_refuses(path):
    with pytest.raises(FieldError):
        get_field(joints(), path)


def test_set():
    message = joints()
    set_field(message, "header.frame_id", "map")
    set_field(message, "position[name=shoulder]", 2)
    set_field(message, "count", 5)
    assert message.header.frame_id == "map"
    assert message.position == [2.0, 1.5]
    assert type(message.position[0]) is float
    assert message.count == 5
    for path in ("header.absent.x", "position[9]", "position[name=wrist]"):
        with pytest.raises(FieldError):
            set_field(message, path, 1.0)
    with pytest.raises(FieldError):
        set_field(object(), "anything", 1)


def test_overlapping():
    assert overlapping("a.b", "a")
    assert overlapping("a", "a")
    assert not overlapping("a.b", "a.c")
    assert not overlapping("ab", "a")


def test_goal_fields():
    tool = Tool.model_validate(
        {
            "kind": "action",
            "name": "/go",
            "type": "nav2_msgs/action/NavigateToPose",
            "provides": "navigate_to",
            "arguments": {"pose.pose.position.x": "x"},
            "yaw": {"pose.pose.orientation": "heading"},
            "constants": {"pose.header.frame_id": "map"},
            "promises": {"key_field": "request_id", "key_lifetime": "1 h"},
        }
    )
    fields = goal_fields(tool, {"x": 1.0, "heading": math.pi / 2, "other": 3}, key="e1.1")
    assert fields["pose.pose.position.x"] == 1.0
    assert fields["pose.header.frame_id"] == "map"
    assert fields["request_id"] == "e1.1"
    assert fields["pose.pose.orientation.z"] == pytest.approx(math.sqrt(0.5))
    assert fields["pose.pose.orientation.w"] == pytest.approx(math.sqrt(0.5))
    assert "other" not in fields.values()
