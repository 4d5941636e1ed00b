"""The baseline of the demo: a plain action client that takes answers at their word, as most clients do.

It sends a goal, waits for the result, sends the goal again where none comes, and believes what it is told. No
authority, no evidence. ``python -m adf_ea_ros.nodes.demo.direct`` on a rig that is running.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from adf_ea_ros.action import Heat, Measure
from adf_ea_ros.srv import WriteRecord

CLAIMED, FAILED, INTERRUPTED = 0, 3, 130
SENDS = 2
"""How often a goal is sent before the client gives up."""

_THERE = 10.0  # seconds within which a device must be there


class DirectClient:
    """Heat, measure, record, each on the first device."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor, patience: float) -> None:
        """``patience``: seconds of real time to wait for a result."""
        self._node, self._executor, self._patience = node, executor, patience

    def work(self, sample: str, target: float) -> bool:
        """Whether it believes that the task is done."""
        done = (
            self._act(Heat, "/rig/heater_a/heat", Heat.Goal(sample=sample, target=target), f"heat {sample}")
            and self._act(Measure, "/rig/probe/measure", Measure.Goal(sample=sample), f"measure {sample}")
            and self._record(sample)
        )
        _say("reports: task complete, every step succeeded" if done else "reports: task failed")
        return done

    def _act(self, kind: Any, name: str, goal: Any, what: str) -> bool:
        client = ActionClient(self._node, kind, name)
        try:
            if not self._until(client.server_is_ready, _THERE):
                _say(f"{what}: no action {name}")
                return False
            for number in range(1, SENDS + 1):
                _say(f"{what}: sends the goal to {name}" + (" again" if number > 1 else ""))
                answer = self._send(client, goal)
                if answer is None:
                    _say(f"{what}: no result within {self._patience:g} s")
                    continue
                succeeded = answer.status == GoalStatus.STATUS_SUCCEEDED
                _say(f"{what}: the answer is {'SUCCEEDED' if succeeded else 'not SUCCEEDED'}")
                return succeeded
        finally:
            client.destroy()
        return False

    def _send(self, client: ActionClient, goal: Any) -> Any:
        sent = client.send_goal_async(goal)
        if not self._until(sent.done, self._patience) or not sent.result().accepted:
            return None
        result = sent.result().get_result_async()
        return result.result() if self._until(result.done, self._patience) else None

    def _record(self, sample: str) -> bool:
        name = "/rig/recorder_a/write"
        client = self._node.create_client(WriteRecord, name)
        if not self._until(client.service_is_ready, _THERE):
            _say(f"record {sample}: no service {name}")
            return False
        _say(f"record {sample}: calls {name}")
        answer = client.call_async(WriteRecord.Request(sample=sample))
        if not self._until(answer.done, self._patience):
            _say(f"record {sample}: no answer")
            return False
        return bool(answer.result().success)

    def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=0.05)
        return True


def _say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the task without assurance; 0 where the client believes in success."""
    parser = argparse.ArgumentParser(description="Baseline of the demo: a direct client.")
    parser.add_argument("--sample", default="s1")
    parser.add_argument("--target", type=float, default=80.0, help="degC")
    parser.add_argument(
        "--patience", type=float, default=2.0, help="seconds of real time to wait for a result"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = Node("direct_client")
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        done = DirectClient(node, executor, options.patience).work(options.sample, options.target)
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    finally:
        rclpy.try_shutdown()
    return CLAIMED if done else FAILED


if __name__ == "__main__":
    sys.exit(main())
