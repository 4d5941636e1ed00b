"""The cases that other frameworks get wrong: each must end without a grant, for the reason named here.

All run through a buffer, as in the runtime: a sensor at 1 Hz, a dispatch at 100 s, a condition on the
temperature.
"""

import msgspec
import pytest

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.types import Context, Observation, Requirement, Verdict

S = 1_000_000_000
HOT = Condition("s1", "temperature", (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0)))
PROBE, CAMERA = "probe/temperature", "camera/temperature"
CONTEXT = Context(executor="heater", after=100 * S)


def requirement(count=1, **changes):
    base = Requirement("hot", HOT, Role.INDEPENDENT_SENSOR, (PROBE,), 20 * S, count, distinct=False)
    return msgspec.structs.replace(base, **changes)


def seen(second, value=80.0, *, arrival=None, sequence=None, route=PROBE, **changes):
    base = Observation(
        id=f"{route}|{second}",
        route=route,
        source=route.split("/")[0],
        subject="s1",
        path="temperature",
        value=value,
        stamp=int(second * S),
        received=int((second if arrival is None else arrival) * S),
        sequence=int(second) if sequence is None else sequence,
        publisher="gid-1",
    )
    return msgspec.structs.replace(base, **changes)


@pytest.fixture
def buffers():
    return {route: RouteBuffer(route) for route in (PROBE, CAMERA)}


def judge(buffers, second, wanted=None, context=CONTEXT):
    return qualify_routes(wanted or requirement(), context, buffers, int(second * S)).finding


def withheld(finding, verdict, code):
    assert finding.verdict is verdict
    assert code in finding.reasons
    assert not finding.negative


def test_control(buffers):
    buffers[PROBE].add(seen(105))
    assert judge(buffers, 106).verdict is Verdict.SATISFIED


def test_old_stamp_with_fresh_arrival(buffers):
    """A driver that publishes its last measurement again is as old as that measurement."""
    buffers[PROBE].add(seen(103, arrival=130))
    withheld(judge(buffers, 130), Verdict.INSUFFICIENT_EVIDENCE, "E.stale")


def test_old_stamp_from_before_the_dispatch(buffers):
    buffers[PROBE].add(seen(99, arrival=101))
    withheld(judge(buffers, 102), Verdict.INSUFFICIENT_EVIDENCE, "E.before_dispatch")


def test_latched_replay_after_a_reconnect(buffers):
    """A transient-local publisher hands its last sample to every new subscription: it is no second sample."""
    wanted = requirement(count=2)
    assert buffers[PROBE].add(seen(105)) is None
    assert buffers[PROBE].add(seen(105, arrival=110)) == "E.duplicate"
    withheld(judge(buffers, 111, wanted), Verdict.INSUFFICIENT_EVIDENCE, "E.count")


def test_latched_sample_of_a_restarted_node_is_as_old_as_its_stamp(buffers):
    """A restarted node has another gid and new numbers: the identity differs, the stamp does not."""
    buffers[PROBE].add(seen(98, arrival=105, sequence=1, publisher="gid-2", id="other"))
    withheld(judge(buffers, 106), Verdict.INSUFFICIENT_EVIDENCE, "E.before_dispatch")


@pytest.mark.parametrize("sequence", [104, 105])
def test_sequence_number_repeated_or_backwards(buffers, sequence):
    """Recorded traffic played back with fresh stamps carries numbers that were seen before."""
    buffers[PROBE].add(seen(104, 20.0))
    buffers[PROBE].add(seen(105, 20.0))
    assert buffers[PROBE].add(seen(106, 80.0, sequence=sequence)) == "E.sequence"
    finding = judge(buffers, 107)
    assert finding.verdict is Verdict.UNSATISFIED
    assert finding.support == 0


@pytest.mark.parametrize("order", [(80.0, 20.0), (20.0, 80.0)])
def test_two_sources_that_disagree(buffers, order):
    """Neither the newer nor the older one wins."""
    buffers[PROBE].add(seen(105, order[0]))
    buffers[CAMERA].add(seen(106, order[1], route=CAMERA))
    finding = judge(buffers, 107, requirement(routes=(PROBE, CAMERA)))
    withheld(finding, Verdict.UNKNOWN, "E.conflict")
    assert set(finding.basis) == {f"{PROBE}|105", f"{CAMERA}|106"}


