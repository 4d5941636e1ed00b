"""From messages to observations, as routes declare; and on to a verdict."""

from types import SimpleNamespace as Message

import msgspec
import pytest

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Grade, Role, Route
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.reader import RouteReader
from adf_ea_ros.evidence.readings import Unreadable
from adf_ea_ros.evidence.types import Context, Requirement, Verdict

S = 1_000_000_000
BASE = {
    "topic": "/rig/probe/temperature",
    "type": "sensor_msgs/msg/Temperature",
    "path": "temperature",
    "subject": {"field": "header.frame_id"},
    "value": {"field": "temperature"},
    "stamp": "header.stamp",
    "correlation": {"sample": "header.frame_id"},
}


def reader(**changes):
    return RouteReader("probe/temperature", Route.model_validate(BASE | changes))


def temperature(value=80.0, sec=105, frame="s1", **fields):
    return Message(
        header=Message(frame_id=frame, stamp=Message(sec=sec, nanosec=0)), temperature=value, **fields
    )


def read(route, message, **changes):
    given = {"source": "probe", "received": 106 * S, "publisher": "gid", "sequence": 4}
    return route.read(message, **(given | changes))


def test_everything_the_route_declares():
    sample = read(reader(grade="high"), temperature())
    assert (sample.route, sample.source, sample.subject) == ("probe/temperature", "probe", "s1")
    assert (sample.path, sample.value, sample.stamp, sample.received) == (
        "temperature",
        80.0,
        105 * S,
        106 * S,
    )
    assert (sample.sequence, sample.publisher, sample.grade) == (4, "gid", Grade.HIGH)
    assert sample.fields == (("sample", "s1"),)
    assert not sample.relative


def test_occurrence_is_the_publication_where_the_publisher_is_known():
    one, again, other = (read(reader(), temperature(), sequence=n) for n in (4, 4, 5))
    assert one.id == again.id != other.id


def test_occurrence_is_the_measurement_where_the_message_names_its_producer():
    named = reader(producer="serial")
    one = read(named, temperature(serial="A7"), sequence=4)
    again = read(named, temperature(serial="A7"), sequence=9, publisher="another")
    later = read(named, temperature(serial="A7", sec=106), sequence=10)
    assert one.id == again.id != later.id
    assert one.producer == "A7"


def test_without_publisher_ids_restarted_numbering_is_told_apart_by_the_instant():
    before = read(reader(), temperature(sec=100), publisher="", sequence=1)
    after = read(reader(), temperature(sec=105), publisher="", sequence=1)
    assert before.id != after.id


def test_the_middlewares_time_only_where_no_field_is_named():
    assert read(reader(), temperature(), sent=1).stamp == 105 * S
    assert read(reader(stamp=""), temperature(), sent=104 * S).stamp == 104 * S
    for sent in (None, 0, -1):
        with pytest.raises(Unreadable, match=r"E\.no_stamp"):
            read(reader(stamp=""), temperature(), sent=sent)


def test_an_unset_stamp_makes_no_observation():
    with pytest.raises(Unreadable, match=r"E\.no_stamp"):
        read(reader(), temperature(sec=0))


def test_a_missing_correlation_field_makes_no_observation():
    with pytest.raises(Unreadable, match=r"E\.no_value"):
        read(reader(correlation={"run": "run_id"}), temperature())


def test_enumerations_get_names_and_unnamed_values_none():
    gripper = reader(value={"field": "state", "map": {"0": "open", "1": "closed", "true": "held"}})
    assert read(gripper, temperature(state=1)).value == "closed"
    assert read(gripper, temperature(state=True)).value == "held"
    with pytest.raises(Unreadable) as caught:
        read(gripper, temperature(state=7))
    assert caught.value.code == "E.unnamed"


def test_constants():
    fixed = reader(subject={"const": "door"}, value={"const": True})
    sample = read(fixed, temperature())
    assert (sample.subject, sample.value) == ("door", True)


def test_a_derived_reading_needs_a_field_and_no_map():
    for value in ({"const": 1.0}, {"field": "state", "map": {"0": "open"}}):
        with pytest.raises(ValueError, match="derived reading"):
            reader(value=value, derive={"kind": "number"})


def test_lifted_by_ten_centimetres_since_the_dispatch():
    """A change is judged against the value at the dispatch, not against zero, and not without that value."""
    route = reader(
        path="height", value={"field": "pose.position.z"}, derive={"kind": "number", "since_dispatch": True}
    )
    buffer = RouteBuffer("probe/temperature")

    def at(sec, height):
        message = temperature(sec=sec, pose=Message(position=Message(z=height)))
        assert buffer.add(read(route, message, received=sec * S, sequence=sec)) is None

    at(99, 0.71)
    baseline = buffer.newest("s1", "height").value
    at(105, 0.79)
    lifted = Condition("s1", "height", (Clause(Operator.GTE, 0.1),))
    wanted = Requirement("lifted", lifted, Role.INDEPENDENT_SENSOR, ("probe/temperature",), 20 * S)
    context = Context("arm", 100 * S, baseline=(("s1", "height", baseline),))
    buffers = {"probe/temperature": buffer}
    assert qualify_routes(wanted, context, buffers, 106 * S).finding.negative
    at(107, 0.82)
    assert qualify_routes(wanted, context, buffers, 107 * S).verdict is Verdict.UNKNOWN  # 0.79 is still fresh
    at(130, 0.82)
    assert qualify_routes(wanted, context, buffers, 130 * S).verdict is Verdict.SATISFIED
    unknown = msgspec.structs.replace(context, baseline=())
    finding = qualify_routes(wanted, unknown, buffers, 130 * S).finding
    assert finding.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "E.no_baseline" in finding.reasons
