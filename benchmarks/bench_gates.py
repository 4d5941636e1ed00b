"""Drop-in gates beside the raw interfaces, in one run, as ratios: an action, a service, many goals at once.

    python benchmarks/bench_gates.py [--goals 200] [--rounds 3] [--flights 1,10,50]

As in ``bench_gate.py``: the device is a process of its own, publishes a readback of what it did, and then
answers; raw and gated calls take turns, so that all of them meet the same machine. The client is the same for
all three ways: only the name of the action or service differs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import rclpy
from action_msgs.msg import GoalStatus
from adf_ea_ros.action import Heat
from adf_ea_ros.msg import Record
from adf_ea_ros.srv import WriteRecord
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import Header

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import GOALS, REQUESTS
from benchmarks.bench_gate import CAPABILITY, PROVIDER, TASK
from benchmarks.parts import Client, node, processes, spin, summary, table, turns, warm

REMEMBER = 5
"""Seconds for which ended goals are remembered, on both sides: long enough for fifty at once."""
SERVICE = """\
spec: adf_ea_ros/1
kind: provider
id: writer
version: 1.0.0
lifecycle: active
node: /bench_device
tool:
  kind: service
  name: /bench_device/write
  type: adf_ea_ros/srv/WriteRecord
  provides: touch
  arguments: {sample: item}
  promises: {final_on_result: true}
evidence:
  seen: [device/touched]
"""
GATES = """\
spec: adf_ea_ros/1
kind: gate
id: action_gate
version: 1.0.0
name: SPACE/touch
provider: device
task: bench
redundant: reject
---
spec: adf_ea_ros/1
kind: gate
id: service_gate
version: 1.0.0
name: SPACE/write
provider: writer
task: bench
redundant: reject
"""
SPACES = {"raw": "/bench_device", "composed": "/one", "three processes": "/two"}


def device() -> None:
    """The device: a process of its own, until it is killed."""
    rclpy.init()
    own = rclpy.create_node("bench_device")
    publisher = own.create_publisher(Record, "~/touched", 200)
    group = ReentrantCallbackGroup()

    def publish(subject: str) -> None:
        stamp = own.get_clock().now().to_msg()
        publisher.publish(Record(header=Header(stamp=stamp, frame_id=subject), exists=True))

    def execute(handle: Any) -> Any:
        publish(handle.request.sample)
        handle.succeed()
        return Heat.Result(success=True)

    def write(request: Any, response: Any) -> Any:
        publish(request.sample)
        response.success = True
        return response

    server = ActionServer(
        own, Heat, "~/touch", execute, callback_group=group, result_timeout=REMEMBER, **GOALS
    )
    own.create_service(WriteRecord, "~/write", write, qos_profile=REQUESTS, callback_group=group)
    spin(own)
    server.destroy()


class Way:
    """The device's interfaces under the names of one way."""

    def __init__(self, client: Client, space: str) -> None:
        """Wait until they are there, and admit."""
        self._client, self._space = client, space
        self._action = client.action(Heat, f"{space}/touch", lambda: Heat.Goal(sample=client.items(1)[0]))
        self._service = client.node.create_client(WriteRecord, f"{space}/write", qos_profile=REQUESTS)
        client.until(self._service.service_is_ready, f"{space}/write")
        client.until(lambda: self._write(client.items(1)[0]).success, f"{space} in order", 60.0)

    def _write(self, item: str) -> Any:
        return self._client.result(self._service.call_async(WriteRecord.Request(sample=item)), "reply")

    def services(self, count: int) -> list[float]:
        """Milliseconds of each call, one after the other."""
        times = []
        for item in self._client.items(count):
            start = time.perf_counter_ns()
            if not self._write(item).success:
                raise RuntimeError(f"{item} was refused")
            times.append((time.perf_counter_ns() - start) / 1e6)
        return times

    def actions(self, count: int) -> list[float]:
        """Milliseconds of each goal, one after the other."""
        times = []
        for item in self._client.items(count):
            took, response = self._client.run(self._action, Heat.Goal(sample=item))
            _succeeded(response, item)
            times.append(took)
        return times

    def flight(self, count: int) -> float:
        """Milliseconds until all of ``count`` goals that are sent at once have their results."""
        start = time.perf_counter_ns()
        items = self._client.items(count)
        results: list[Any] = []

        def accepted(future: Any) -> None:
            if not future.result().accepted:
                raise RuntimeError(f"{self._space}: one of {count} goals was rejected")
            results.append(future.result().get_result_async())

        for item in items:
            self._action.send_goal_async(Heat.Goal(sample=item)).add_done_callback(accepted)
        self._client.until(lambda: len(results) == count and all(f.done() for f in results), "results", 60.0)
        for future in results:
            _succeeded(future.result(), f"one of {count} goals")
        return (time.perf_counter_ns() - start) / 1e6


