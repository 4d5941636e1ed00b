"""Readings come at whole seconds, from the world and not from the heater, and fail as each fault says."""

import math

import pytest

from adf_ea_ros.sim.faults import SECOND, probe_fault
from adf_ea_ros.sim.probe import Probe
from adf_ea_ros.sim.world import Refused, World

STEP = SECOND // 5


def rig(fault=None, **options):
    world = World(["s1", "s2"], start=100 * SECOND, ambient=20.0)
    return world, Probe("probe", world, fault=fault, **options)


def pass_time(world, seconds):
    for _ in range(round(seconds * SECOND) // STEP):
        world.advance(STEP)


def stamps(probe, sample="s1"):
    return [reading.stamp // SECOND for reading in probe.drain() if reading.sample == sample]


def heat(world, seconds=5):
    world.samples["s1"].drive("heater", 80.0, 20.0)
    pass_time(world, seconds)


def test_one_reading_per_sample_at_each_whole_second():
    world, probe = rig()
    pass_time(world, 3)
    readings = probe.drain()
    assert [(r.sample, r.stamp) for r in readings] == [
        (name, second * SECOND) for second in (101, 102, 103) for name in ("s1", "s2")
    ]
    assert probe.drain() == []


def test_values_follow_the_world_within_the_noise_and_repeat_with_the_seed():
    runs = []
    for _ in range(2):
        world, probe = rig(noise=0.05, seed=7)
        heat(world)
        pass_time(world, 100)
        runs.append([reading.value for reading in probe.drain() if reading.sample == "s1"][5:])
    assert runs[0] == runs[1]
    assert all(79.95 <= value <= 80.05 for value in runs[0])
    assert len(set(runs[0])) > 1


def test_drop_for_good():
    world, probe = rig(probe_fault("drop"))
    pass_time(world, 10)
    assert probe.drain() == []


def test_drop_for_the_first_samples_after_each_heating():
    world, probe = rig(probe_fault("drop", samples=3))
    heat(world)  # settles at 103 s
    pass_time(world, 5)
    assert stamps(probe) == [101, 102, 107, 108, 109, 110]
    heat(world)  # at once: the sample is hot
    pass_time(world, 2)
    assert stamps(probe) == [114, 115, 116, 117]


def test_the_other_sample_is_not_affected():
    world, probe = rig(probe_fault("drop", samples=3))
    heat(world)
    assert stamps(probe, "s2") == [101, 102, 103, 104, 105]


def test_stale_readings_carry_true_values_with_old_stamps():
    world, probe = rig(probe_fault("stale", samples=2, age=60.0))
    heat(world, 6)
    late = [(r.stamp // SECOND, round(r.value)) for r in probe.drain() if r.sample == "s1"][2:]
    assert late == [(43, 80), (44, 80), (45, 80), (106, 80)]


def test_stale_stamps_are_not_negative():
    world, probe = rig(probe_fault("stale", age=1000.0))
    pass_time(world, 1)
    assert {reading.stamp for reading in probe.drain()} == {0}


def test_wrong_sample_names_one_that_does_not_exist():
    world, probe = rig(probe_fault("wrong_sample"))
    pass_time(world, 1)
    assert [reading.sample for reading in probe.drain()] == ["s1_other", "s2_other"]


def test_nan():
    world, probe = rig(probe_fault("nan"))
    pass_time(world, 1)
    assert all(math.isnan(reading.value) for reading in probe.drain())


def test_a_measurement_is_the_mean_of_the_next_three_readings():
    world, probe = rig(noise=0.0)
    heat(world)
    measuring = probe.measure("s1")
    pass_time(world, 2)
    assert (measuring.ended, len(measuring.taken)) == (None, 2)
    pass_time(world, 1)
    assert (measuring.ended, measuring.complete, measuring.mean) == (108 * SECOND, True, 80.0)
    assert [reading.stamp // SECOND for reading in measuring.taken] == [106, 107, 108]
    assert probe.measurements == 1


def test_measurements_have_names_of_their_own_and_run_side_by_side():
    world, probe = rig()
    first, second = probe.measure("s1"), probe.measure("s2")
    pass_time(world, 3)
    assert first.id != second.id
    assert first.complete
    assert second.complete
    assert {reading.sample for reading in second.taken} == {"s2"}


def test_a_measurement_gives_up():
    world, probe = rig(probe_fault("drop"), patience=5 * SECOND)
    measuring = probe.measure("s1")
    pass_time(world, 5)
    assert measuring.ended == 105 * SECOND
    assert not measuring.complete
    assert math.isnan(measuring.mean)


def test_a_measurement_waits_for_dropped_readings():
    world, probe = rig(probe_fault("drop", samples=3))
    heat(world, 4)
    measuring = probe.measure("s1")
    pass_time(world, 6)
    assert [reading.stamp // SECOND for reading in measuring.taken] == [107, 108, 109]


def test_a_canceled_measurement_takes_no_more():
    world, probe = rig()
    measuring = probe.measure("s1")
    pass_time(world, 1)
    probe.cancel(measuring)
    pass_time(world, 5)
    assert (len(measuring.taken), measuring.ended, measuring.canceled) == (1, 101 * SECOND, True)


def test_an_unknown_sample_is_refused():
    _, probe = rig()
    with pytest.raises(Refused, match="no sample 's9'"):
        probe.measure("s9")
    assert probe.measurements == 0


@pytest.mark.parametrize("options", [{"noise": -0.1}, {"noise": math.nan}, {"wanted": 0}, {"patience": 0}])
def test_impossible_probes_are_refused(options):
    with pytest.raises(ValueError, match="noise must not"):
        rig(**options)
