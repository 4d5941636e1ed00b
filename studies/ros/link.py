"""A real authority node with its clock, its devices' interfaces in the graph, and a client, in a domain of
its own.

The units' services and the monitor's topics belong to nodes of the names that the contracts declare, so that
the authority finds and identifies them as it would on a robot. The device behind them is the studies'
simulator: its logical time is the ROS time, and nothing goes on before a message has arrived where it must.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool
from typing_extensions import Self

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.authority import AuthorityNode
from adf_ea_ros.nodes.authority_main import start
from adf_ea_ros.nodes.convert import time_msg
from adf_ea_ros.nodes.isolation import DomainLease
from studies.device import Sample
from studies.inputs import Library

PATIENCE = 30.0
"""Real seconds after which something that must come has not come."""
SERVICES = {
    "start_episode": srv.StartEpisode,
    "revise_proposal": srv.ReviseProposal,
    "admit": srv.Admit,
    "report": srv.Report,
    "observe": srv.Observe,
    "claim_completion": srv.ClaimCompletion,
    "stop_episode": srv.StopEpisode,
}


class Late(Exception):
    """Something did not come in time; the text says what."""


class Link:
    """The nodes of one library's contracts. A context manager; one at a time in a process."""

    def __init__(self, library: Library, folder: Path) -> None:
        """``folder`` is for the ledger and ROS's logs."""
        self.library = library
        self._folder = folder
        self._now = 0
        self._sent = self._arrived = 0
        self._publishers: dict[tuple[str, str], Any] = {}
        self._nodes: dict[str, Node] = {}
        self._units: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._lease = DomainLease()
        os.environ.update(self._lease.environment())
        os.environ["ROS_LOG_DIR"] = str(self._folder / "log")
        rclpy.init(args=["--ros-args", "--log-level", "error"])
        self._executor = SingleThreadedExecutor()
        files = sorted(self.library.folder.rglob("*.yaml"))
        given = {
            "contracts": [str(f) for f in files if f.parent.name != "tasks"],
            "tasks": [str(f) for f in files if f.parent.name == "tasks"],
            "ledger": str(self._folder / "ledger.sqlite"),
            "use_sim_time": True,
        }
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.authority = AuthorityNode(parameter_overrides=overrides)
        self._executor.add_node(self.authority)
        client = self._node("/studies/client")
        self._clock = client.create_publisher(Clock, "/clock", 10)
        self._clients = {
            name: client.create_client(kind, f"/authority/{name}") for name, kind in SERVICES.items()
        }
        for provider in self.library.providers:
            self.offer(provider)
        start(self.authority)
        assert self.authority.service is not None
        self.service = self.authority.service
        self._count_arrivals()
        self.until(lambda: self._clock.get_subscription_count() > 0, "the clock's subscriber")
        self.at(1)
        self.until(lambda: self.authority.desk.service is not None, "the authority to be active")
        self.until(lambda: all(c.service_is_ready() for c in self._clients.values()), "its services")
        self.until(lambda: all(self.authority.presence.reason(p) == "" for p in self._units), "all units")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown()
        self.authority.close()
        rclpy.try_shutdown()
        self._lease.close()

    def _count_arrivals(self) -> None:
        take = self.service.observed

        def observed(sample: Any, now: int) -> str | None:
            refused = take(sample, now)
            self._arrived += 1
            return refused

        self.service.observed = observed  # type: ignore[method-assign]

    def _node(self, full: str) -> Node:
        if full not in self._nodes:
            namespace, _, name = full.rpartition("/")
            self._nodes[full] = Node(name, namespace=namespace)
            self._executor.add_node(self._nodes[full])
        return self._nodes[full]

    # -- the world -------------------------------------------------------------------------------------

    def offer(self, provider: str) -> None:
        """Have a unit's service in the graph. Nobody calls it: the simulator is asked directly."""
        tool = self.library.providers[provider].get("tool")
        if tool is not None and provider not in self._units:
            node = self._node(self.library.providers[provider]["node"])
            self._units[provider] = node.create_service(SetBool, tool["name"], lambda _, answer: answer)

    def withdraw(self, provider: str) -> None:
        """Take a unit's service out of the graph, and wait until the authority has noticed."""
        if provider in self._units:
            node = self._node(self.library.providers[provider]["node"])
            node.destroy_service(self._units.pop(provider))
            self.until(lambda: provider in self.service.unavailable, f"{provider} to be missed")

    def restore(self, gone: Iterable[str] = ()) -> None:
        """All units are there but for those that are ``gone``, and the authority knows it."""
        for provider in self.library.providers:
            if provider not in gone:
                self.offer(provider)
        self.until(lambda: not self.service.unavailable.keys() - set(gone), "all units to be back")
        for provider in gone:
            self.withdraw(provider)

    def publish(self, sample: Sample) -> None:
        """A reading as a message, from the node that the simulator says; returns when it has been judged."""
        self.at(sample.received)
        owner, _, name = sample.route.partition("/")
        route = self.library.providers[owner]["routes"][name]
        message = msg.Record(record_id=sample.id)
        message.header.stamp = time_msg(sample.stamp)
        message.header.frame_id = sample.subject
        setattr(message, route["value"]["field"], sample.value)
        for field, value in sample.fields:
            setattr(message, route["correlation"][field], value)
        self._publisher(sample.source, route["topic"]).publish(message)
        self._sent += 1
        self.until(lambda: self._arrived == self._sent, f"reading {sample.id}")

    def _publisher(self, provider: str, topic: str) -> Any:
        if (provider, topic) not in self._publishers:
            node = self._node(self.library.providers[provider]["node"])
            quality = QoSProfile(
                depth=200, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE
            )
            made = node.create_publisher(msg.Record, topic, quality)
            self._publishers[provider, topic] = made
            self.until(lambda: made.get_subscription_count() > 0, f"a subscriber of {topic}")
        return self._publishers[provider, topic]

    # -- time and requests -----------------------------------------------------------------------------

    def at(self, now: int) -> None:
        """Let it be ``now`` (ns), for the authority too."""
        if now <= self._now:
            return
        self._now = now
        self._clock.publish(Clock(clock=time_msg(now)))
        self.until(lambda: self.authority.get_clock().now().nanoseconds == now, "the clock to be heard")

    def call(self, name: str, **fields: Any) -> Any:
        """Ask the authority."""
        answer = self._clients[name].call_async(SERVICES[name].Request(**fields))
        self.until(answer.done, f"the answer to {name}")
        return answer.result()

    def until(self, condition: Callable[[], Any], what: str) -> None:
        """Let the nodes work until a condition holds.

        Raises:
            Late: it does not, within ``PATIENCE``.
        """
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise Late(f"waited {PATIENCE:g} s for {what}")
            self._executor.spin_once(timeout_sec=0.05)
