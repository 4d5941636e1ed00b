"""A raw action beside the same action through capability and authority, in one run, as ratios.

    python benchmarks/bench_gate.py [--goals 200] [--rounds 3] [--stream 100]

The device is a process of its own: it publishes a readback of what it did, and then succeeds. Its readbacks
of another subject stream all the time. A raw client waits for the result alone; an assured goal also needs
the evidence, which has arrived by then, so that the difference is what assurance costs and not what evidence
takes. Three ways in turns, so that all of them meet the same machine: raw; authority and capability composed
in one process; authority and capability in two processes. All executors are single-threaded.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import rclpy
from adf_ea_ros.action import Execute, Heat
from adf_ea_ros.msg import Record
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from std_msgs.msg import Header

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.isolation import DomainLease

REMEMBER = 1
"""Seconds for which ended goals are remembered, on both sides: a server tells of each with every change."""
CAPABILITY = """\
spec: adf_ea_ros/1
kind: capability
id: touch
version: 1.0.0
subject: "{item}"
parameters:
  item: {type: string}
effects:
  touched:
    kind: event
    condition: {path: touched, eq: true}
evidence:
  seen: {effect: touched, role: SAME_PROVIDER, max_age: 20 s}
interruption:
  effect_absent: [stop]
  evidence_insufficient: [observe, stop]
  evidence_conflicting: [observe, stop]
  outcome_unknown: [observe, stop]
  provider_unavailable: [stop]
  state_lost: [stop]
"""
PROVIDER = """\
spec: adf_ea_ros/1
kind: provider
id: device
version: 1.0.0
lifecycle: active
node: /bench_device
tool:
  kind: action
  name: /bench_device/touch
  type: adf_ea_ros/action/Heat
  provides: touch
  arguments: {sample: item}
  promises: {final_on_result: true}
evidence:
  seen: [device/touched]
routes:
  touched:
    topic: /bench_device/touched
    type: adf_ea_ros/msg/Record
    path: touched
    subject: {field: header.frame_id}
    value: {field: exists}
    stamp: header.stamp
"""
TASK = """\
spec: adf_ea_ros/1
kind: task
id: bench
version: 1.0.0
standing: true
budgets: {physical: 100000, observation: 0}
"""


def device(rate: float) -> None:
    """The device: a process of its own, until it is killed."""

    rclpy.init()
    node = rclpy.create_node("bench_device")
    publisher = node.create_publisher(Record, "~/touched", 100)

    def publish(subject: str) -> None:
        stamp = node.get_clock().now().to_msg()
        publisher.publish(Record(header=Header(stamp=stamp, frame_id=subject), exists=True))

    def execute(handle: Any) -> Any:
        publish(handle.request.sample)
        handle.succeed()
        return Heat.Result(success=True)

    server = ActionServer(node, Heat, "~/touch", execute, result_timeout=REMEMBER)
    if rate:
        node.create_timer(1.0 / rate, lambda: publish("background"))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with contextlib.suppress(ExternalShutdownException, RuntimeError):
        executor.spin()
    server.destroy()


class Client:
    """The planner: sends goals and waits for their results."""

    def __init__(self) -> None:
        """A node of its own."""

        rclpy.init()
        self.node = rclpy.create_node("bench_client")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._number = 0

    def until(self, ready: Callable[[], Any], what: str, timeout: float = 30.0) -> None:
        """Spin until ``ready``. Raises TimeoutError."""
        end = time.monotonic() + timeout
        while not ready():
            self._executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > end:
                raise TimeoutError(what)

    def result(self, future: Any, what: str) -> Any:
        """Spin until the future is done."""
        self.until(future.done, what)
        return future.result()

    def action(self, kind: Any, name: str) -> Any:
        """A client of an action that is there."""

        client = ActionClient(self.node, kind, name)
        self.until(client.server_is_ready, f"action {name}")
        return client

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service once."""
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready, f"service {name}")
        response = self.result(client.call_async(kind.Request(**fields)), name)
        self.node.destroy_client(client)
        return response

    def run(self, client: Any, goal: Any) -> tuple[float, Any]:
        """Milliseconds from the goal to its result, and the result."""
        start = time.perf_counter_ns()
        handle = self.result(client.send_goal_async(goal), "goal response")
        result = self.result(handle.get_result_async(), "result")
        return (time.perf_counter_ns() - start) / 1e6, result

    def items(self, count: int) -> list[str]:
        """Subjects that nobody has touched."""
        self._number += count
        return [f"item_{n}" for n in range(self._number - count, self._number)]


class Gate:
    """One way through an authority."""

    def __init__(self, client: Client, prefix: str) -> None:
        """Wait for the nodes of ``prefix`` and start an episode."""

        self._client, self._authority = client, f"{prefix}/authority"
        self._action = client.action(Execute, f"{prefix}/execute/device")
        started: Any = None

        def ready() -> bool:
            nonlocal started
            started = client.call(
                srv.StartEpisode, f"{self._authority}/start_episode", task="bench", planner="bench"
            )
            return bool(started.started)

        client.until(ready, "an active authority")
        self._episode = started.episode

    def block(self, count: int) -> list[float]:
        """Milliseconds of each of ``count`` assured goals, one after the other."""

        items = self._client.items(count)
        steps = [
            msg.Step(id=item, capability="touch", arguments=json.dumps({"item": item})) for item in items
        ]
        said = self._client.call(
            srv.ReviseProposal,
            f"{self._authority}/revise_proposal",
            episode=self._episode,
            steps=steps,
            author="bench",
        ).decision
        if not said.authorized:
            raise RuntimeError(said.sentence)
        times = []
        for item in items:
            took, result = self._client.run(self._action, Execute.Goal(episode=self._episode, step=item))
            if result.result.outcome != Execute.Result.VERIFIED:
                raise RuntimeError(f"outcome {result.result.outcome}: {result.result.decision.sentence}")
            times.append(took)
        return times