def _succeeded(response: Any, item: str) -> None:
    if response.status != GoalStatus.STATUS_SUCCEEDED:
        raise RuntimeError(f"{item} ended with status {response.status}")


def commands(folder: Path) -> dict[str, list[str]]:
    """The device, a composed pair, and a pair in two processes, each with gates."""
    for name, text in (("a", CAPABILITY), ("b", PROVIDER), ("c", SERVICE), ("task", TASK)):
        (folder / f"{name}.yaml").write_text(text)
    for space in ("/one", "/two"):
        (folder / f"gates{space[1:]}.yaml").write_text(GATES.replace("SPACE", space))
    contracts = f"contracts:=[{','.join(f'{folder}/{name}.yaml' for name in 'abc')}]"
    common = (f"result_timeout:={REMEMBER}", contracts, f"tasks:=[{folder}/task.yaml]", "max_requests:=200")
    started = {"device": [__file__, "--device"]}
    for module, space in (("composed_main", "/one"), ("authority_main", "/two"), ("capability_main", "/two")):
        own = (f"ledger:={folder}{space}.db", f"gates:=[{folder}/gates{space[1:]}.yaml]")
        started[module] = node(module, space, *common, *own, f"authority:={space}/authority")
    return started


def measure(goals: int, rounds: int, flights: list[int]) -> dict[str, Any]:
    """Run everything and give the numbers."""
    with DomainLease() as lease, tempfile.TemporaryDirectory() as folder:
        environment = lease.environment()
        os.environ.clear()
        os.environ.update(environment)
        with processes(commands(Path(folder)), environment):
            client = Client()
            ways = {name: Way(client, space) for name, space in SPACES.items()}
            found = {
                "action": _in_turns({name: way.actions for name, way in ways.items()}, goals, rounds),
                "service": _in_turns({name: way.services for name, way in ways.items()}, goals, rounds),
            }
            batches: dict[str, dict[str, float]] = {}
            for size in flights:
                took: dict[str, list[float]] = {name: [] for name in ways}
                for _ in range(max(3, goals // (10 * size))):
                    for name, way in ways.items():
                        took[name].append(way.flight(size) / size)
                medians = {name: statistics.median(times) for name, times in took.items()}
                batches[str(size)] = {name: round(median, 3) for name, median in medians.items()}
            return {**found, "ms_per_goal_in_flight": batches}


def _in_turns(ways: dict[str, Any], goals: int, rounds: int) -> dict[str, Any]:
    warm(ways)
    times = turns(ways, goals, rounds)
    return {name: summary(each, times["raw"]) for name, each in times.items()}


def main() -> None:
    """Print tables and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--goals", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flights", default="1,10,50", help="goals sent at once")
    parser.add_argument("--device", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device:
        device()
        return
    found = measure(options.goals, options.rounds, [int(size) for size in options.flights.split(",")])
    for kind in ("action", "service"):
        table(kind, found[kind])
    for size, row in found["ms_per_goal_in_flight"].items():
        print(f"{size} in flight, ms per goal:", ", ".join(f"{name} {value}" for name, value in row.items()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
