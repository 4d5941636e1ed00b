"""The clock of authority and capability node is chosen at the start, and by nobody later."""

from __future__ import annotations

import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from world import CONTRACTS, listed

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def test_nobody_can_turn_a_running_node_over_to_another_clock(world):
    world.authority(use_sim_time="false")
    world.capability(use_sim_time="false", contracts=listed(CONTRACTS))

    def set_(node, value):
        client = world.watcher.node.create_client(SetParameters, f"{node}/set_parameters")
        world.watcher.until(client.service_is_ready, what=f"parameters of {node}")
        change = Parameter("use_sim_time", value=value).to_parameter_msg()
        return world.watcher.result(client.call_async(SetParameters.Request(parameters=[change]))).results[0]

    for node in ("/authority", "/capability"):
        result = set_(node, True)
        assert not result.successful
        assert "fixed after the start" in result.reason
        assert set_(node, False).successful  # nothing changes
