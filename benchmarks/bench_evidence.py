"""Speed and memory of the evidence layer, beside the rate at which rclpy delivers messages here.

    python benchmarks/bench_evidence.py [--seconds 1.0] [--no-ros]

- *ingest*: samples per second into one buffer, each with sequence number, identity and subject: of
  observations that exist already, of observations made on the way (with their ids), and of messages read
  through a route's declaration.
- *qualify*: the time of one qualification with a window of ten, at 10, 1,000 and 100,000 buffered samples.
    - *1 Hz*: ten samples one second apart, none older than 20 s: 21 samples lie in the period.
    - *all fresh*: every buffered sample lies in the period: the limit on what is considered is met.
    - *1 kHz*: as many, with a cadence of a second, so that the window reaches far behind that limit.
- *memory*: what a buffered sample takes.
- *rclpy*: messages per second from a publisher in another process to a callback, best case: no other work.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Role, Route
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.reader import RouteReader
from adf_ea_ros.evidence.types import Context, Observation, Requirement, Verdict

S = 1_000_000_000
Thing = TypeVar("Thing")
BATCH = 500
ROUTE = "probe/temperature"
SIZES = (10, 1_000, 100_000)
HOT = Condition("s1", "temperature", (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0)))
CONTEXT = Context(executor="heater", after=1)


def sample(number: int, step: int) -> Observation:
    """The observation of one message, as a route reader makes it."""
    stamp = S + number * step
    return Observation(
        id=f"{ROUTE}|gid|{number}",
        route=ROUTE,
        source="probe",
        subject="s1",
        path="temperature",
        value=80.0,
        stamp=stamp,
        received=stamp,
        sequence=number,
        publisher="gid",
    )


def filled(size: int, step: int) -> RouteBuffer:
    """A buffer that is full, and has been for a while."""
    buffer = RouteBuffer(ROUTE, depth=size)
    for number in range(size + size // 2):
        buffer.add(sample(number, step))
    return buffer


def rate(make: Callable[[int], Thing], take: Callable[[Thing], object], seconds: float) -> float:
    """Things per second that ``take`` takes, not counting what ``make`` does.

    The median of batches so short that most of them pass without another process getting a turn.
    """
    times: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        things = [make(BATCH * len(times) + offset) for offset in range(BATCH)]
        start = time.perf_counter()
        for thing in things:
            take(thing)
        times.append(time.perf_counter() - start)
    return BATCH / statistics.median(times)


def ingest(seconds: float) -> dict[str, float]:
    """Samples per second in the three ways."""
    route = Route.model_validate(
        {
            "topic": "/probe/temperature",
            "type": "sensor_msgs/msg/Temperature",
            "path": "temperature",
            "subject": {"field": "header.frame_id"},
            "value": {"field": "temperature"},
            "stamp": "header.stamp",
        }
    )
    reader = RouteReader(ROUTE, route)
    header = SimpleNamespace(frame_id="s1", stamp=SimpleNamespace(sec=1, nanosec=0))
    message = SimpleNamespace(header=header, temperature=80.0)
    ready, made, read = (RouteBuffer(ROUTE, depth=10_000) for _ in range(3))

    def take_message(number: int) -> None:
        read.add(reader.read(message, source="probe", received=2 * S, publisher="gid", sequence=number))

    def make_and_add(number: int) -> None:
        made.add(sample(number, 1000))

    return {
        "observations that exist": rate(lambda number: sample(number, 1000), ready.add, seconds),
        "observations made on the way": rate(int, make_and_add, seconds),
        "messages read by a route": rate(int, take_message, seconds),
    }


def requirement(max_age: int, cadence: int) -> Requirement:
    """Ten samples in a row."""
    return Requirement("hot", HOT, Role.INDEPENDENT_SENSOR, (ROUTE,), max_age, 10, False, cadence, cadence)


CASES = {
    "1 Hz, 20 s": (S, requirement(20 * S, S)),
    "all fresh": (1000, requirement(10_000 * S, 0)),
    "1 kHz, 1 s apart": (S // 1000, requirement(20 * S, S)),
}


def qualification(size: int, step: int, wanted: Requirement, seconds: float) -> dict[str, float]:
    """Median and 99th percentile, in microseconds, and how often per second at the median."""
    buffer = filled(size, step)
    buffers, now = {ROUTE: buffer}, buffer.latest
    result = qualify_routes(wanted, CONTEXT, buffers, now)
    enough = size * step > 10 * wanted.spacing_least or step == wanted.spacing_least
    if (result.verdict is Verdict.SATISFIED) is not enough:
        raise AssertionError(result.explain())
    times: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 200:
        start = time.perf_counter_ns()
        qualify_routes(wanted, CONTEXT, buffers, now)
        times.append((time.perf_counter_ns() - start) / 1000)
    median = statistics.median(times)
    return {"median_us": median, "p99_us": statistics.quantiles(times, n=100)[98], "per_second": 1e6 / median}


def memory(size: int) -> float:
    """Bytes per buffered sample, with everything that hangs on it."""
    gc.collect()
    tracemalloc.start()
    buffer = filled(size, 1000)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / len(buffer)


PUBLISHER = """
import sys, time, rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Temperature
rclpy.init()
node = rclpy.create_node("bench_publisher")
publisher = node.create_publisher(Temperature, "bench_evidence", QoSProfile(depth=1000))
while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
message = Temperature(temperature=80.0)
message.header.frame_id = "s1"
while True:
    publisher.publish(message)
