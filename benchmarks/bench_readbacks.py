"""Twenty readbacks at 100 Hz: processor time and memory of the authority, beside a node that only listens.

    python benchmarks/bench_readbacks.py [--topics 20] [--rate 100] [--seconds 30]

A device publishes all topics in one process. Three others listen at the same time, so that all of them meet
the same machine: a plain rclpy node whose callbacks do nothing; an authority without an episode, which takes
every sample in; an authority with an episode whose goal rests on all of the topics, which also judges them
five times a second and writes what turns. What a message costs is the processor time of the process divided
by the messages it took; the authority's share of it is the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import Temperature
from std_msgs.msg import Header, UInt64

from adf_ea_ros import srv
from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import READBACK, latched
from adf_ea_ros.runtime.service import KEPT
from benchmarks.parts import Client, memory, node, processes, processor, spin

PROVIDER = """\
spec: adf_ea_ros/1
kind: provider
id: device
version: 1.0.0
lifecycle: active
node: /bench_device
routes:
"""
ROUTE = """\
  t{n}:
    topic: /bench_device/t{n}
    type: sensor_msgs/msg/Temperature
    path: temperature
    subject: {{const: item{n}}}
    value: {{field: temperature}}
    stamp: header.stamp
"""
TASK = """\
spec: adf_ea_ros/1
kind: task
id: watch
version: 1.0.0
budgets: {physical: 0, observation: 0}
obligations:
"""
OBLIGATION = """\
  seen{n}:
    kind: state
    condition: {{subject: item{n}, path: temperature, gte: 0}}
    evidence: {{role: SAME_PROVIDER, max_age: 2 s}}
    routes: [device/t{n}]
"""


def device(topics: int, rate: float) -> None:
    """Publish ``topics`` topics at ``rate`` messages a second each."""
    rclpy.init()
    own = rclpy.create_node("bench_device")
    publishers = [own.create_publisher(Temperature, f"~/t{n}", READBACK) for n in range(topics)]

    def publish() -> None:
        header = Header(stamp=own.get_clock().now().to_msg())
        for publisher in publishers:
            publisher.publish(Temperature(header=header, temperature=20.0))

    own.create_timer(1.0 / rate, publish)
    spin(own)


def listener(topics: int) -> None:
    """Take every message, and do nothing with it but count."""
    rclpy.init()
    own = rclpy.create_node("bench_listener")
    count = own.create_publisher(UInt64, "~/count", latched(1))
    taken = 0

    def take(_: Any) -> None:
        nonlocal taken
        taken += 1

    for n in range(topics):
        own.create_subscription(Temperature, f"/bench_device/t{n}", take, READBACK)
    own.create_timer(0.5, lambda: count.publish(UInt64(data=taken)))
    spin(own)


def commands(folder: Path, topics: int, rate: float) -> dict[str, list[str]]:
    """The device and the three that listen."""
    provider = PROVIDER + "".join(ROUTE.format(n=n) for n in range(topics))
    task = TASK + "".join(OBLIGATION.format(n=n) for n in range(topics))
    (folder / "provider.yaml").write_text(provider)
    (folder / "task.yaml").write_text(task)

    def authority(name: str) -> list[str]:
        given = (f"contracts:=[{folder}/provider.yaml]", f"tasks:=[{folder}/task.yaml]")
        return node("authority_main", f"/{name}", *given, f"ledger:={folder}/{name}.db")

    own = [__file__, "--topics", str(topics), "--rate", str(rate), "--role"]
    return {
        "device": [*own, "device"],
        "listener": [*own, "listener"],
        "idle": authority("idle"),
        "judging": authority("judging"),
    }


class Counts(Client):
    """How many messages each process has taken, as they tell themselves."""

    def __init__(self) -> None:
        """A node of its own."""
        super().__init__("bench_counts")
        self._listener = 0
        self._readbacks: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        self.node.create_subscription(UInt64, "/bench_listener/count", self._on_count, latched(1))
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def _on_count(self, message: Any) -> None:
        self._listener = message.data

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if ": readback " in status.name:
                values = {pair.key: pair.value for pair in status.values}
                self._readbacks[status.name] = int(values["received"])
                self.lost[status.name] = int(values.get("lost", 0))

    def taken(self) -> dict[str, int]:
        """Messages by process."""
        found = {"listener": self._listener}
        for name in ("idle", "judging"):
            found[name] = sum(
                count for full, count in self._readbacks.items() if full.startswith(f"/{name}/")
            )
        return found


def measure(topics: int, rate: float, seconds: float) -> dict[str, Any]:
    """Run everything and give the numbers."""
    with DomainLease() as lease, tempfile.TemporaryDirectory() as folder:
        environment = lease.environment()
        os.environ.clear()
        os.environ.update(environment)
        with processes(commands(Path(folder), topics, rate), environment, quiet=True) as started:
            counts = Counts()
            counts.until(lambda: all(counts.taken().values()), "messages at every process", 60.0)

            def begun() -> bool:
                name = "/judging/authority/start_episode"
                return bool(counts.call(srv.StartEpisode, name, task="watch", planner="bench").started)

            counts.until(begun, "an episode")
            warm = max(5.0, 1.5 * KEPT / rate)  # until the buffers are full: they grow no further
            end = time.monotonic() + warm
            counts.until(lambda: time.monotonic() > end, "a warm start", warm + 10)
            names = ("listener", "idle", "judging")
            taken, began = counts.taken(), time.monotonic()
            before = {name: (processor(started[name]), memory(started[name])) for name in names}
            counts.until(lambda: time.monotonic() - began > seconds, "the time", seconds + 10)
            took, now = time.monotonic() - began, counts.taken()
            rows = {}
            for name in names:
                spent, messages = processor(started[name]) - before[name][0], now[name] - taken[name]
                rows[name] = {
                    "messages_per_s": round(messages / took),
                    "processor_percent": round(100 * spent / took, 1),
                    "us_per_message": round(1e6 * spent / messages, 1) if messages else 0.0,
                    "memory_mb": round(memory(started[name]), 1),
                    "grown_mb": round(memory(started[name]) - before[name][1], 2),
                }
            raw = rows["listener"]["us_per_message"]
            for row in rows.values():
                row["ratio"] = round(row["us_per_message"] / raw, 2) if raw else 0.0
            return {"topics": topics, "rate_hz": rate, "seconds": round(took, 1), "processes": rows}


def main() -> None:
    """Print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--rate", type=float, default=100.0, help="messages a second of each topic")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--role", choices=["device", "listener"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "device":
        device(options.topics, options.rate)
        return
    if options.role == "listener":
        listener(options.topics)
        return
    found = measure(options.topics, options.rate, options.seconds)
    print(f"{'':9} {'messages/s':>10} {'processor':>10} {'a message':>10} {'ratio':>6} {'memory':>9} grown")
    for name, row in found["processes"].items():
        print(
            f"{name:9} {row['messages_per_s']:10} {row['processor_percent']:8.1f} % "
            f"{row['us_per_message']:7.1f} µs {row['ratio']:6.2f} {row['memory_mb']:6.1f} MB "
            f"{row['grown_mb']:.2f} MB"
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
