"""Readings of ROS's own message classes, whose arrays are array.array and numpy arrays. Needs no node."""

import math

import pytest
from pydantic import TypeAdapter

from adf_ea_ros.contracts.model import Route
from adf_ea_ros.contracts.readings import Derivation
from adf_ea_ros.evidence.reader import RouteReader
from adf_ea_ros.evidence.readings import Unreadable, reading

geometry = pytest.importorskip("geometry_msgs.msg", reason="needs ROS messages")
sensor = pytest.importorskip("sensor_msgs.msg", reason="needs ROS messages")


def derive(**fields):
    return TypeAdapter(Derivation).validate_python(fields)


@pytest.mark.ros
def test_joints():
    message = sensor.JointState(name=["shoulder", "elbow"], position=[0.5, -1.25], effort=[math.nan, 3.0])
    assert reading("position[name=elbow]")(message) == -1.25
    assert reading("effort[name=elbow]")(message) == 3.0
    assert reading("position", derive(kind="norm"))(message) == pytest.approx(math.hypot(0.5, 1.25))
    for path in ("position[name=wrist]", "velocity[name=elbow]", "effort[name=shoulder]", "position"):
        with pytest.raises(Unreadable):
            reading(path)(message)
    with pytest.raises(Unreadable):
        reading("velocity", derive(kind="norm"))(message)


@pytest.mark.ros
def test_poses():
    message = geometry.PoseStamped()
    message.pose.position.x, message.pose.position.y = 3.0, 4.0
    message.pose.orientation.z, message.pose.orientation.w = math.sin(0.25), math.cos(0.25)
    assert reading("pose.position", derive(kind="distance", to=[0.0, 0.0, 0.0]))(message) == 5.0
    assert reading("pose.orientation", derive(kind="yaw"))(message) == pytest.approx(0.5)
    assert reading("pose.orientation", derive(kind="angle", to={"w": 1.0}))(message) == pytest.approx(0.5)
    assert (
        reading("pose.orientation", derive(kind="yaw"))(geometry.PoseStamped()) == 0.0
    )  # ROS's default: w is 1


@pytest.mark.ros
def test_covariances_and_ranges():
    """Fixed arrays are numpy arrays; a sensor that sees nothing reports infinity."""
    covariance = geometry.PoseWithCovariance(covariance=[0.5] + [0.0] * 35)
    assert reading("covariance[0]")(covariance) == 0.5
    with pytest.raises(Unreadable):
        reading("range")(sensor.Range(range=math.inf))


@pytest.mark.ros
def test_a_temperature_with_its_header():
    route = Route.model_validate(
        {
            "topic": "/probe/temperature",
            "type": "sensor_msgs/msg/Temperature",
            "path": "temperature",
            "subject": {"field": "header.frame_id"},
            "value": {"field": "temperature"},
            "stamp": "header.stamp",
        }
    )
    message = sensor.Temperature(temperature=80.5)
    message.header.frame_id = "s1"
    read = RouteReader("probe/temperature", route).read
    with pytest.raises(Unreadable, match="not set"):
        read(message, source="probe", received=9)
    message.header.stamp.sec, message.header.stamp.nanosec = 5, 7
    sample = read(message, source="probe", received=6_000_000_000)
    assert (sample.subject, sample.value, sample.stamp) == ("s1", 80.5, 5_000_000_007)
