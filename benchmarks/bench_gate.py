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
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import rclpy
from adf_ea_ros.action import Execute, Heat
from adf_ea_ros.msg import Record
from rclpy.action import ActionServer
from std_msgs.msg import Header

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.isolation import DomainLease
from benchmarks.parts import Client, Ways, memory, node, processes, spin, summary, table, turns, warm

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
    own = rclpy.create_node("bench_device")
    publisher = own.create_publisher(Record, "~/touched", 100)

    def publish(subject: str) -> None:
        stamp = own.get_clock().now().to_msg()
        publisher.publish(Record(header=Header(stamp=stamp, frame_id=subject), exists=True))

    def execute(handle: Any) -> Any:
        publish(handle.request.sample)
        handle.succeed()
        return Heat.Result(success=True)

    server = ActionServer(own, Heat, "~/touch", execute, result_timeout=REMEMBER)
    if rate:
        own.create_timer(1.0 / rate, lambda: publish("background"))
    spin(own)
    server.destroy()


class Gate:
    """One way through an authority."""

    def __init__(self, client: Client, prefix: str) -> None:
        """Wait for the nodes of ``prefix`` and start an episode."""

        self._client, self._authority = client, f"{prefix}/authority"
        self._action = client.action(Execute, f"{prefix}/execute/device", Execute.Goal)
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


def commands(folder: Path, stream: float) -> dict[str, list[str]]:
    """The device, a composed pair, and a pair in two processes."""
    for name, text in (("capability", CAPABILITY), ("provider", PROVIDER), ("task", TASK)):
        (folder / f"{name}.yaml").write_text(text)
    contracts = f"contracts:=[{folder}/capability.yaml,{folder}/provider.yaml]"
    remember, task = f"result_timeout:={REMEMBER}", f"tasks:=[{folder}/task.yaml]"
    reach = "authority:=/two/authority"
    return {
        "device": [__file__, "--device", "--stream", str(stream)],
        "composed": node("composed_main", "/one", contracts, task, f"ledger:={folder}/one.db", remember),
        "authority": node("authority_main", "/two", contracts, task, f"ledger:={folder}/two.db"),
        "capability": node("capability_main", "/two", contracts, reach, remember),
    }


def measure(goals: int, rounds: int, stream: float, pause: float) -> dict[str, Any]:
    """Run everything and give the numbers."""

    with DomainLease() as lease, tempfile.TemporaryDirectory() as folder:
        environment = lease.environment()
        os.environ.clear()
        os.environ.update(environment)
        with processes(commands(Path(folder), stream), environment) as started:
            client = Client(pause=pause)
            action = client.action(Heat, "/bench_device/touch", lambda: Heat.Goal(sample="nothing"))
            one, two = Gate(client, "/one"), Gate(client, "/two")
            ways: Ways = {
                "raw": lambda count: raw_block(client, action, count),
                "composed": one.block,
                "three processes": two.block,
            }
            warm(ways)
            first = {name: memory(process) for name, process in started.items()}
            times = turns(ways, goals, rounds)
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
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two goals")
    parser.add_argument("--device", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device:
        device(options.stream)
        return
    found = measure(options.goals, options.rounds, options.stream, options.pause)
    table("", found["ways"])
    print("resident memory:", ", ".join(f"{name} {value} MB" for name, value in found["rss_mb"].items()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
