"""What plain rclpy costs here: the base line that every ratio of this package is taken against.

A service call, and an action from sending the goal to having the result, with server and client in one
process (one executor) and in two. The server answers at once; all executors are single-threaded.

An action server publishes the status of every goal that it remembers at every change, and the client reads
it: the more goals fall within ``--remember`` seconds, the slower each one is. Ratios need the same value on
both sides.

    python benchmarks/bench_rclpy_raw.py [--calls 300] [--warm-up 50] [--remember 1]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import rclpy
from adf_ea_ros.action import Heat
from adf_ea_ros.srv import WriteRecord
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import run
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import wait_until

Samples = list[float]


def make_server(remember: int) -> Iterator[Node]:
    """A node whose action and service succeed at once; ended goals are remembered for that many seconds."""
    node = rclpy.create_node("raw_server")

    def execute(handle: Any) -> Any:
        handle.succeed()
        return Heat.Result(success=True, reached=handle.request.target)

    def write(_request: Any, response: Any) -> Any:
        response.success = True
        return response

    node.raw = [  # keeps both alive as long as the node
        ActionServer(node, Heat, "raw_heat", execute, result_timeout=remember),
        node.create_service(WriteRecord, "raw_write", write),
    ]
    yield node


class Client:
    """Calls service and action one after the other, and takes the time of each."""

    def __init__(self, executor: SingleThreadedExecutor) -> None:
        self.executor = executor
        self.node = rclpy.create_node("raw_client")
        executor.add_node(self.node)
        self.action = ActionClient(self.node, Heat, "raw_heat")
        self.service = self.node.create_client(WriteRecord, "raw_write")
        wait_until(self._is_ready, spin=lambda: executor.spin_once(timeout_sec=0.05), what="raw server")

    def _is_ready(self) -> bool:
        return bool(self.action.server_is_ready() and self.service.service_is_ready())

    def _complete(self, future: Any) -> Any:
        self.executor.spin_until_future_complete(future, timeout_sec=10.0)
        return future.result()

    def call_service(self) -> None:
        """One service call."""
        if not self._complete(self.service.call_async(WriteRecord.Request(sample="s"))).success:
            raise RuntimeError("the service failed")

    def run_action(self) -> None:
        """One goal, up to its result."""
        handle = self._complete(self.action.send_goal_async(Heat.Goal(sample="s", target=80.0)))
        if not self._complete(handle.get_result_async()).result.success:
            raise RuntimeError("the action failed")


def timed(call: Callable[[], None], calls: int, warm_up: int) -> Samples:
    """Milliseconds of each of ``calls`` calls, after ``warm_up`` others."""
    samples = []
    for number in range(warm_up + calls):
        start = time.perf_counter()
        call()
        if number >= warm_up:
            samples.append(1e3 * (time.perf_counter() - start))
    return samples


def measure(where: str, client: Client, calls: int, warm_up: int) -> dict[str, Samples]:
    """Both kinds of call."""
    return {
        f"service, {where}": timed(client.call_service, calls, warm_up),
        f"action, {where}": timed(client.run_action, calls, warm_up),
    }


@contextlib.contextmanager
def executor() -> Iterator[SingleThreadedExecutor]:
    """An executor in a context that ends with it."""
    with rclpy.init():
        yield SingleThreadedExecutor()


def benchmark(calls: int, warm_up: int, remember: int) -> dict[str, Samples]:
    """All four measurements, each pair in a domain of its own."""
    results: dict[str, Samples] = {}
    with DomainLease() as lease:
        os.environ.update(lease.environment())
        with executor() as shared:
            for node in make_server(remember):
                shared.add_node(node)
            results.update(measure("one process", Client(shared), calls, warm_up))
    with DomainLease() as lease:
        os.environ.update(lease.environment())
        server = NodeProcess(
            [sys.executable, __file__, "--serve", "--remember", str(remember)], lease.environment()
        )
        with server, executor() as own:
            results.update(measure("two processes", Client(own), calls, warm_up))
    return results


def summary(samples: Iterable[float]) -> dict[str, float]:
    """Percentiles and mean in milliseconds."""
    ordered = sorted(samples)
    at = {f"p{percent}": ordered[len(ordered) * percent // 100] for percent in (50, 90, 99)}
    return {name: round(value, 3) for name, value in {**at, "mean": statistics.fmean(ordered)}.items()}


def main() -> int:
    """Print the table and the JSON line."""
    parser = argparse.ArgumentParser(description="Latencies of plain rclpy, in milliseconds.")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--warm-up", type=int, default=50)
    parser.add_argument(
        "--remember", type=int, default=1, help="seconds for which ended goals are remembered"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return run(lambda: make_server(options.remember))
    if options.calls < 1 or options.warm_up < 0 or options.remember < 1:
        parser.error("--calls and --remember must be positive, --warm-up not negative")
    measured = benchmark(options.calls, options.warm_up, options.remember)
    results = {name: summary(samples) for name, samples in measured.items()}
    print(f"{'plain rclpy, ms':24}{'p50':>9}{'p90':>9}{'p99':>9}{'mean':>9}")
    for name, row in results.items():
        print(f"{name:24}" + "".join(f"{row[column]:9.3f}" for column in ("p50", "p90", "p99", "mean")))
    facts = {"benchmark": "rclpy_raw", "unit": "ms", "calls": options.calls, "remember_s": options.remember}
    print(json.dumps({**facts, "results": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