"""


def rclpy_rate(seconds: float) -> float | None:
    """Messages per second to a callback that does nothing; None where there is no rclpy."""
    try:
        import rclpy  # noqa: PLC0415 - optional here
        from rclpy.qos import QoSProfile  # noqa: PLC0415
        from sensor_msgs.msg import Temperature  # noqa: PLC0415
    except ImportError:
        return None
    received = 0

    def callback(_: object) -> None:
        nonlocal received
        received += 1

    rclpy.init()
    node = rclpy.create_node("bench_subscriber")
    node.create_subscription(Temperature, "bench_evidence", callback, QoSProfile(depth=1000))
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    publisher = subprocess.Popen([sys.executable, "-c", PUBLISHER])
    try:
        while received < 100:
            executor.spin_once(timeout_sec=1.0)
            if publisher.poll() is not None:
                raise RuntimeError("the publisher ended")
        before, start = received, time.monotonic()
        while time.monotonic() < start + seconds:
            executor.spin_once(timeout_sec=1.0)
        return (received - before) / (time.monotonic() - start)
    finally:
        publisher.kill()
        publisher.wait()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown()


def main() -> None:
    """Measure and print a table, and a line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    parser.add_argument("--no-ros", action="store_true", help="leave out rclpy")
    options = parser.parse_args()
    taken = ingest(options.seconds)
    for name, value in taken.items():
        print(f"ingest, {name:<30} {value:>12,.0f} per s")
    found: dict[str, dict[str, float]] = {}
    for name, (step, wanted) in CASES.items():
        for size in SIZES:
            row = found[f"{name}, {size}"] = qualification(size, step, wanted, options.seconds)
            print(
                f"qualify, {name:<17} {size:>8,} buffered {row['median_us']:>9.1f} us median"
                f" {row['p99_us']:>9.1f} us p99 {row['per_second']:>9,.0f} per s"
            )
    per_sample = memory(100_000)
    print(f"memory {per_sample:>42,.0f} bytes per sample")
    delivered = None if options.no_ros else rclpy_rate(options.seconds)
    if delivered is not None:
        print(f"rclpy delivers {delivered:>34,.0f} per s")
    print(
        json.dumps(
            {
                "bench": "evidence",
                "ingest": taken,
                "qualify": found,
                "bytes_per_sample": per_sample,
                "rclpy_per_second": delivered,
            }
        )
    )


if __name__ == "__main__":
    main()
