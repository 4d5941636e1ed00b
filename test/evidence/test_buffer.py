"""Route buffers: what they take, what they forget, and that their answers are those of the whole history."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence import buffer as module
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.qualify import qualify
from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement, Verdict

ROUTE = "probe/t"


def seen(number, *, time=None, **changes):
    time = number if time is None else time
    base = Observation(f"o{number}", ROUTE, "probe", "s1", "t", 80.0, time, time, "", number, publisher="g1")
    return msgspec.structs.replace(base, **changes)


def filled(count, **options):
    buffer = RouteBuffer(ROUTE, **options)
    for number in range(count):
        assert buffer.add(seen(number)) is None
    return buffer


def stamps(window):
    return [sample.stamp for sample in window.samples]


def test_newest_first_and_only_the_period():
    assert stamps(filled(10).window("s1", 6, 9)) == [9, 8, 7, 6]


def test_another_subject_is_not_in_the_window():
    buffer = filled(3)
    buffer.add(seen(3, subject="s2"))
    assert stamps(buffer.window("s1", 0, 3)) == [2, 1, 0]


def test_the_depth_is_per_subject_and_a_flood_evicts_no_other():
    buffer = filled(5, depth=5)
    for number in range(5, 1000):
        buffer.add(seen(number, subject="s2"))
    assert stamps(buffer.window("s1", 0, 1000)) == [4, 3, 2, 1, 0]
    assert len(buffer) == 10


def test_the_longest_silent_subject_gives_way_and_a_pinned_one_does_not():
    buffer = RouteBuffer(ROUTE, subjects=3)
    assert buffer.pin("s0")
    for number, subject in enumerate(["s0", "s1", "s2", "s1", "s3"]):
        assert buffer.add(seen(number, subject=subject)) is None
    assert [bool(buffer.window(s, 0, 9).samples) for s in ("s0", "s1", "s2", "s3")] == [
        True,
        True,
        False,
        True,
    ]
    assert len(buffer) == 4
    buffer.unpin("s0")
    buffer.add(seen(9, subject="s4"))
    assert not buffer.window("s0", 0, 9).samples


def test_no_room_where_all_are_pinned():
    buffer = RouteBuffer(ROUTE, subjects=1)
    assert buffer.pin("s1")
    assert not buffer.pin("s2")
    assert buffer.add(seen(1, subject="s2")) == "E.full"
    assert buffer.add(seen(2)) is None


def test_memory_is_bounded_under_every_flood():
    buffer = RouteBuffer(ROUTE, depth=4, subjects=3)
    for number in range(2000):
        buffer.add(seen(3 * number, subject=f"s{number % 50}", publisher=f"g{number % 200}"))
        buffer.add(
            seen(3 * number, time=3 * number, value=20.0, subject=f"s{number % 50}")
        )  # a second content
        buffer.add(seen(3 * number + 1, source="stranger", subject=f"x{number}"))
        buffer.note_gap(Gap(ROUTE, number, number, "E.lost", unknown=False))
    assert len(buffer) <= 12
    assert len(buffer._ids) == sum(len(each.samples) for each in buffer._subjects.values())
    assert len(buffer._subjects) <= 3
    assert len(buffer._publishers) <= module.PUBLISHERS
    assert len(buffer._gaps) <= module.GAPS
    assert all(len(each.conflicts) <= module.CONFLICTS for each in buffer._subjects.values())
    assert len(buffer.refusals) < 5


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        (seen(5, source="stranger"), "E.source"),
        (seen(5, route="probe/other"), "E.route"),
        (seen(5, stamp=6), "E.future"),
        (seen(2, time=5), "E.occurrence"),  # the same id with another stamp
        (seen(2, received=5), "E.duplicate"),
        (seen(5, sequence=2), "E.sequence"),
        (seen(5, sequence=1), "E.sequence"),
    ],
)
def test_what_is_refused_at_the_door(sample, code):
    buffer = filled(3)
    assert buffer.add(sample) == code
    assert len(buffer) == 3
    assert buffer.refusals[code].count == 1
    assert code in buffer.window(sample.subject, 0, 9).notes


def test_sequence_numbers_are_per_publisher():
    buffer = filled(3)
    assert buffer.add(seen(3, sequence=1, publisher="g2")) is None
    assert buffer.add(seen(4, sequence=1, publisher="g2")) == "E.sequence"


def test_without_publisher_ids_a_restart_must_be_told():
    buffer = RouteBuffer(ROUTE)
    buffer.add(seen(1, sequence=50, publisher=""))
    assert buffer.add(seen(2, sequence=1, publisher="")) == "E.sequence"
    buffer.publishers_changed()
    assert buffer.add(seen(3, sequence=2, publisher="")) is None


def test_a_jump_in_the_numbers_is_a_gap_and_an_unreadable_message_is_not():
    buffer = filled(2)
    buffer.unreadable("E.not_a_value", 2, publisher="g1", sequence=2)
    buffer.add(seen(3))
    assert buffer.window("s1", 0, 3).gaps == []
    assert "E.not_a_value" in buffer.window("s1", 0, 3).notes
    buffer.add(seen(7))
    lost = [Gap(ROUTE, 3, 7, "E.lost: 3", unknown=False)]
    assert buffer.window("s1", 0, 7).gaps == lost
    buffer.add(seen(8, stamp=9))  # refused, but it did arrive
    buffer.add(seen(9))
    assert buffer.window("s1", 0, 9).gaps == lost


def test_of_many_gaps_those_that_only_explain_are_forgotten_first():
    """A lossy sensor must not spread a reset of long ago over what it reports now."""
    buffer = RouteBuffer(ROUTE)
    for start in range(0, 1000, 10):
        buffer.note_gap(Gap(ROUTE, start, start + 1, "E.lost", unknown=start == 0))
    gaps = buffer.window("s1", 0, 1000).gaps
    assert len(gaps) == module.GAPS
    assert gaps[0] == Gap(ROUTE, 0, 1, "E.lost", unknown=True)
    assert gaps[-1].end == 991


def test_of_many_unknown_gaps_the_oldest_become_one():
    buffer = RouteBuffer(ROUTE)
    for start in range(0, 1000, 10):
        buffer.note_gap(Gap(ROUTE, start, start + 1, "E.silent", unknown=True))
    gaps = buffer.window("s1", 0, 1000).gaps
    assert len(gaps) == module.GAPS
    assert gaps[0] == Gap(ROUTE, 0, 361, "E.silent", unknown=True)


def test_both_contents_of_an_occurrence_are_met_whatever_their_subjects():
    wanted = Requirement("r", CONDITION, Role.INDEPENDENT_SENSOR, (ROUTE,), 10)
    buffer = filled(3)
    buffer.add(seen(2, time=3, subject="s2"))
    for subject in ("s1", "s2"):
        about = msgspec.structs.replace(wanted, condition=msgspec.structs.replace(CONDITION, subject=subject))
        assert qualify_routes(about, Context(), {ROUTE: buffer}, 4).finding.integrity
    for number in range(10, 2000):  # a flood later does not wash it away, time does
        buffer.add(seen(number, time=4))
    assert qualify_routes(wanted, Context(), {ROUTE: buffer}, 4).finding.integrity
    buffer.add(seen(5000, time=40))
    assert qualify_routes(wanted, Context(), {ROUTE: buffer}, 40).verdict is Verdict.SATISFIED


def test_a_reset_forgets_samples_and_keeps_numbers_and_pins():
    buffer = filled(3)
    buffer.pin("s1")
    buffer.add(seen(9, time=9))
    assert buffer.add(seen(1, time=1, id="old")) == "E.sequence"
    assert len(buffer) == 0
    assert buffer._subjects["s1"].pinned
    assert buffer.window("s1", 0, 1).gaps == [Gap(ROUTE, 0, 1, "E.reset", unknown=True)]


def test_newest_is_the_value_at_the_dispatch():
    buffer = filled(3)
    buffer.add(seen(3, path="u"))
    assert buffer.newest("s1", "t").stamp == 2
    assert buffer.newest("s1", "t", since=3) is None
    assert buffer.newest("s2", "t") is None


def test_bad_sizes():
    for options in ({"depth": 0}, {"subjects": 0}):
        with pytest.raises(ValueError, match="at least one"):
            RouteBuffer(ROUTE, **options)


def test_the_cap_and_the_sparse_samples_behind_it():
    buffer = filled(1000)
    window = buffer.window("s1", 100, 999, stride=50, count=4, cap=10)
    assert stamps(window) == [*range(999, 989, -1), 940, 890, 840, 790]
    assert "E.cap" in window.notes
    assert stamps(buffer.window("s1", 900, 999, stride=50, count=4, cap=10))[10:] == [940]
    assert stamps(buffer.window("s1", 100, 999, cap=10)) == list(range(999, 989, -1))
    assert "E.cap" not in buffer.window("s1", 990, 999, cap=10).notes


def test_a_sensor_of_1_khz_can_meet_a_cadence_of_seconds():
    second, depth = 1_000_000_000, 20_000
    buffer = RouteBuffer(ROUTE, depth=depth)
    for number in range(depth):
        buffer.add(seen(number, time=number * second // 1000))
    wanted = Requirement(
        "r", CONDITION, Role.INDEPENDENT_SENSOR, (ROUTE,), 10 * second, 3, False, second, 2 * second
    )
    now = buffer.latest
    result = qualify_routes(wanted, Context(), {ROUTE: buffer}, now)
    assert result.verdict is Verdict.SATISFIED
    assert result.finding.reasons == ("E.cap",)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 40), st.integers(1, 9),
    st.integers(1, 5), st.integers(1, 20),
)  # fmt: skip
def test_sparse_samples_are_those_of_the_definition(steps, since, stride, count, cap):
    buffer = RouteBuffer(ROUTE)
    time, times = 0, []
    for number, step in enumerate(steps):
        time += step
        times.append(time)
        buffer.add(seen(number, time=time))
    period = [each for each in reversed(times) if each >= since]
    expected = period[:cap]
    if len(period) > cap:
        for each in period[cap:]:
            if len(expected) < cap + count and expected[-1] - each >= stride:
                expected.append(each)
    assert stamps(buffer.window("s1", since, time, stride=stride, count=count, cap=cap)) == expected


CONDITION = Condition("s1", "t", (Clause(Operator.GTE, 79.0),))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),  # time since the one before
            st.integers(0, 4),  # age at arrival
            st.sampled_from([80.0, 80.0, 20.0]),
            st.sampled_from(["s1", "s1", "s2"]),
            st.sampled_from(["p1", "p2", ""]),
            st.integers(0, 12),  # below 2: the id of the sample so many before
        ),
        max_size=25,
    ),
    st.integers(1, 3), st.booleans(), st.integers(0, 2), st.integers(0, 3), st.integers(0, 15),
    st.integers(-1, 12),
)  # fmt: skip
def test_a_buffer_answers_as_the_whole_history(arrivals, count, distinct, least, greatest, age, after):
    """Through the buffer or from a list of everything: the same verdict, on the same samples."""
    wanted = Requirement(
        "r", CONDITION, Role.INDEPENDENT_SENSOR, (ROUTE,), age, count, distinct, least, greatest
    )
    context = Context("heater", after)
    buffer, history, now = RouteBuffer(ROUTE), [], 5
    for number, (step, delay, value, subject, producer, back) in enumerate(arrivals):
        now += step
        name = f"o{number - back - 1}" if back < 2 else f"o{number}"
        sample = Observation(name, ROUTE, "probe", subject, "t", value, now - delay, now, producer)
        buffer.add(sample)
        history.append(sample)
    through, whole = (
        qualify_routes(wanted, context, {ROUTE: buffer}, now),
        qualify(wanted, context, history, (), now),
    )
    since = max(after + 1, now - age)
    old = any(sample.received < since for sample in history)
    if whole.finding.integrity and (old or not through.finding.integrity):
        # Conflicting records from before the period are not the period's business.
        pairs = [(a, b) for a in history for b in history if a.id == b.id and a != b]
        assert through.finding.integrity or all(
            max(a.received, b.received) < since or {a.subject, b.subject} == {"s2"}
            for a, b in pairs
            if content(a) != content(b)
        )
        return
    assert (through.verdict, through.finding.negative, through.finding.basis) == (
        whole.verdict, whole.finding.negative, whole.finding.basis,
    )  # fmt: skip


def content(sample):
    return msgspec.structs.replace(sample, received=0)
