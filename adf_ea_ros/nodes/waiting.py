"""Waiting inside coroutines without blocking: for a future, but not beyond a deadline.

rclpy resumes every waiting coroutine whenever its executor wakes, before it waits again. One slow timer marks the
deadlines that have passed, so that a wait costs no timer of its own, and a ROS clock that runs fast, slowly or not
at all is read a few times a second instead of at every wake.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.nodes.support import guard


class Wait:
    """One wait: over when ``ready`` says so, or with the deadline. ``await`` gives whether it was ready."""

    __slots__ = ("_keeper", "_ready", "over", "real", "until")

    def __init__(self, keeper: Waits, ready: Callable[[], bool], until: Ns, *, real: bool) -> None:
        self._keeper, self._ready = keeper, ready
        self.until, self.real = until, real
        self.over = False

    def __await__(self) -> Generator[Any, None, bool]:
        if not self._ready():
            self._keeper.add(self)
            try:
                while not self._ready() and not self.over:
                    yield
            finally:
                self._keeper.remove(self)
        return self._ready()


class Waits:
    """The waits of one node."""

    def __init__(self, node: Node, period: float = 0.05) -> None:
        """``period`` is how exact deadlines are, in real seconds."""
        self._node = node
        self._waits: dict[int, Wait] = {}
        self._timer = node.create_timer(
            period, guard(node, "deadlines", self._check), clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    @property
    def now(self) -> Ns:
        """ROS time of the node."""
        return int(self._node.get_clock().now().nanoseconds)

    def until(self, ready: Callable[[], bool], deadline: Ns) -> Wait:
        """Wait until ``ready()``, at most to ``deadline`` in ROS time."""
        return Wait(self, ready, deadline, real=False)

    def within(self, ready: Callable[[], bool], seconds: float) -> Wait:
        """Wait until ``ready()``, at most ``seconds`` of real time."""
        return Wait(self, ready, time.monotonic_ns() + int(seconds * 1e9), real=True)

    def wake(self) -> None:
        """Have waiting coroutines look again: for whoever makes them ready outside a callback of rclpy."""
        if self._node.executor is not None:
            self._node.executor.wake()

    def add(self, wait: Wait) -> None:
        """Keep a deadline in view."""
        self._waits[id(wait)] = wait

    def remove(self, wait: Wait) -> None:
        """Forget it."""
        self._waits.pop(id(wait), None)

    def _check(self) -> None:
        if not self._waits:
            return
        now, real = self.now, time.monotonic_ns()
        for wait in self._waits.values():
            wait.over = wait.over or (real if wait.real else now) >= wait.until
