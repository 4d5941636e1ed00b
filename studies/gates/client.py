"""A client as people write them against an action type: it knows the action ``heat``, and nothing of gates.

It sends one goal and believes what the status says. Where it hears of a failure, or nothing in time, it tries
once more. A launch remap leads it to the hardware or to the gate:

    python -m studies.gates.client --ros-args -r heat:=/rig/heater_a/heat
    python -m studies.gates.client --ros-args -r heat:=/bench/heat

(Up to Jazzy the services and topics of the action are remapped one by one, as the study does.)
"""

from __future__ import annotations

import json
import time
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from adf_ea_ros.action import Heat
from rclpy.action import ActionClient

PATIENCE = 15.0
"""Real seconds for which it waits for each result."""
WORDS = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
}


def attempt(node: Any, client: Any) -> str:
    """One goal, and what became of it as far as the client can tell."""
    end = time.monotonic() + PATIENCE
    if not client.wait_for_server(PATIENCE):
        return "no server"
    sent = client.send_goal_async(Heat.Goal(sample="s1", target=80.0))
    rclpy.spin_until_future_complete(node, sent, timeout_sec=PATIENCE)
    if not sent.done():
        return "nothing"
    if not sent.result().accepted:
        return "rejected"
    result = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, result, timeout_sec=max(end - time.monotonic(), 0.0))
    return WORDS.get(result.result().status, "UNKNOWN") if result.done() else "nothing"


def main() -> None:
    """Print each answer as it comes, as JSON."""
    rclpy.init()
    node = rclpy.create_node("heat_client")
    client = ActionClient(node, Heat, "heat")
    said: list[str] = []
    while not said or (said[-1] != "SUCCEEDED" and len(said) < 2):
        said.append(attempt(node, client))
        print(json.dumps(said[-1]), flush=True)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
