"""A real authority node and a real capability node with their clock, the devices' interfaces in the graph,
and a planner, in a domain of their own.

The units' services and the monitor's topics belong to nodes of the names that the contracts declare, so that
the authority finds and identifies them as it would on a robot. The device behind them is the studies'
simulator: its logical time is the ROS time, and nothing goes on before a message has arrived where it must.

A wait of rclpy looks at everything that an executor has, so each wait has only what it needs: the authority
and its clients; the capability node, with its 32 action servers, while a goal is on its way; and the units'
nodes not at all, whose one service is asked for its request when one is due.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
from adf_ea_ros.action import Execute
from rclpy.action import ActionClient
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
from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.nodes.convert import ruling_of, time_msg
from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.names import execute_action
from adf_ea_ros.nodes.support import latched
from adf_ea_ros.runtime.public import Ruling
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
        self._latest: Any = None  # the publisher of the latest reading
        self._publishers: dict[tuple[str, str], Any] = {}
        self._nodes: dict[str, Node] = {}
        self._units: dict[str, Any] = {}
        self._goals: dict[str, ActionClient] = {}
        self._asked: dict[str, Any] = {}
        self._contacts: set[str] = set()
        self._heard: list[Ruling] = []

    def __enter__(self) -> Self:
        self._lease = DomainLease()
        os.environ.update(self._lease.environment())
        os.environ["ROS_LOG_DIR"] = str(self._folder / "log")
        rclpy.init(args=["--ros-args", "--log-level", "error"])
        self._executor, self._hands = SingleThreadedExecutor(), SingleThreadedExecutor()
        files = sorted(self.library.folder.rglob("*.yaml"))
        contracts = [str(f) for f in files if f.parent.name != "tasks"]
        given = {
            "contracts": contracts,
            "tasks": [str(f) for f in files if f.parent.name == "tasks"],
            "ledger": str(self._folder / "ledger.sqlite"),
            "use_sim_time": True,
        }
        self.authority = AuthorityNode(parameter_overrides=_parameters(given))
        self._executor.add_node(self.authority)
        client = self._node("/studies/client")
        self._executor.add_node(client)
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
        self._enter_capability(contracts)
        return self

    def _enter_capability(self, contracts: list[str]) -> None:
        """The capability node, and the planner's side of its actions."""
        given = {"contracts": contracts, "use_sim_time": True, "authority_wait": PATIENCE}
        self.capability = CapabilityNode(parameter_overrides=_parameters(given))
        self._hands.add_node(self.capability)
        self._planner = self._node("/studies/planner")
        self._hands.add_node(self._planner)
        self._planner.create_subscription(
            msg.Decision,
            "/authority/decisions",
            lambda said: self._heard.append(ruling_of(said)),
            latched(100),
        )
        ask = self.capability.port.open_attempts

        async def open_attempts(provider: str) -> Any:
            found = await ask(provider)
            self._contacts.add(provider)
            return found

        self.capability.port.open_attempts = open_attempts  # type: ignore[method-assign]
        self.until(lambda: len(self._contacts) == len(self._units), "the capability node", hands=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown()
        self._hands.shutdown()
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
            self._nodes[full] = Node(
                name, namespace=namespace, start_parameter_services=False, enable_rosout=False
            )
        return self._nodes[full]

    # -- the world -------------------------------------------------------------------------------------

    def offer(self, provider: str) -> None:
        """Have a unit's service in the graph. The simulator is behind it: see ``execute`` and ``answer``."""
        tool = self.library.providers[provider].get("tool")
        if tool is not None and provider not in self._units:
            node = self._node(self.library.providers[provider]["node"])
            self._units[provider] = node.create_service(SetBool, tool["name"], _never)

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
        """A reading as a message, from the node that the simulator says.

        Readings of one publisher keep their order by themselves; ``settle`` waits until all have been judged.
        """
        self.at(sample.received)
        owner, _, name = sample.route.partition("/")
        route = self.library.providers[owner]["routes"][name]
        message = msg.Record(record_id=sample.id)
        message.header.stamp = time_msg(sample.stamp)
        message.header.frame_id = sample.subject
        setattr(message, route["value"]["field"], sample.value)
        for field, value in sample.fields:
            setattr(message, route["correlation"][field], value)
        publisher = self._publisher(sample.source, route["topic"])
        if publisher is not self._latest:
            self.settle()
        self._latest = publisher
        publisher.publish(message)
        self._sent += 1

    def settle(self) -> None:
        """Return when every reading so far has been judged."""
        self.until(lambda: self._arrived == self._sent, "the readings")

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
        self.settle()
        self._now = now
        self._clock.publish(Clock(clock=time_msg(now)))
        self.until(lambda: self.authority.get_clock().now().nanoseconds == now, "the clock to be heard")

    def call(self, name: str, **fields: Any) -> Any:
        """Ask the authority."""
        answer = self._clients[name].call_async(SERVICES[name].Request(**fields))
        self.until(answer.done, f"the answer to {name}")
        return answer.result()

    # -- the capability node -----------------------------------------------------------------------------

    def offers(self, provider: str) -> bool:
        """Whether there is an action for this provider."""
        return provider in self.capability.providers

    def execute(self, episode: str, step: str, provider: str) -> Ruling:
        """Ask for a step as a planner does; returns when it is refused, or when its unit has been asked."""
        if provider not in self._goals:
            self._goals[provider] = ActionClient(self._planner, Execute, execute_action(provider))
        client = self._goals[provider]
        self.until(client.server_is_ready, f"the action of {provider}", hands=True)
        begun = len(self._heard)
        sent = client.send_goal_async(Execute.Goal(episode=episode, step=step, provider=provider))
        self.until(sent.done, "the goal's answer", hands=True)
        ended = sent.result().get_result_async()
        self.until(lambda: ended.done() or self._is_asked(provider), f"{provider} to be asked", hands=True)
        if ended.done():
            return ruling_of(ended.result().result.decision)

        def granted() -> Ruling | None:
            return next((r for r in self._heard[begun:] if r.request == "Dispatch" and r.authorized), None)

        self.until(granted, "the decision", hands=True)
        found = granted()
        assert found is not None
        return found

    def _is_asked(self, provider: str) -> bool:
        unit = self._units.get(provider)
        if unit is None:  # it has left the graph
            return False
        with unit.handle:
            _, header = unit.handle.service_take_request(SetBool.Request)
        if header is not None:
            self._asked[provider] = header
        return header is not None

    def answer(self, provider: str, attempt: str, *, success: bool | None) -> None:
        """Have the unit answer, or not at all; returns when the capability node's report has been decided.

        With no answer the time must be past the attempt's deadline already.
        """
        header, unit = self._asked.pop(provider), self._units[provider]
        begun = len(self._heard)
        if success is not None:
            unit.send_response(SetBool.Response(success=success), header)
        self.until(
            lambda: any(r.request == "Report" and r.attempt == attempt for r in self._heard[begun:]),
            f"the report on {attempt}",
            hands=True,
        )

    def until(self, condition: Callable[[], Any], what: str, *, hands: bool = False) -> None:
        """Let the authority work until a condition holds; with ``hands`` the capability node too.

        Raises:
            Late: it does not, within ``PATIENCE``.
        """
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise Late(f"waited {PATIENCE:g} s for {what}")
            if hands:
                self._hands.spin_once(timeout_sec=0.001)
            self._executor.spin_once(timeout_sec=0.001 if hands else 0.05)


def _parameters(given: dict[str, Any]) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in given.items()]


def _never(_request: Any, response: Any) -> Any:
    """The callback of a unit's service: no executor has it."""
    return response
