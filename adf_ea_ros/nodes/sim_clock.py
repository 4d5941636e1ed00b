"""The logical clock of the rig: publishes /clock, and moves the simulated world step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.time_source import TimeSource
from rosgraph_msgs.msg import Clock as ClockMsg

from adf_ea_ros.nodes.support import CLOCK, StartFault, Ticker, declare, guard, to_msg
from adf_ea_ros.sim.faults import SECOND
from adf_ea_ros.sim.world import World

_MILLISECOND = 1_000_000


class ClockNode(Node):
    """Moves ``world`` by one step at a time; the factor is a ceiling, not a promise.

    On a busy machine logical time runs slower instead of jumping: no step is ever left out or made longer,
    so the cadence of the readbacks is exact in logical time under any load.
    """

    def __init__(self, name: str, world: World, **options: Any) -> None:
        super().__init__(name, **options)
        self.world = world
        self.ticker = Ticker()
        factor = declare(self, "factor", 20.0, "logical seconds per second of real time, at most")
        step = declare(self, "step_ms", 200, "logical milliseconds per step; one second is a multiple of it")
        if not 0.01 <= factor <= 1000 or step < 1 or SECOND % (step * _MILLISECOND):
            raise StartFault(
                f"clock: factor is {factor}, step_ms is {step}: factor must be within 0.01 and 1000,"
                " step_ms a whole number of milliseconds of which one second is a multiple"
            )
        self._step = step * _MILLISECOND
        self._listeners: list[Callable[[], None]] = []
        # Drives the clocks of the other nodes of this process directly: no second subscription, no delay.
        self._source = TimeSource()
        self._source.ros_time_is_active = True
        self._source.clock_callback(
            ClockMsg(clock=to_msg(world.now))
        )  # a goal may come before the first step
        self.drive(self)
        self._publisher = self.create_publisher(ClockMsg, "/clock", CLOCK)
        real = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(
            step / 1000 / factor, guard(self, "clock step", self._advance), clock=real
        )

    def drive(self, node: Node) -> None:
        """Let the ROS time of ``node``, which lives in this process, be this clock."""
        self._source.attach_clock(node.get_clock())

    def on_step(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after every step, in the order of registration."""
        self._listeners.append(listener)

    def _advance(self) -> None:
        self.world.advance(self._step)
        message = ClockMsg(clock=to_msg(self.world.now))
        self._source.clock_callback(message)
        self._publisher.publish(message)  # before the readbacks of this step: none should be from the future
        for listener in self._listeners:
            listener()
        self.ticker.tick()
