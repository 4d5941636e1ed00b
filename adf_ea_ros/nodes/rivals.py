"""Other capability nodes for the same providers: two of them cannot know what the other one has sent.

A predecessor that was killed is shown in the graph for a while, so that a second server of an action need not
be a living one. Whoever sees one says so on a topic, as long as it stands: a node that hears another one
speak knows at once that it lives. One that stays and never speaks (of another version, or hung) counts as
living after a time in which the dead vanish.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import socket
import time
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from adf_ea_ros.nodes.names import INSTANCES, execute_action
from adf_ea_ros.nodes.support import HEARD, SPOKEN, guard

DYING = 40.0
"""Real seconds for which a dead node may still be shown in the graph (twice the usual lease)."""


class Rivals:
    """Those of one capability node."""

    def __init__(self, node: Node, providers: Iterable[str]) -> None:
        """``providers`` are those that the node wraps."""
        self._node, self._providers = node, tuple(providers)
        self._instance = secrets.token_hex(8)
        self._suspected: dict[str, float] = {}
        self._alive: dict[str, str] = {}
        self._publisher = node.create_publisher(
            String, INSTANCES, QoSProfile(depth=10), event_callbacks=SPOKEN
        )
        node.create_subscription(
            String,
            INSTANCES,
            guard(node, "another capability node", self._hear),
            QoSProfile(depth=10),
            event_callbacks=HEARD,
        )

    def look(self) -> None:
        """Look at the graph, and say that we are here where somebody else may be. A few times a second."""
        for provider in self._providers:
            status = self._node.resolve_topic_name(f"{execute_action(provider)[1:]}/_action/status")
            if self._node.count_publishers(status) <= 1:
                self._suspected.pop(provider, None)
                self._alive.pop(provider, None)
            elif provider not in self._suspected:
                self._suspected[provider] = time.monotonic()
        if self._suspected:
            who = f"process {os.getpid()} on {socket.gethostname()}"
            said = {"instance": self._instance, "who": who, "providers": self._providers}
            self._publisher.publish(String(data=json.dumps(said)))

    def _hear(self, message: Any) -> None:
        said = json.loads(message.data)
        if said["instance"] == self._instance:
            return
        for provider in set(said["providers"]).intersection(self._providers):
            if provider not in self._alive:
                self._alive[provider] = said["who"]
                self._node.get_logger().error(self.reason(provider))

    def suspected(self, provider: str) -> bool:
        """Whether the graph shows another node for the provider, dead or alive."""
        return provider in self._suspected

    def reason(self, provider: str) -> str:
        """Why nothing may be sent to a provider now; empty where it may."""
        alive = self._alive.get(provider)
        if alive is None and time.monotonic() - self._suspected.get(provider, math.inf) < DYING:
            return ""
        return (
            f"another node ({alive or 'which says nothing'}) offers {execute_action(provider)} too: one "
            "capability node for each provider, or neither can tell what was sent"
        )
