"""A simulated recorder as a node of its own: the service ``~/write``."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future

from adf_ea_ros.nodes.sim_clock import ClockNode
from adf_ea_ros.nodes.support import StartFault, declare, guard
from adf_ea_ros.sim.faults import FaultError, RecorderFaultKind, recorder_fault
from adf_ea_ros.sim.recorder import Archive, Recorder
from adf_ea_ros.srv import WriteRecord


class RecorderNode(Node):
    """Node, service and parameters around one ``Recorder``."""

    def __init__(self, name: str, clock: ClockNode, archive: Archive, **options: Any) -> None:
        super().__init__(name, **options)
        self._rig_clock = clock
        clock.drive(self)
        kinds = ", ".join(kind.value for kind in RecorderFaultKind)
        declare(self, "fault", "none", f"one of {kinds}", fixed=False)
        declare(
            self, "fault_uses", 0, "how many requests meet the fault, from the first on; 0: all", fixed=False
        )
        try:
            self.recorder = Recorder(name, clock.world, archive, fault=self._fault({}))
        except FaultError as fault:
            raise StartFault(f"{self.get_fully_qualified_name()}: {fault}") from None
        self._service: Any = None
        self.add_on_set_parameters_callback(guard(self, "parameters", self._on_parameters, _unchanged))
        self._offer()
        clock.on_step(guard(self, "step", self._offer))

    def _fault(self, changes: dict[str, Any]) -> Any:
        names = {"kind": "fault", "uses": "fault_uses"}
        values = {key: changes.get(name, self.get_parameter(name).value) for key, name in names.items()}
        return recorder_fault(**values)

    def _on_parameters(self, parameters: list[Parameter]) -> Any:
        try:
            self.recorder.fault = self._fault({parameter.name: parameter.value for parameter in parameters})
        except (FaultError, TypeError) as fault:
            return SetParametersResult(successful=False, reason=str(fault))
        return SetParametersResult(successful=True)

    def _offer(self) -> None:
        """Let the service be there, or not, as the fault says."""
        if self.recorder.offered and self._service is None:
            self._service = self.create_service(
                WriteRecord,
                "~/write",
                guard(self, "writing", self._write, _failed),
                callback_group=ReentrantCallbackGroup(),  # a writing that is never answered blocks no other
            )
        elif not self.recorder.offered and self._service is not None:
            service, self._service = self._service, None
            self.destroy_service(service)

    async def _write(self, request: Any, response: Any) -> Any:
        writing = self.recorder.begin(request.sample)
        while not writing.done:
            await self._rig_clock.ticker
        if not writing.answered:
            await Future()  # the answer is lost: this call never returns
        response.success, response.message = writing.success, writing.message
        response.record_id = writing.record_id
        return response


def _unchanged(_parameters: list[Parameter]) -> Any:
    return SetParametersResult(successful=False, reason="failed; see the log")


def _failed(_request: Any, response: Any) -> Any:
    response.success, response.message = False, "failed; see the log"
    return response
