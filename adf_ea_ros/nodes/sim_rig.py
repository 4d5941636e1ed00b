"""The simulated heating rig in one process: every device is a node, all share one world and one clock.

``/rig/clock /rig/heater_a /rig/heater_b /rig/probe /rig/recorder_a /rig/recorder_b /rig/archive``, and
``/rig/rig``, which counts. At the start a device's parameters carry its name:
``--ros-args -p heater_a.fault:=no_effect``. While the rig runs they are set on the device itself:
``ros2 param set /rig/heater_a fault none``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from rclpy.node import Node
from std_msgs.msg import Header

from adf_ea_ros.msg import HeatingCount, Heatings
from adf_ea_ros.nodes.sim_archive import ArchiveNode
from adf_ea_ros.nodes.sim_clock import ClockNode
from adf_ea_ros.nodes.sim_heater import HeaterNode
from adf_ea_ros.nodes.sim_probe import ProbeNode
from adf_ea_ros.nodes.sim_recorder import RecorderNode
from adf_ea_ros.nodes.support import StartFault, declare, guard, latched, overrides, run, to_msg
from adf_ea_ros.sim.faults import SECOND
from adf_ea_ros.sim.recorder import Archive
from adf_ea_ros.sim.report import Report, report, restore
from adf_ea_ros.sim.world import World

HEATERS = ("heater_a", "heater_b")
RECORDERS = ("recorder_a", "recorder_b")
NAMESPACE = "rig"

_N = TypeVar("_N", bound=Node)


class RigNode(Node):
    """Sets up the world, and counts what the devices did to it: on ``/rig/heatings`` and in a file."""

    def __init__(self) -> None:
        super().__init__("rig", namespace=NAMESPACE, automatically_declare_parameters_from_overrides=True)
        samples = declare(self, "samples", ["sample_1", "sample_2"], "the samples on the rig")
        start = declare(self, "start", 100.0, "logical seconds at which the clock starts")
        ambient = declare(self, "ambient", 22.0, "degC")
        cooling = declare(
            self, "cooling", 600.0, "time constant of an unheated sample's cooling, in logical seconds"
        )
        path = declare(self, "report", "", "file for the counts as JSON, kept up to date; empty: none")
        self._keep = declare(
            self,
            "keep",
            default=False,
            description="begin from the report of an earlier process, and keep it at every step",
        )
        try:
            self._kept = self._earlier(path)
            if self._kept is not None:  # a step may have been published that is not in the report yet
                start = max(start, self._kept.logical_ns // SECOND + 2)
            self.world = World(samples, start=round(start) * SECOND, ambient=ambient, cooling=cooling)
        except (ValueError, OverflowError) as fault:  # msgspec's errors too
            raise StartFault(f"{self.get_fully_qualified_name()}: {fault}") from None
        self._path = Path(path) if path else None
        if self._path is not None and not self._path.parent.is_dir():
            raise StartFault(f"{self.get_fully_qualified_name()}: report: no folder {self._path.parent}")
        self._heatings = self.create_publisher(Heatings, "heatings", latched(1))
        self._heaters: list[HeaterNode] = []
        self._told: Report | None = None

    def _earlier(self, path: str) -> Report | None:
        """What an earlier process of this rig left, where it is to be taken up."""
        if not self._keep or not path or not Path(path).exists():
            return None
        return msgspec.json.decode(Path(path).read_bytes(), type=Report)

    def watch(self, clock: ClockNode, heaters: list[HeaterNode], probe: ProbeNode, archive: Archive) -> None:
        """Count what these devices do, from now on."""
        clock.drive(self)
        self._heaters, self._probe, self._archive = heaters, probe, archive
        if self._kept is not None:
            restore(self._kept, self.world, [node.heater for node in heaters], probe.probe)
        if self._keep:
            # The written report is the world that outlives this process: what is not in it never was.
            self.world.on_effect(lambda: self._write(self._report()))
        clock.on_step(guard(self, "count", self._count))

    def close(self) -> None:
        """Write the final counts."""
        if self._heaters:
            self._write(self._report())

    def _report(self) -> Report:
        return report(self.world, [node.heater for node in self._heaters], self._probe.probe, self._archive)

    def _count(self) -> None:
        counts = self._report()
        if self._keep:
            self._write(counts)
        if self._told is not None and _counted(counts) == _counted(self._told):
            return
        self._told = counts
        self._write(counts)
        self._heatings.publish(
            Heatings(
                header=Header(stamp=to_msg(self.world.now)),
                total=counts.heatings,
                counts=[
                    HeatingCount(heater=heater, sample=sample, heatings=heatings)
                    for heater, heater_counts in counts.heaters.items()
                    for sample, heatings in heater_counts.heatings.items()
                ],
            )
        )

    def _write(self, counts: Report) -> None:
        if self._path is not None:
            draft = self._path.with_name(self._path.name + ".new")
            draft.write_bytes(counts.to_json())
            draft.replace(self._path)  # whoever reads it finds a whole report


def _counted(counts: Report) -> tuple[object, ...]:
    return counts.heaters, counts.measurements, counts.records


def make_rig() -> Iterator[Node]:
    """The nodes of the rig, ready to be added to one single-threaded executor.

    Raises:
        StartFault: a parameter is wrong.
    """
    try:
        rig = RigNode()
    except ValueError as fault:  # such as an empty list, whose type cannot be told
        raise StartFault(f"parameters: {fault}") from None
    yield rig
    devices: dict[str, Node] = {}

    def make(kind: Callable[..., _N], name: str, *parts: Any) -> _N:
        node = kind(name, *parts, namespace=NAMESPACE, parameter_overrides=overrides(rig, name))
        devices[name] = node
        return node

    clock = make(ClockNode, "clock", rig.world)
    heaters = [make(HeaterNode, name, clock) for name in HEATERS]
    probe = make(ProbeNode, "probe", clock)
    archive = Archive()
    for name in RECORDERS:
        make(RecorderNode, name, clock, archive)
    make(ArchiveNode, "archive", clock, archive)
    _check_names(rig, devices)
    rig.watch(clock, heaters, probe, archive)
    yield from devices.values()


def _check_names(rig: RigNode, devices: dict[str, Node]) -> None:
    """A parameter with a mistyped name must not be ignored."""
    for name in rig.get_parameters_by_prefix(""):
        device, dot, parameter = name.partition(".")
        if not dot or device.startswith("qos_overrides"):
            continue
        if device not in devices:
            raise StartFault(f"parameter {name}: there is no device {device}; there are {', '.join(devices)}")
        if not devices[device].has_parameter(parameter):
            raise StartFault(f"parameter {name}: {device} has no parameter {parameter}")


def main(args: Sequence[str] | None = None) -> int:
    """Run the rig until SIGINT or SIGTERM."""
    return run(make_rig, args)


if __name__ == "__main__":
    sys.exit(main())
