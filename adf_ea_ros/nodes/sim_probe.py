"""The simulated temperature probe, a node of its own: topic ``~/temperature``, action ``~/measure``."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Temperature
from std_msgs.msg import Header

from adf_ea_ros.action import Measure
from adf_ea_ros.msg import Measurement
from adf_ea_ros.nodes.sim_clock import ClockNode
from adf_ea_ros.nodes.support import LATCHED, READBACK, StartFault, declare, guard, to_msg
from adf_ea_ros.sim.faults import SECOND, FaultError, ProbeFaultKind, probe_fault
from adf_ea_ros.sim.probe import Measuring, Probe


class ProbeNode(Node):
    """Publishes what the probe reads, once per logical second and sample, and measures on request."""

    def __init__(self, name: str, clock: ClockNode, **options: Any) -> None:
        super().__init__(name, **options)
        self._rig_clock = clock
        clock.drive(self)
        kinds = ", ".join(kind.value for kind in ProbeFaultKind)
        declare(self, "fault", "none", f"one of {kinds}", fixed=False)
        declare(
            self, "fault_samples", 0, "samples that meet the fault after each heating; 0: all", fixed=False
        )
        declare(self, "fault_age", 60.0, "stale: how many seconds too old the stamps are", fixed=False)
        self._noise = declare(self, "noise", 0.05, "degC, uniform, both ways")
        seed = declare(self, "seed", 1, "of the noise")
        wanted = declare(self, "readings", 3, "readings of one measurement")
        patience = declare(self, "patience", 60.0, "logical seconds after which a measurement gives up")
        self._timeout = declare(
            self, "result_timeout", 3600, "logical seconds for which an ended goal is remembered"
        )
        try:
            self.probe = Probe(
                name,
                clock.world,
                noise=self._noise,
                seed=seed,
                wanted=wanted,
                patience=round(patience * SECOND),
                fault=self._fault({}),
            )
        except ValueError as fault:  # FaultError too
            raise StartFault(f"{self.get_fully_qualified_name()}: {fault}") from None
        self._temperature = self.create_publisher(Temperature, "~/temperature", READBACK)
        self._measurements = self.create_publisher(Measurement, "~/measurements", LATCHED)
        self.add_on_set_parameters_callback(guard(self, "parameters", self._on_parameters, _unchanged))
        self._server = ActionServer(
            self,
            Measure,
            "~/measure",
            guard(self, "measurement", self._execute, _aborted),
            callback_group=ReentrantCallbackGroup(),
            goal_callback=guard(self, "goal request", self._on_goal, lambda _: GoalResponse.REJECT),
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            result_timeout=self._timeout,
        )
        clock.on_step(guard(self, "step", self._publish))

    def _fault(self, changes: dict[str, Any]) -> Any:
        names = {"kind": "fault", "samples": "fault_samples", "age": "fault_age"}
        values = {key: changes.get(name, self.get_parameter(name).value) for key, name in names.items()}
        return probe_fault(**values)

    def _on_parameters(self, parameters: list[Parameter]) -> Any:
        try:
            self.probe.fault = self._fault({parameter.name: parameter.value for parameter in parameters})
        except (FaultError, TypeError) as fault:
            return SetParametersResult(successful=False, reason=str(fault))
        return SetParametersResult(successful=True)

    def _publish(self) -> None:
        for reading in self.probe.drain():
            header = Header(stamp=to_msg(reading.stamp), frame_id=reading.sample)
            variance = self._noise**2 / 3  # of a uniform distribution
            self._temperature.publish(
                Temperature(header=header, temperature=reading.value, variance=variance)
            )

    def _on_goal(self, goal: Any) -> GoalResponse:
        known = goal.sample in self._rig_clock.world.samples
        return GoalResponse.ACCEPT if known else GoalResponse.REJECT

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        measuring = self.probe.measure(handle.request.sample)
        told = 0
        while measuring.ended is None:
            if len(measuring.taken) > told:
                told = len(measuring.taken)
                handle.publish_feedback(Measure.Feedback(taken=told))
            await self._rig_clock.ticker
            if handle.is_cancel_requested:
                self.probe.cancel(measuring)
        result = Measure.Result(measurement_id=measuring.id, mean=measuring.mean, count=len(measuring.taken))
        if measuring.canceled:
            result.message = "stopped on request"
            handle.canceled()
            return result
        self._report(measuring, measuring.ended)
        if measuring.complete:
            result.success, result.message = True, "measured"
            handle.succeed()
        else:
            result.message = f"only {len(measuring.taken)} of {measuring.wanted} readings came in time"
            handle.abort()
        return result

    def _report(self, measuring: Measuring, ended: int) -> None:
        # The names and times of the readings, not of the goal: a faulty probe says what it saw.
        last = measuring.taken[-1] if measuring.taken else None
        header = Header(
            stamp=to_msg(last.stamp if last is not None else ended),
            frame_id=last.sample if last is not None else measuring.sample,
        )
        self._measurements.publish(
            Measurement(
                header=header,
                measurement_id=measuring.id,
                mean=measuring.mean,
                count=len(measuring.taken),
                complete=measuring.complete,
            )
        )


def _unchanged(_parameters: list[Parameter]) -> Any:
    return SetParametersResult(successful=False, reason="failed; see the log")


def _aborted(handle: ServerGoalHandle) -> Any:
    if handle.is_active:
        handle.abort()
    return Measure.Result(success=False, message="failed; see the log")
