"""What a heater says and what it does, under each fault."""

import math

import pytest

from adf_ea_ros.sim.faults import SECOND, heater_fault
from adf_ea_ros.sim.heater import Heater, Phase
from adf_ea_ros.sim.world import Refused, World

STEP = SECOND // 5


def rig(fault=None, **options):
    world = World(["s1", "s2"], ambient=20.0)
    return world, Heater("heater_a", world, fault=fault, **options)


def pass_time(world, seconds):
    for _ in range(round(seconds * SECOND) // STEP):
        world.advance(STEP)


def heat(world, heater, sample="s1", target=80.0, seconds=10):
    heating = heater.request(sample, target)
    heater.begin(heating)
    pass_time(world, seconds)
    return heating


def is_hot(world, sample="s1"):
    return 79.0 <= world.samples[sample].temperature <= 81.0


def test_heats_within_a_few_seconds_and_keeps_it_hot_long_enough_to_measure_and_record():
    world, heater = rig()
    heating = heat(world, heater, seconds=4)
    assert (heating.phase, heating.believed) == (Phase.SUCCEEDED, 80.0)
    assert is_hot(world)
    assert not is_hot(world, "s2")
    assert heater.heatings == {"s1": 1}
    pass_time(world, 600)
    assert is_hot(world)


def test_the_hold_ends():
    world, heater = rig(hold=10 * SECOND)
    heat(world, heater, seconds=4)
    pass_time(world, 20)
    assert world.samples["s1"].driver == ""
    assert not is_hot(world)


def test_a_new_heating_outlives_the_hold_of_the_one_before():
    world, heater = rig(hold=20 * SECOND)
    heat(world, heater, seconds=15)
    heat(world, heater, seconds=15)
    assert is_hot(world)
    assert heater.heatings == {"s1": 2}


def test_it_believes_a_ramp_while_it_runs():
    world, heater = rig()
    heating = heat(world, heater, seconds=2)
    assert heating.phase is Phase.RUNNING
    assert heating.believed == pytest.approx(60.0)


@pytest.mark.parametrize("target", [19.9, 100.1, math.nan, math.inf])
def test_targets_outside_the_range_are_refused(target):
    _, heater = rig()
    with pytest.raises(Refused, match="within 20 and 100"):
        heater.request("s1", target)
    assert (heater.requests, heater.accepted) == (1, 0)


def test_an_unknown_sample_is_refused():
    _, heater = rig()
    with pytest.raises(Refused, match="no sample 's9'"):
        heater.request("s9", 80.0)


def test_a_busy_heater_refuses_and_a_holding_one_does_not():
    world, heater = rig()
    heat(world, heater, seconds=1)
    with pytest.raises(Refused, match="another heating"):
        heater.request("s2", 80.0)
    pass_time(world, 10)
    heater.request("s2", 80.0)


def test_cancel_stops_the_heating():
    world, heater = rig()
    heating = heat(world, heater, seconds=1)
    assert heater.cancel(heating)
    assert heating.phase is Phase.CANCELED
    pass_time(world, 10)
    assert not is_hot(world)
    assert not heater.cancel(heating)
    assert heater.heatings == {"s1": 1}


def test_no_effect_succeeds_in_words_only():
    world, heater = rig(heater_fault("no_effect"))
    heating = heat(world, heater)
    assert (heating.phase, heating.believed) == (Phase.SUCCEEDED, 80.0)
    assert world.samples["s1"].temperature == pytest.approx(20.0)
    assert (heater.accepted, heater.heatings) == (1, {})


def test_a_lost_result_heats_all_the_same():
    world, heater = rig(heater_fault("lost_result"))
    assert heat(world, heater).phase is Phase.SUCCEEDED
    assert is_hot(world)


def test_reject_refuses_as_often_as_asked_to():
    world, heater = rig(heater_fault("reject", uses=1))
    with pytest.raises(Refused, match="interlock"):
        heater.request("s1", 80.0)
    assert heat(world, heater).phase is Phase.SUCCEEDED


def test_abort_without_effect():
    world, heater = rig(heater_fault("abort_without_effect"))
    assert heat(world, heater).phase is Phase.ABORTED
    assert not is_hot(world)
    assert heater.heatings == {}


def test_abort_with_effect():
    world, heater = rig(heater_fault("abort_with_effect"))
    assert heat(world, heater).phase is Phase.ABORTED
    assert is_hot(world)
    assert heater.heatings == {"s1": 1}


def test_a_delayed_effect_comes_after_its_answer():
    world, heater = rig(heater_fault("delayed_effect", delay=30.0))
    heating = heat(world, heater)
    assert heating.phase is Phase.SUCCEEDED
    assert not is_hot(world)
    assert heater.heatings == {}
    pass_time(world, 25)
    assert is_hot(world)
    assert heater.heatings == {"s1": 1}


def test_a_delayed_effect_comes_even_after_a_cancel():
    world, heater = rig(heater_fault("delayed_effect", delay=30.0))
    heating = heat(world, heater, seconds=1)
    assert heater.cancel(heating)
    pass_time(world, 40)
    assert is_hot(world)


def test_a_stuck_goal_heats_and_never_ends():
    world, heater = rig(heater_fault("stuck"))
    heating = heat(world, heater, seconds=100)
    assert heating.phase is Phase.RUNNING
    assert is_hot(world)
    assert not heater.cancel(heating)


def test_an_unavailable_heater_offers_nothing():
    _, heater = rig(heater_fault("unavailable"))
    assert not heater.offered
    with pytest.raises(Refused):
        heater.request("s1", 80.0)


@pytest.mark.parametrize("options", [{"ramp": 0.0}, {"ramp": math.nan}, {"dwell": -1}, {"hold": -1}])
def test_impossible_heaters_are_refused(options):
    with pytest.raises(ValueError, match="ramp must be positive"):
        rig(**options)
