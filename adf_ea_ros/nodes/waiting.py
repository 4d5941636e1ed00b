"""Waiting inside coroutines without blocking: for a future, but not beyond a deadline.

rclpy resumes every waiting coroutine whenever its executor wakes, before it waits again. One slow timer marks
the deadlines that have passed, so that a wait costs no timer of its own, and a ROS clock that runs fast,
slowly or not at all is read a few times a second instead of at every wake.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
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
    """The waits of one node, and everything else that it does at intervals: all of it under one timer.

    Every timer of a node is looked at whenever anything happens, so one is better than many.
    """

    def __init__(self, node: Node, period: float = 0.05) -> None:
        """``period`` is how exact deadlines and intervals are, in real seconds."""
        self._node = node
        self._waits: dict[int, Wait] = {}
        self._jobs: list[_Job] = []
        self._timer = node.create_timer(
            period,
            guard(node, "waits", self._pulse),
            ReentrantCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    @property
    def now(self) -> Ns:
        """ROS time of the node."""
        return int(self._node.get_clock().now().nanoseconds)

    def every(self, seconds: float, what: str, call: Callable[[], Any]) -> None:
        """Do ``call`` about every so many seconds of real time; ``what`` names it where it fails."""
        self._jobs.append(_Job(seconds, guard(self._node, what, call)))

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

    def _pulse(self) -> None:
        real = time.monotonic_ns()
        if self._waits:
            now = self.now
            for wait in self._waits.values():
                wait.over = wait.over or (real if wait.real else now) >= wait.until
        for job in self._jobs:
            if real >= job.due:
                # From now, not from when it was due: after a standstill nothing is made up for.
                job.due = real + job.interval
                job.call()


class _Job:
    """Something that is done at intervals."""

    __slots__ = ("call", "due", "interval")

    def __init__(self, seconds: float, call: Callable[[], Any]) -> None:
        self.interval, self.call = int(seconds * 1e9), call
        self.due = time.monotonic_ns() + self.interval
