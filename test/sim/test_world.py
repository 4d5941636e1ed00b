"""Samples heat, stay and cool; time only passes forwards."""

import math

import pytest

from adf_ea_ros.sim.faults import SECOND
from adf_ea_ros.sim.world import World

STEP = SECOND // 5


def pass_time(world, seconds, step=STEP):
    for _ in range(round(seconds * SECOND) // step):
        world.advance(step)


@pytest.mark.parametrize("samples", [[], ["a", "a"], ["a", ""]])
def test_samples_need_names_of_their_own(samples):
    with pytest.raises(ValueError, match="samples"):
        World(samples)


@pytest.mark.parametrize(
    "values", [{"cooling": 0.0}, {"ambient": math.nan}, {"cooling": math.inf}, {"start": -1}]
)
def test_impossible_rooms_are_refused(values):
    with pytest.raises(ValueError, match="ambient must be"):
        World(["a"], **values)


@pytest.mark.parametrize("span", [0, -1])
def test_time_passes_forwards_only(span):
    with pytest.raises(ValueError, match="takes some time"):
        World(["a"]).advance(span)


def test_an_undriven_sample_stays_at_room_temperature():
    world = World(["a"], ambient=22.0)
    pass_time(world, 100)
    assert world.samples["a"].temperature == pytest.approx(22.0)


def test_a_driven_sample_ramps_settles_and_stays():
    world = World(["a", "b"], start=0, ambient=20.0)
    world.samples["a"].drive("heater", 80.0, 20.0)
    pass_time(world, 2)
    assert world.samples["a"].temperature == pytest.approx(60.0)
    assert world.samples["a"].settled_at is None
    pass_time(world, 1)
    assert world.samples["a"].temperature == 80.0
    assert world.samples["a"].settled_at == 3 * SECOND
    pass_time(world, 500)
    assert world.samples["a"].temperature == 80.0
    assert world.samples["b"].temperature == pytest.approx(20.0)


def test_a_released_sample_cools_exponentially_whatever_the_step():
    for step in (SECOND // 20, SECOND):
        world = World(["a"], ambient=20.0, cooling=100.0)
        world.samples["a"].temperature = 80.0
        pass_time(world, 100, step)
        assert world.samples["a"].temperature == pytest.approx(20.0 + 60.0 / math.e)


def test_only_the_driver_can_release():
    world = World(["a"])
    world.samples["a"].drive("heater_a", 80.0, 20.0)
    world.samples["a"].drive("heater_b", 80.0, 20.0)
    world.samples["a"].release("heater_a")
    assert world.samples["a"].driver == "heater_b"
    world.samples["a"].release("heater_b")
    assert world.samples["a"].driver == ""
