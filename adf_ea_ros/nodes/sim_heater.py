"""A simulated heater as a node of its own: the action ``~/heat``, with faults set by parameters."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter

from adf_ea_ros.action import Heat
from adf_ea_ros.nodes.sim_clock import ClockNode
from adf_ea_ros.nodes.support import StartFault, declare, guard
from adf_ea_ros.sim.faults import SECOND, FaultError, HeaterFaultKind, heater_fault
from adf_ea_ros.sim.heater import Heater, Heating, Phase
from adf_ea_ros.sim.world import Refused

_FOR_EVER = -1


class AnswerLosingServer(ActionServer):
    """An action server whose answers to result requests can get lost, goal by goal.

    The goal itself runs and ends as ever, and the status topic says so: only the answer never leaves, as if
    the link had failed at that moment.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._to_lose: dict[bytes, int] = {}
        super().__init__(*args, **kwargs)

    def lose_answers(self, goal_id: Any, count: int) -> None:
        """Leave the next ``count`` result requests for this goal unanswered; 0: all of them."""
        self._to_lose[bytes(goal_id.uuid)] = count or _FOR_EVER

    async def _execute_get_result_request(self, request_header_and_message: Any) -> None:
        goal_id = bytes(request_header_and_message[1].goal_id.uuid)
        left = self._to_lose.get(goal_id, 0)
        if left:
            self._to_lose[goal_id] = max(left - 1, _FOR_EVER)
            return
        await super()._execute_get_result_request(request_header_and_message)


class HeaterNode(Node):
    """Node, action server and parameters around one ``Heater``."""

    def __init__(self, name: str, clock: ClockNode, **options: Any) -> None:
        super().__init__(name, **options)
        self._rig_clock = clock
        clock.drive(self)
        declare(self, "fault", "none", _described(HeaterFaultKind), fixed=False)
        declare(
            self, "fault_uses", 0, "how many goals meet the fault, from the first on; 0: all", fixed=False
        )
        declare(self, "fault_delay", 10.0, "delayed_effect: logical s until the heating", fixed=False)
        declare(self, "fault_answers", 0, "lost_result: unanswered result requests; 0: all", fixed=False)
        ramp = declare(self, "ramp", 20.0, "degC per logical second")
        hold = declare(self, "hold", 3600.0, "logical seconds for which a reached set point is kept")
        self._timeout = declare(
            self, "result_timeout", 3600, "logical seconds for which an ended goal is remembered"
        )
        try:
            self.heater = Heater(
                name, clock.world, ramp=ramp, hold=round(hold * SECOND), fault=self._fault({})
            )
        except ValueError as fault:  # FaultError too
            raise StartFault(f"{self.get_fully_qualified_name()}: {fault}") from None
        self._server: AnswerLosingServer | None = None
        self._requested: Heating | None = None
        self._heatings: dict[bytes, Heating] = {}
        self.add_on_set_parameters_callback(guard(self, "parameters", self._on_parameters, _unchanged))
        self._offer()
        clock.on_step(guard(self, "step", self._offer))

    def _fault(self, changes: dict[str, Any]) -> Any:
        names = {"kind": "fault", "uses": "fault_uses", "delay": "fault_delay", "answers": "fault_answers"}
        values = {key: changes.get(name, self.get_parameter(name).value) for key, name in names.items()}
        return heater_fault(**values)

    def _on_parameters(self, parameters: list[Parameter]) -> Any:
        try:
            self.heater.fault = self._fault({parameter.name: parameter.value for parameter in parameters})
        except (FaultError, TypeError) as fault:
            return SetParametersResult(successful=False, reason=str(fault))
        return SetParametersResult(successful=True)

    def _offer(self) -> None:
        """Let the action be there, or not, as the fault says."""
        if self.heater.offered and self._server is None:
            self._server = AnswerLosingServer(
                self,
                Heat,
                "~/heat",
                guard(self, "heating", self._execute, _aborted),
                callback_group=ReentrantCallbackGroup(),
                goal_callback=guard(self, "goal request", self._on_goal, lambda _: GoalResponse.REJECT),
                handle_accepted_callback=guard(self, "start of a goal", self._on_accepted),
                cancel_callback=guard(
                    self, "cancel request", self._on_cancel, lambda _: CancelResponse.REJECT
                ),
                result_timeout=self._timeout,
            )
        elif not self.heater.offered and self._server is not None:
            server, self._server = self._server, None
            server.destroy()

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._requested = self.heater.request(goal.sample, goal.target)
        except Refused as refusal:
            self.get_logger().info(f"refused to heat {goal.sample!r} to {goal.target} degC: {refusal}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        # rclpy calls this right after _on_goal, with no other request between them.
        heating, self._requested = self._requested, None
        if heating is None:
            raise RuntimeError("a goal was accepted that nobody requested")
        self._heatings[bytes(handle.goal_id.uuid)] = heating
        if heating.fault is HeaterFaultKind.LOST_RESULT and self._server is not None:
            self._server.lose_answers(handle.goal_id, self.heater.fault.answers)
        self.heater.begin(heating)
        self.get_logger().info(f"heats {heating.sample} to {heating.target:g} degC")
        handle.execute()

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        heating = self._heatings.get(bytes(handle.goal_id.uuid))
        if heating is None or not self.heater.cancel(heating):
            return CancelResponse.REJECT
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        goal_id = bytes(handle.goal_id.uuid)
        heating = self._heatings[goal_id]
        while not heating.done:
            handle.publish_feedback(Heat.Feedback(temperature=heating.believed))
            await self._rig_clock.ticker
        del self._heatings[goal_id]
        if heating.phase is Phase.CANCELED:
            # The cancel request that stopped the heating moves the goal to CANCELING a moment later.
            while handle.is_active and not handle.is_cancel_requested:
                await self._rig_clock.ticker
            handle.canceled()
        elif heating.phase is Phase.SUCCEEDED:
            handle.succeed()
        else:
            handle.abort()
        success = heating.phase is Phase.SUCCEEDED
        return Heat.Result(success=success, message=heating.message, reached=heating.believed)


def _described(kinds: Any) -> str:
    return "one of " + ", ".join(kind.value for kind in kinds)


def _unchanged(_parameters: list[Parameter]) -> Any:
    return SetParametersResult(successful=False, reason="failed; see the log")


def _aborted(handle: ServerGoalHandle) -> Any:
    if handle.is_active:
        handle.abort()
    return Heat.Result(success=False, message="failed; see the log")
