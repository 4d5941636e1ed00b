"""Subscriptions to readbacks: from messages to observations whose source the graph has confirmed.

Who published a message is never read from the message. Where the middleware names the publishing endpoint
(Kilted and later), the graph says to which node it belongs. Where it does not, a sample counts only while
every publisher of the topic belongs to the declared node.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import rclpy.subscription
from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import ProviderContract, Route
from adf_ea_ros.evidence.buffer import RouteBuffer
from adf_ea_ros.evidence.reader import RouteReader
from adf_ea_ros.evidence.readings import Unreadable
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.nodes.graph import full_name
from adf_ea_ros.nodes.interfaces import interface
from adf_ea_ros.nodes.support import guard

HAS_GID = "publisher_gid" in getattr(getattr(rclpy.subscription, "MessageInfo", None), "__annotations__", {})
"""Whether this distribution tells for each message which endpoint published it."""

IDENTITY_WAIT = 2.0
"""Real seconds for which a message waits until the graph knows its publisher: data may come before names."""
CLOCK_WAIT = 1.0
"""Real seconds for which a message waits for a simulated clock that it has overtaken on its way."""
CLOCK_LEAD: Ns = 5_000_000_000
"""How far (ns) such a message may be ahead of the clock. A stamp further ahead is wrong."""
REFRESH = 0.1
"""Least real seconds between two looks at the graph for an unknown publisher."""
BEHIND = 20
"""Messages of one topic that are taken in one round, beside the one of the executor."""
UNIDENTIFIED = "/"
"""Source of a message whose publisher stayed unknown: no provider has this name."""

Sink = Callable[[Observation], str | None]


class Identity:
    """Who publishes on one topic."""

    def __init__(self, node: Node, topic: str, owner: str, provider: str, *, by_gid: bool = HAS_GID) -> None:
        """``owner`` is the full name of the node that may publish for ``provider``."""
        self._node, self._topic, self._owner, self._provider = node, topic, owner, provider
        self._by_gid = by_gid
        self._sources: dict[bytes, str] = {}
        self._all = ""
        self._looked = 0.0
        self.changed = True
        """Whether the publishers may be others than when we last looked."""
        self.foreign = 0
        """Messages that other nodes, or nobody known, published."""

    def source(self, gid: bytes) -> str | None:
        """The provider, or the name of the node that published instead; None where that is not known yet."""
        found = self._sources.get(gid) if self._by_gid else self._all
        if not found or (self.changed and not self._by_gid):
            if self.changed or time.monotonic() - self._looked > REFRESH:
                self.look()
            found = self._sources.get(gid) if self._by_gid else self._all
        return found or None

    def look(self) -> None:
        """Ask the graph."""
        self._looked = time.monotonic()
        self.changed = False
        names = {
            bytes(i.endpoint_gid): full_name(i) for i in self._node.get_publishers_info_by_topic(self._topic)
        }
        if len(self._sources) > 256:  # of publishers that are long gone
            self._sources.clear()
        self._sources |= {gid: self._named(name) for gid, name in names.items() if name}
        if not names or "" in names.values():
            self._all = ""
        else:
            others = sorted(name for name in set(names.values()) if name != self._owner)
            self._all = others[0] if others else self._provider

    def _named(self, name: str) -> str:
        return self._provider if name == self._owner else name


class Readback:
    """The subscription of one route."""

    def __init__(
        self,
        node: Node,
        name: str,
        provider: ProviderContract,
        route: Route,
        sink: Sink,
        buffer: RouteBuffer,
        *,
        sim_time: bool,
    ) -> None:
        """``sink`` takes observations; ``buffer`` hears of messages that give none, and of new publishers.

        Raises:
            StartFault: the message type is not installed.
        """
        self.name, self.route, self.provider = name, route, provider.id
        self._node, self._sink, self._buffer, self._sim_time = node, sink, buffer, sim_time
        self._reader = RouteReader(name, route)
        self.identity = Identity(node, route.topic, provider.node, provider.id)
        self._held: deque[tuple[Any, Any, float]] = deque()
        self.refused: dict[str, int] = {}
        """How often a message was not taken, by reason code."""
        self.received = 0
        self.last: Ns = -1
        """Stamp of the newest sample that was taken."""
        self._subscription = self._subscribe(interface(route.type))

    def _subscribe(self, kind: Any) -> Any:
        route = self.route
        self.qos = qos = QoSProfile(
            depth=route.depth,
            reliability=ReliabilityPolicy[route.reliability.upper()],
            durability=DurabilityPolicy[route.durability.upper()],
        )
        take = guard(self._node, f"readback {self.name}", self._on_message)

        def on_matched(_: Any) -> None:
            self.identity.changed = True
            self._buffer.publishers_changed()  # without ids per message, numbers start anew with any of them

        matched = guard(self._node, f"publishers of {route.topic}", on_matched)
        # The executor looks at every event of every subscription at every wake: only those that are needed.
        events = SubscriptionEventCallbacks(use_default_callbacks=False, matched=None if HAS_GID else matched)
        try:
            return self._node.create_subscription(kind, route.topic, take, qos, event_callbacks=events)
        except UnsupportedEventTypeError:
            events = SubscriptionEventCallbacks(use_default_callbacks=False)
            return self._node.create_subscription(kind, route.topic, take, qos, event_callbacks=events)

    def _on_message(self, message: Any, info: Any) -> None:
        """One message, and at once those that wait behind it.

        The executor takes one in a round, and most of what a message costs is the round: a node that is
        behind catches up like this, and falls back no further.
        """
        self.take(message, info)
        for _ in range(BEHIND):
            with self._subscription.handle:
                more = self._subscription.handle.take_message(self._subscription.msg_type, False)
            if more is None:
                return
            self.take(*more)

    def take(self, message: Any, info: Any) -> None:
        """One message, with what the middleware says of it."""
        self.received += 1
        arrived = (message, info, time.monotonic())
        if self._held:
            if len(self._held) >= self.route.depth:
                self._count("E.full")
                return
            self._held.append(arrived)
            self.release()
        elif not self._pass(*arrived):
            self._held.append(arrived)

    def release(self) -> None:
        """Let messages go on that waited for their publisher's name or for the clock. In their order."""
        while self._held and self._pass(*self._held[0]):
            self._held.popleft()

    def _pass(self, message: Any, info: Any, arrived: float) -> bool:
        """Hand a message on; False where it has to wait."""
        gid = bytes((info.get("publisher_gid") or {}).get("data", b""))
        source = self.identity.source(gid)
        waited = time.monotonic() - arrived
        if source is None:
            if waited < IDENTITY_WAIT:
                return False
            source = UNIDENTIFIED
        now = int(self._node.get_clock().now().nanoseconds)
        sequence = info.get("publication_sequence_number")
        publisher, sequence = gid.hex(), -1 if sequence is None else int(sequence)
        try:
            sample = self._reader.read(
                message,
                source=source,
                received=now,
                sent=info.get("source_timestamp"),
                publisher=publisher,
                sequence=sequence,
            )
        except Unreadable as error:
            self._count(error.code)
            self._buffer.unreadable(error.code, now, publisher=publisher, sequence=sequence)
            return True
        if source != self.provider:
            self.identity.foreign += 1
        elif self._sim_time and now < sample.stamp <= now + CLOCK_LEAD and waited < CLOCK_WAIT:
            return False
        refused = self._sink(sample)
        if refused:
            self._count(refused)
        else:
            self.last = sample.stamp
        return True

    def _count(self, code: str) -> None:
        self.refused[code] = self.refused.get(code, 0) + 1

    def close(self) -> None:
        """Unsubscribe."""
        self._held.clear()
        self._node.destroy_subscription(self._subscription)
