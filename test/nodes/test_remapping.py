"""An action under another name, as launch files give it: it has to work in every distribution."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.action import ActionServer, get_action_names_and_types
from rclpy.context import Context
from test_msgs.action import Fibonacci

from adf_ea_ros.nodes.names import action_remappings

pytestmark = pytest.mark.ros


def test_an_action_can_be_given_another_name(watcher, domain):
    context = Context()
    rules = [
        word for old, new in action_remappings("heat", "/bench/heat") for word in ("-r", f"{old}:={new}")
    ]
    rclpy.init(context=context, domain_id=domain.domain, args=["--ros-args", *rules])
    node = rclpy.create_node("device", context=context)
    try:
        server = ActionServer(node, Fibonacci, "heat", lambda _: Fibonacci.Result())
        names = ("/bench/heat", ["test_msgs/action/Fibonacci"])
        watcher.until(
            lambda: names in get_action_names_and_types(watcher.node), what="the action in the graph"
        )
        assert not any(name == "/heat" for name, _ in get_action_names_and_types(watcher.node))
        server.destroy()
    finally:
        node.destroy_node()
        context.try_shutdown()
