"""The demo's own node: listens to the authority and to the rig, and asks them what the demo must know."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rosgraph_msgs.msg import Clock as ClockMsg
from sensor_msgs.msg import Temperature

from adf_ea_ros.cli.watch_view import DecisionView
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.msg import Heatings
from adf_ea_ros.nodes.names import AUTHORITY, execute_action
from adf_ea_ros.nodes.support import CLOCK, READBACK, from_msg, guard, latched
from adf_ea_ros.nodes.watch import Listener
from adf_ea_ros.srv import ListCapabilities


class Eyes(Listener):
    """Sees decisions, the rig's clock, the temperature of the sample, and the rig's count of heatings."""

    def __init__(self, sample: str, on_decision: Callable[[DecisionView], None]) -> None:
        super().__init__(AUTHORITY, on_decision=on_decision)
        self.now: Ns = 0
        self.temperature: float | None = None
        self.heatings = 0
        self._sample = sample
        node = self.node
        node.create_subscription(ClockMsg, "/clock", guard(node, "clock", self._on_clock), CLOCK)
        node.create_subscription(
            Temperature, "/rig/probe/temperature", guard(node, "temperature", self._on_temperature), READBACK
        )
        node.create_subscription(
            Heatings, "/rig/heatings", guard(node, "heatings", self._on_heatings), latched(1)
        )
        self._list = node.create_client(ListCapabilities, f"{AUTHORITY}/list_capabilities")
        self._asked: Any = None
        self._ask_after = 0.0
        self._generation = 0

    @property
    def generation(self) -> int:
        """Start of the authority that decides now; 0 while none does. Asks for it in passing."""
        if self._asked is not None and self._asked.done():
            self._generation = self._asked.result().generation
            self._asked, self._ask_after = None, 0.0
        # An answer can get lost while the two sides still discover each other: asked again after a second.
        if self._list.service_is_ready() and time.monotonic() > self._ask_after:
            self._ask_after = time.monotonic() + 1.0
            self._asked = self._list.call_async(ListCapabilities.Request())
        return self._generation

    def offered(self, provider: str) -> bool:
        """Whether a capability node offers to run steps on this provider."""
        return bool(self.node.count_services(f"{execute_action(provider)}/_action/send_goal"))

    def set_parameter(self, node: str, name: str, value: str) -> Any:
        """Set a text parameter of a node; gives the future of the answer."""
        client = self.node.create_client(SetParameters, f"{node}/set_parameters")
        given = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        return client.call_async(SetParameters.Request(parameters=[ParameterMsg(name=name, value=given)]))

    def _on_clock(self, message: Any) -> None:
        self.now = from_msg(message.clock)

    def _on_temperature(self, message: Any) -> None:
        if message.header.frame_id == self._sample:
            self.temperature = message.temperature

    def _on_heatings(self, message: Any) -> None:
        self.heatings = message.total
