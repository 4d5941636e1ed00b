"""The test's own node: in a context and a domain of its own, it spins only while something is awaited."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar
from unittest import mock

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from typing_extensions import Self

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.testing.waiting import wait_until

_T = TypeVar("_T")


class Watcher:
    """A node to subscribe, call and wait with; a context manager."""

    def __init__(self, domain: DomainLease, name: str = "watcher") -> None:
        self.context = Context()
        # rmw reads the discovery range from the environment, once, when the context starts.
        with mock.patch.dict(os.environ, domain.environment(), clear=True):
            rclpy.init(context=self.context, domain_id=domain.domain)
            self.node: Node = rclpy.create_node(name, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)

    def spin(self) -> None:
        """Do one piece of work, or wait up to 20 ms for it."""
        self._executor.spin_once(timeout_sec=0.02)

    def until(self, condition: Callable[[], _T], timeout: float = 20.0, what: str = "") -> _T:
        """Spin until ``condition`` gives something true, and give that.

        Raises:
            TimedOut: it never did.
        """
        return wait_until(condition, timeout, self.spin, what)

    def result(self, future: Any, timeout: float = 20.0, what: str = "answer") -> Any:
        """Spin until ``future`` is done, and give its result.

        Raises:
            TimedOut: it never was.
        """
        self.until(future.done, timeout, what)
        return future.result()

    def collect(self, message_type: Any, topic: str, qos: Any) -> list[Any]:
        """Subscribe; gives the list to which the messages are appended."""
        messages: list[Any] = []
        self.node.create_subscription(message_type, topic, messages.append, qos)
        return messages

    def close(self) -> None:
        """End the node and its context."""
        self._executor.shutdown(timeout_sec=2.0)
        self.node.destroy_node()
        self.context.try_shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
