"""Simulated devices made from contracts: whatever the providers' files name is served, and read back.

For each active provider the declared node offers the tool, under its name and type, and publishes the routes.
A goal brings about what its capability's contract promises, or something else where the node's parameter
``fault`` says so. It shows how contracts, gates and planners get on, and nothing about the hardware.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.fields import FieldError, set_field
from adf_ea_ros.contracts.gates import read_arguments, sources
from adf_ea_ros.contracts.model import Gate, Lifecycle, ProviderContract, Route, fill
from adf_ea_ros.nodes.interfaces import interface
from adf_ea_ros.nodes.params import catalog, number, texts
from adf_ea_ros.nodes.support import StartFault, Ticker, declare, guard, run
from adf_ea_ros.sim.plant import Fact, Motion, Plant, satisfying
from adf_ea_ros.sim.readback import first_value, obstacle, write


class Fault(str, Enum):
    """How a device misbehaves."""

    NONE = "none"
    NO_EFFECT = "no_effect"  # answers that it is done, and nothing has changed
    FAIL_WITH_EFFECT = "fail_with_effect"  # answers that it failed, and the effect is there
    STUCK = "stuck"  # the effect comes, the answer never does
    REJECT = "reject"  # refuses


class Device(Node):
    """One node of the hardware, as contracts name it."""

    def __init__(self, full_name: str) -> None:
        namespace, _, name = full_name.rpartition("/")
        super().__init__(name, namespace=namespace or "/")
        kinds = ", ".join(kind.value for kind in Fault)
        self.fault = Fault(declare(self, "fault", Fault.NONE.value, f"one of {kinds}", fixed=False))
        self.add_on_set_parameters_callback(guard(self, "parameters", self._on_parameters, _unchanged))

    def _on_parameters(self, parameters: list[Parameter]) -> Any:
        for parameter in parameters:
            if parameter.name == "fault":
                try:
                    self.fault = Fault(parameter.value)
                except ValueError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


class Hand:
    """The tool of one provider: from a native goal to facts in motion."""

    def __init__(self, device: Device, provider: ProviderContract, contracts: Catalog, rig: Rig) -> None:
        """Offer it.

        Raises:
            StartFault: its interface is not installed.
        """
        assert provider.tool is not None
        self.device, self.tool, self._rig = device, provider.tool, rig
        self._capability = contracts.capability(provider.tool.provides)
        gate = Gate(spec="adf_ea_ros/1", id="sim", version="1.0.0", kind="gate", name=provider.tool.name,
                    provider=provider.id, task="sim", redundant="reject")  # fmt: skip
        self._sources = sources(gate, provider.tool, self._capability)
        self._type = interface(provider.tool.type)
        group = ReentrantCallbackGroup()
        offer: dict[str, Callable[[Any], Any]] = {
            "action": self._action,
            "service": lambda group: device.create_service(
                self._type,
                self.tool.name,
                guard(device, "request", self._serve, _answer),
                callback_group=group,
            ),
            "topic": lambda group: device.create_subscription(
                self._type, self.tool.name, guard(device, "command", self._command), 10, callback_group=group
            ),
        }
        self._offered = offer[provider.tool.kind](group)

    def _action(self, group: Any) -> Any:
        return ActionServer(
            self.device,
            self._type,
            self.tool.name,
            guard(self.device, "goal", self._execute, self._aborted),
            callback_group=group,
            goal_callback=guard(self.device, "goal request", self._on_goal, lambda _: GoalResponse.REJECT),
            cancel_callback=guard(
                self.device,
                "cancel request",
                lambda _: CancelResponse.ACCEPT,
                lambda _: CancelResponse.REJECT,
            ),
            result_timeout=max(self.tool.promises.result_timeout // 1_000_000_000, 1),
        )

    def _begin(self, message: Any) -> Motion:
        """Set in motion what the message asks for. Raises FieldError: it cannot be read."""
        arguments = {n: p.default for n, p in self._capability.parameters.items() if p.default is not None}
        arguments |= read_arguments(message, self._sources)
        targets: dict[Fact, Value] = {}
        for effect in self._capability.effects.values():
            condition = effect.condition.ground(arguments, fill(self._capability.subject, arguments))
            value = satisfying(condition)
            if value is not None:
                targets[condition.fact] = value
                self._rig.plant.arguments[condition.subject] = arguments
        self.device.get_logger().info(f"{self.tool.provides}: {arguments}, fault {self.device.fault.value}")
        idle = self.device.fault is Fault.NO_EFFECT
        return self._rig.plant.begin({} if idle else targets, self._rig.span)

    async def _done(self, motion: Motion, stop: Callable[[], bool] = lambda: False) -> bool:
        """Wait for the end, or for the wish to stop; whether it came to its end."""
        while not motion.done or self.device.fault is Fault.STUCK:
            if stop():
                motion.stop()
                return False
            await self._rig.ticker
        return True

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            read_arguments(goal, self._sources)
        except FieldError as error:
            self.device.get_logger().warning(f"refused: {error}")
            return GoalResponse.REJECT
        return GoalResponse.REJECT if self.device.fault is Fault.REJECT else GoalResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        ended = await self._done(self._begin(handle.request), lambda: handle.is_cancel_requested)
        works = ended and self.device.fault is not Fault.FAIL_WITH_EFFECT
        if not ended:
            handle.canceled()
        elif works:
            handle.succeed()
        else:
            handle.abort()
        return _answer(None, self._type.Result(), works=works)

    def _aborted(self, handle: Any) -> Any:
        if handle.is_active:
            handle.abort()
        return self._type.Result()

    async def _serve(self, request: Any, response: Any) -> Any:
        if self.device.fault is Fault.REJECT:
            return _answer(request, response)
        await self._done(self._begin(request))
        return _answer(request, response, works=self.device.fault is not Fault.FAIL_WITH_EFFECT)

    def _command(self, message: Any) -> None:
        if self.device.fault is not Fault.REJECT:
            self._begin(message)


class Feed:
    """The routes of one node on one topic, in one message for each subject."""

    def __init__(self, device: Device, routes: dict[str, Route], rig: Rig) -> None:
        """``routes`` by ``provider/route``, all of one topic.

        Raises:
            StartFault: its interface is not installed, or its messages cannot be made.
        """
        self._device, self._routes, self._plant = device, routes, rig.plant
        first = next(iter(routes.values()))
        self._type = interface(first.type)
        latched = any(route.durability == "transient_local" for route in routes.values())
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        qos = QoSProfile(
            depth=max(route.depth for route in routes.values()),
            reliability=ReliabilityPolicy.RELIABLE,
            durability=durability,
        )
        self._publisher = device.create_publisher(self._type, first.topic, qos)
        self._number = 0
        for name, route in routes.items():
            why = obstacle(route)
            if why or not route.value.field:
                raise StartFault(
                    f"{device.get_fully_qualified_name()}: route {name}: {why or 'has no field'}"
                )
            subjects = [str(route.subject.const)] if route.subject.const is not None else rig.subjects
            for subject in subjects:
                self._plant.facts.setdefault((subject, route.path), first_value(route, self._type()))

    def publish(self) -> None:
        """One message for each subject."""
        found: dict[str, list[Route]] = {}
        for route in self._routes.values():
            for subject in self._plant.subjects(route.path):
                if route.subject.const in (None, subject):
                    found.setdefault(subject, []).append(route)
        for subject, routes in found.items():
            message = self._type()
            self._number += 1
            for route in routes:
                value = self._plant.facts[subject, route.path]
                write(message, route, subject, value, self._plant.arguments.get(subject, {}))
                if route.stamp:
                    set_field(message, route.stamp, self._device.get_clock().now().to_msg())
                if route.producer:
                    set_field(message, route.producer, str(self._number))
            self._publisher.publish(message)


class Rig(Node):
    """Sets up the devices of the contracts, and lets time pass."""

    def __init__(self) -> None:
        super().__init__("sim_devices")
        paths = texts(self, "contracts", "files and folders with capability and provider contracts")
        wanted = texts(self, "providers", "ids of the providers to simulate; empty: every active one")
        self.subjects = texts(
            self, "subjects", "what readbacks that name their subject speak of at the start"
        )
        self.span = number(self, "duration", 2.0, 0.0, 3600.0, "real seconds until an effect is there")
        rate = number(self, "rate", 10.0, 0.1, 1000.0, "how often readbacks are published, Hz")
        self.plant, self.ticker = Plant(), Ticker()
        contracts = catalog(self, paths)
        self.devices: dict[str, Device] = {}
        self._parts: list[Hand | Feed] = []
        self._providers = [p for p in contracts.providers() if p.lifecycle is Lifecycle.ACTIVE]
        if wanted:
            self._providers = [p for p in self._providers if p.id in wanted]
            missing = sorted(set(wanted) - {p.id for p in self._providers})
            if missing:
                raise StartFault(f"/sim_devices: providers: no active contract of {', '.join(missing)}")
        self._contracts = contracts
        self._then = time.monotonic()
        self.create_timer(1.0 / rate, guard(self, "step", self._step))

    def build(self) -> Iterator[Device]:
        """The nodes that the contracts name. Raises StartFault: one cannot be simulated."""
        for provider in self._providers:
            if provider.node not in self.devices:
                self.devices[provider.node] = Device(provider.node)
                yield self.devices[provider.node]
            device = self.devices[provider.node]
            by_topic: dict[str, dict[str, Route]] = {}
            for name, route in provider.routes.items():
                by_topic.setdefault(route.topic, {})[f"{provider.id}/{name}"] = route
            self._parts += [Feed(device, routes, self) for routes in by_topic.values()]
            if provider.tool is not None:
                self._parts.append(Hand(device, provider, self._contracts, self))

    def _step(self) -> None:
        now = time.monotonic()
        self.plant.step(now - self._then)
        self._then = now
        self.ticker.tick()
        for part in self._parts:
            if isinstance(part, Feed):
                part.publish()


def _answer(_: Any, response: Any, *, works: bool = False) -> Any:
    """A result or response that says whether it worked, where it has a word for that."""
    if isinstance(getattr(response, "success", None), bool):
        response.success = works
    return response


def _unchanged(_: list[Parameter]) -> Any:
    return SetParametersResult(successful=False, reason="failed; see the log")


def make_devices() -> Iterator[Node]:
    """All nodes, to be added to one single-threaded executor. Raises StartFault."""
    rig = Rig()
    yield rig
    yield from rig.build()


def main(args: Sequence[str] | None = None) -> int:
    """Run the devices until SIGINT or SIGTERM."""
    return run(make_devices, args)


if __name__ == "__main__":
    sys.exit(main())
