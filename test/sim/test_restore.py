"""A rig whose programs die and whose world does not."""

import msgspec
import pytest

from adf_ea_ros.sim.faults import SECOND, HeaterFault, HeaterFaultKind
from adf_ea_ros.sim.heater import Heater
from adf_ea_ros.sim.probe import Probe
from adf_ea_ros.sim.recorder import Archive
from adf_ea_ros.sim.report import Report, report, restore
from adf_ea_ros.sim.world import World


def rig(start=100 * SECOND, fault=None):
    world = World(["s1", "s2"], start=start)
    heaters = [Heater("heater_a", world, fault=fault), Heater("heater_b", world)]
    return world, heaters, Probe("probe", world)


def kept(world, heaters, probe):
    return msgspec.json.decode(report(world, heaters, probe, Archive()).to_json(), type=Report)


def test_counts_temperatures_and_power_go_on():
    world, heaters, probe = rig()
    heaters[0].begin(heaters[0].request("s1", 80))
    world.advance(SECOND)
    left = kept(world, heaters, probe)
    later, again, probe = rig(left.logical_ns)
    restore(left, later, again, probe)
    assert kept(later, again, probe) == left
    assert later.samples["s1"].temperature == 42.0
    later.advance(10 * SECOND)
    assert later.samples["s1"].temperature == 80.0
    assert later.samples["s2"].temperature == 22.0
    assert not again[0].busy  # what it remembered of the goal is gone


@pytest.mark.parametrize("kind", [HeaterFaultKind.NONE, HeaterFaultKind.DELAYED_EFFECT])
def test_an_effect_is_witnessed_at_the_moment_it_happens(kind):
    world, heaters, probe = rig(fault=HeaterFault(kind=kind, delay=2 * SECOND))
    seen = []
    world.on_effect(lambda: seen.append(kept(world, heaters, probe)))
    heaters[0].begin(heaters[0].request("s1", 80))
    assert len(seen) == (kind is HeaterFaultKind.NONE)
    world.advance(3 * SECOND)
    assert [(each.heatings, each.driving["s1"].heater) for each in seen] == [(1, "heater_a")]
