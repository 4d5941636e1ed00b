"""What the benchmarks with real nodes share: a client that spins, processes, and figures of both."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from adf_ea_ros.nodes.support import GOALS, REQUESTS


def spin(node: Node) -> None:
    """Run a node of a benchmark's own until its process is told to end."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with contextlib.suppress(ExternalShutdownException, KeyboardInterrupt, RuntimeError):
        executor.spin()


class Client:
    """The planner: sends goals, calls services and waits for what comes of them."""

    def __init__(self, name: str = "bench_client", pause: float = 0.0) -> None:
        """A node of its own, in a context of its own process; ``pause``: seconds between two goals."""
        rclpy.init()
        self.node = rclpy.create_node(name)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._number, self._pause = 0, pause

    def until(self, ready: Callable[[], Any], what: str, timeout: float = 30.0) -> None:
        """Spin until ``ready``. Raises TimeoutError."""
        end = time.monotonic() + timeout
        while not ready():
            self._executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > end:
                raise TimeoutError(what)

    def result(self, future: Any, what: str, timeout: float = 30.0) -> Any:
        """Spin until the future is done."""
        self.until(future.done, what, timeout)
        return future.result()

    def action(self, kind: Any, name: str, goal: Callable[[], Any]) -> Any:
        """A client of an action that is there and answers: ``goal`` gives one to try.

        The answer to a first goal gets lost where the server has not discovered its client yet.
        """
        client = ActionClient(self.node, kind, name, **GOALS)
        self.until(client.server_is_ready, f"action {name}")
        for _ in range(6):
            future = client.send_goal_async(goal())
            with contextlib.suppress(TimeoutError):
                self.until(future.done, "goal response", 5.0)
                return client
        raise TimeoutError(f"action {name} answers no goal")

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service once."""
        client = self.node.create_client(kind, name, qos_profile=REQUESTS)
        self.until(client.service_is_ready, f"service {name}")
        response = self.result(client.call_async(kind.Request(**fields)), name)
        self.node.destroy_client(client)
        return response

    def run(self, client: Any, goal: Any) -> tuple[float, Any]:
        """Milliseconds from the goal to its result, and the result."""
        again = time.monotonic() + self._pause
        while (left := again - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        start = time.perf_counter_ns()
        handle = self.result(client.send_goal_async(goal), "goal response")
        result = self.result(handle.get_result_async(), "result")
        return (time.perf_counter_ns() - start) / 1e6, result

    def items(self, count: int) -> list[str]:
        """Subjects that nobody has touched."""
        self._number += count
        return [f"item_{n}" for n in range(self._number - count, self._number)]


@contextlib.contextmanager
def processes(
    commands: Mapping[str, Sequence[str]], environment: dict[str, str], *, quiet: bool = False
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """These Python commands side by side, until the end of the block."""
    said = subprocess.DEVNULL if quiet else None
    started: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, words in commands.items():
            started[name] = subprocess.Popen(
                [sys.executable, *words], env=environment, stdin=subprocess.DEVNULL, stderr=said
            )
        yield started
    finally:
        for process in started.values():
            process.terminate()
        for process in started.values():
            process.wait(10)


def node(module: str, space: str, *parameters: str) -> list[str]:
    """The command of one of the package's nodes in a namespace; ``parameters``: NAME:=VALUE."""
    words = [word for parameter in parameters for word in ("-p", parameter)]
    return ["-m", f"adf_ea_ros.nodes.{module}", "--ros-args", "-r", f"__ns:={space}", *words]


def processor(process: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: subprocess.Popen[bytes]) -> float:
    """Resident memory in MB."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


Ways = dict[str, Callable[[int], list[float]]]
"""By name: what runs so many goals of a way, one after the other, and gives the milliseconds of each."""


def warm(ways: Ways) -> None:
    """Let everybody have met everybody."""
    for block in ways.values():
        block(20)


def turns(ways: Ways, goals: int, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of ``goals`` goals of each way, in turns, so that all of them meet the same machine."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, block in ways.items():
            times[name] += block(goals // rounds)
    return times


def summary(times: list[float], raw: list[float]) -> dict[str, float]:
    """Median, 99th percentile, and both beside the raw interface."""
    ranked, baseline = sorted(times), sorted(raw)
    p99, raw99 = ranked[int(len(ranked) * 0.99) - 1], baseline[int(len(baseline) * 0.99) - 1]
    median = statistics.median(times)
    return {
        "median_ms": round(median, 3),
        "p99_ms": round(p99, 3),
        "ratio": round(median / statistics.median(raw), 2),
        "added_p99_ms": round(p99 - raw99, 3),
    }


def table(title: str, rows: dict[str, dict[str, float]]) -> None:
    """Print summaries."""
    print(f"{title:16} {'median':>9} {'p99':>9} {'ratio':>6} {'added p99':>10}")
    for name, row in rows.items():
        print(
            f"{name:16} {row['median_ms']:6.2f} ms {row['p99_ms']:6.2f} ms {row['ratio']:6.2f} "
            f"{row['added_p99_ms']:7.2f} ms"
        )
