"""What the rig says about itself at the end: the physical facts, counted by the devices that made them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.sim.heater import Heater
from adf_ea_ros.sim.probe import Probe
from adf_ea_ros.sim.recorder import Archive
from adf_ea_ros.sim.world import World


class HeaterCounts(msgspec.Struct, frozen=True):
    """Counts of one heater."""

    requests: int  # goals asked for, refused ones too
    accepted: int  # goals begun
    heatings: dict[str, int]  # sample: physical executions


class Driving(msgspec.Struct, frozen=True):
    """A set point that a heater keeps a sample at, or is taking it to."""

    heater: str
    target: float  # degC
    ramp: float  # degC per second


class Report(msgspec.Struct, frozen=True):
    """Counts of the whole rig. ``heatings`` is what the stories are about."""

    heatings: int  # physical executions, all heaters and samples
    heaters: dict[str, HeaterCounts]
    measurements: int  # begun
    records: int  # written
    temperatures: dict[str, float]  # degC, as they are
    logical_ns: Ns
    driving: dict[str, Driving] = {}  # sample: what drives it

    def to_json(self) -> bytes:
        """The report as an indented JSON object."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def report(world: World, heaters: Iterable[Heater], probe: Probe, archive: Archive) -> Report:
    """The counts as they stand."""
    counts = {h.name: HeaterCounts(h.requests, h.accepted, dict(h.heatings)) for h in heaters}
    return Report(
        heatings=sum(sum(count.heatings.values()) for count in counts.values()),
        heaters=counts,
        measurements=probe.measurements,
        records=archive.writes,
        temperatures={name: round(sample.temperature, 3) for name, sample in world.samples.items()},
        logical_ns=world.now,
        driving={
            name: Driving(sample.driver, sample.target, sample.ramp)
            for name, sample in world.samples.items()
            if sample.driver
        },
    )


def restore(kept: Report, world: World, heaters: Iterable[Heater], probe: Probe) -> None:
    """Let the counts and the samples be as they were: the devices' programs died, their world did not.

    Power that was on stays on. What the devices remembered of goals is gone, and the archive is empty.
    """
    for heater in heaters:
        counts = kept.heaters.get(heater.name)
        if counts is not None:
            heater.requests, heater.accepted = counts.requests, counts.accepted
            heater.heatings.update(counts.heatings)
    probe.measurements = kept.measurements
    for name, sample in world.samples.items():
        sample.temperature = kept.temperatures.get(name, sample.temperature)
        if name in kept.driving:
            driving = kept.driving[name]
            sample.drive(driving.heater, driving.target, driving.ramp)