def raw_block(client: Client, action: Any, count: int) -> list[float]:
    """Milliseconds of each of ``count`` raw goals."""

    return [client.run(action, Heat.Goal(sample=item))[0] for item in client.items(count)]


@contextlib.contextmanager
def processes(
    folder: Path, environment: dict[str, str], stream: float
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """The device, a composed pair, and a pair in two processes."""
    for name, text in (("capability", CAPABILITY), ("provider", PROVIDER), ("task", TASK)):
        (folder / f"{name}.yaml").write_text(text)
    contracts = f"contracts:=[{folder}/capability.yaml,{folder}/provider.yaml]"
    remember = f"result_timeout:={REMEMBER}"
    task = f"tasks:=[{folder}/task.yaml]"

    def node(module: str, space: str, *parameters: str) -> subprocess.Popen[bytes]:
        words = [word for parameter in parameters for word in ("-p", parameter)]
        command = [sys.executable, "-m", module, "--ros-args", "-r", f"__ns:={space}", *words]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)

    started: dict[str, subprocess.Popen[bytes]] = {}
    try:
        started["device"] = subprocess.Popen(
            [sys.executable, __file__, "--device", "--stream", str(stream)], env=environment
        )
        started["composed"] = node(
            "adf_ea_ros.nodes.composed_main", "/one", contracts, task, f"ledger:={folder}/one.db", remember
        )
        started["authority"] = node(
            "adf_ea_ros.nodes.authority_main", "/two", contracts, task, f"ledger:={folder}/two.db"
        )
        started["capability"] = node(
            "adf_ea_ros.nodes.capability_main", "/two", contracts, "authority:=/two/authority", remember
        )
        yield started
    finally:
        for process in started.values():
            process.terminate()
        for process in started.values():
            process.wait(10)


def memory(process: subprocess.Popen[bytes]) -> float:
    """Resident memory in MB."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def summary(times: list[float], raw: list[float]) -> dict[str, float]:
    """Median, 99th percentile, and both beside the raw action."""
    ranked, baseline = sorted(times), sorted(raw)
    p99, raw99 = ranked[int(len(ranked) * 0.99) - 1], baseline[int(len(baseline) * 0.99) - 1]
    median = statistics.median(times)
    return {
        "median_ms": round(median, 3),
        "p99_ms": round(p99, 3),
        "ratio": round(median / statistics.median(raw), 2),
        "added_p99_ms": round(p99 - raw99, 3),
    }


def measure(goals: int, rounds: int, stream: float) -> dict[str, Any]:
    """Run everything and give the numbers."""

    with DomainLease() as lease, tempfile.TemporaryDirectory() as folder:
        environment = lease.environment()
        os.environ.clear()
        os.environ.update(environment)
        with processes(Path(folder), environment, stream) as started:
            client = Client()
            action = client.action(Heat, "/bench_device/touch")
            one, two = Gate(client, "/one"), Gate(client, "/two")
            ways: dict[str, Callable[[int], list[float]]] = {
                "raw": lambda count: raw_block(client, action, count),
                "composed": one.block,
                "three processes": two.block,
            }
            times: dict[str, list[float]] = {name: [] for name in ways}
            for block in ways.values():
                block(20)  # warm
            first = {name: memory(process) for name, process in started.items()}
            for _ in range(rounds):
                for name, block in ways.items():
                    times[name] += block(goals // rounds)
            after = {name: memory(process) for name, process in started.items()}
            return {
                "goals": len(times["raw"]),
                "stream_hz": stream,
                "ways": {name: summary(found, times["raw"]) for name, found in times.items()},
                "rss_mb": {name: round(value, 1) for name, value in after.items()},
                "rss_growth_kb_per_goal": {
                    name: round((after[name] - first[name]) * 1024 / len(times["raw"]), 2)
                    for name in ("composed", "authority", "capability")
                },
            }


def main() -> None:
    """Print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--goals", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", type=float, default=100.0, help="background readbacks per second")
    parser.add_argument("--device", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device:
        device(options.stream)
        return
    found = measure(options.goals, options.rounds, options.stream)
    print(f"{'':16} {'median':>9} {'p99':>9} {'ratio':>6} {'added p99':>10}")
    for name, row in found["ways"].items():
        print(
            f"{name:16} {row['median_ms']:6.2f} ms {row['p99_ms']:6.2f} ms {row['ratio']:6.2f} "
            f"{row['added_p99_ms']:7.2f} ms"
        )
    print("resident memory:", ", ".join(f"{name} {value} MB" for name, value in found["rss_mb"].items()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
