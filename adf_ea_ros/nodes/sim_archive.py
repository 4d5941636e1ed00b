"""The simulated archive as a node of its own: ``~/records`` says, for each sample, which record exists."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from std_msgs.msg import Header

from adf_ea_ros.msg import Record
from adf_ea_ros.nodes.sim_clock import ClockNode
from adf_ea_ros.nodes.support import guard, latched, to_msg
from adf_ea_ros.sim.faults import SECOND
from adf_ea_ros.sim.recorder import Archive


class ArchiveNode(Node):
    """Reads the archive back: every logical second, and at the step after a change."""

    def __init__(self, name: str, clock: ClockNode, archive: Archive, **options: Any) -> None:
        super().__init__(name, **options)
        self._world, self._archive = clock.world, archive
        self._told: dict[str, str] = {}
        clock.drive(self)
        self._records = self.create_publisher(Record, "~/records", latched(len(clock.world.samples)))
        clock.on_step(guard(self, "step", self._publish))

    def _publish(self) -> None:
        now = self._world.now
        for sample in self._world.samples:
            entry = self._archive.entries.get(sample)
            record_id = entry.id if entry is not None else ""
            if now % SECOND and self._told.get(sample) == record_id:
                continue
            self._told[sample] = record_id
            self._records.publish(
                Record(
                    header=Header(stamp=to_msg(now), frame_id=sample),
                    record_id=record_id,
                    writer=entry.writer if entry is not None else "",
                    exists=entry is not None,
                )
            )