def test_two_sources_that_must_agree_and_do_not(buffers):
    """Asked for two distinct sources, given two that differ: no window is true, none shows absence."""
    buffers[PROBE].add(seen(105))
    buffers[CAMERA].add(seen(106, 20.0, route=CAMERA))
    wanted = requirement(count=2, routes=(PROBE, CAMERA), distinct=True)
    withheld(judge(buffers, 107, wanted), Verdict.UNSATISFIED, "E.mixed")


def test_the_commanded_value_echoed_as_if_measured(buffers):
    """The heater's own node publishes its set point on the probe's topic."""
    assert buffers[PROBE].add(seen(105, source="heater")) == "E.source"
    withheld(judge(buffers, 106), Verdict.INSUFFICIENT_EVIDENCE, "E.source")


def test_the_actuators_own_readback_for_an_independent_role(buffers):
    """A contract that lets the heater prove itself is inconsistent: nothing is granted on it."""
    buffers["heater/temperature"] = RouteBuffer("heater/temperature")
    buffers["heater/temperature"].add(seen(105, route="heater/temperature"))
    wanted = requirement(routes=("heater/temperature",))
    finding = judge(buffers, 106, wanted)
    withheld(finding, Verdict.UNKNOWN, "E.role")
    assert finding.integrity
    assert (
        judge(buffers, 106, msgspec.structs.replace(wanted, role=Role.SAME_PROVIDER)).verdict
        is Verdict.SATISFIED
    )


def test_a_sensor_silent_since_before_the_dispatch(buffers):
    buffers[PROBE].add(seen(98))
    buffers[PROBE].add(seen(99))
    withheld(judge(buffers, 103), Verdict.INSUFFICIENT_EVIDENCE, "E.none")


def test_a_sensor_silent_since_before_the_dispatch_where_silence_means_unknown():
    """The reading after the pause stands for itself, and nothing stands for the pause."""
    buffers = {PROBE: RouteBuffer(PROBE, silence=2 * S)}
    buffers[PROBE].add(seen(99))
    withheld(judge(buffers, 106), Verdict.UNKNOWN, "E.silent")
    buffers[PROBE].add(seen(107))
    assert judge(buffers, 108).verdict is Verdict.SATISFIED


def test_source_clock_ahead_stays_refused_when_ours_catches_up(buffers):
    """Captured at 98 s by a clock that is 7 s ahead: at 106 s it would look like new."""
    assert buffers[PROBE].add(seen(105, arrival=98)) == "E.future"
    assert judge(buffers, 106).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_source_clock_ahead_within_the_stated_skew_is_dated_back():
    """Where a lead of 2 s is allowed for, a stamp of 101 s may mean a capture at 99 s."""
    skewed = msgspec.structs.replace(CONTEXT, skew=2 * S)
    buffers = {PROBE: RouteBuffer(PROBE, skew=2 * S)}
    buffers[PROBE].add(seen(101, arrival=100.5))
    withheld(judge(buffers, 102, context=skewed), Verdict.INSUFFICIENT_EVIDENCE, "E.before_dispatch")
    buffers[PROBE].add(seen(104, arrival=103))
    finding = judge(buffers, 104, context=skewed)
    assert finding.verdict is Verdict.SATISFIED
    assert finding.captured == 102 * S


def test_source_clock_behind_is_old_rather_than_fresh(buffers):
    buffers[PROBE].add(seen(80, arrival=105))
    finding = judge(buffers, 106)
    assert finding.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize("told", ["by a sample", "by the query", "by the clock"])
def test_clock_reset_in_simulation(buffers, told):
    """What was seen before is unusable, also where the new time passes the old stamps."""
    for second in range(101, 111):
        buffers[PROBE].add(seen(second))
    fresh = msgspec.structs.replace(CONTEXT, after=3 * S)
    assert judge(buffers, 110, context=fresh).verdict is Verdict.SATISFIED
    if told == "by the query":
        withheld(judge(buffers, 105, context=fresh), Verdict.INSUFFICIENT_EVIDENCE, "E.clock")
        return
    if told == "by a sample":
        assert buffers[PROBE].add(seen(4, 20.0, sequence=111, id="new")) is None
    else:
        buffers[PROBE].reset(4 * S)
    assert len(buffers[PROBE]) <= 1
    withheld(judge(buffers, 5, context=fresh), Verdict.UNKNOWN, "E.gap")
    assert judge(buffers, 112, context=fresh).verdict is not Verdict.SATISFIED


def test_attempt_dispatched_before_a_clock_reset(buffers):
    """The dispatch lies in the future of the clock that now runs: nothing can be later than it."""
    buffers[PROBE].add(seen(5))
    withheld(judge(buffers, 6), Verdict.UNKNOWN, "E.clock")
