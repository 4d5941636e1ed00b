"""Requests of planners, however many: decided one at a time between everything else that the node does.

The executor takes one request of each service in every round, and one message of each readback. Requests that
were decided as they come would let a dozen services outweigh the readbacks, and one flooding planner all the
others. So they wait in one line, in the order of their arrival; one is decided in a round. Where the line is
full the answer is a refusal, at once: a planner that hears "overload" can slow down, one that hears nothing
cannot tell a slow authority from a dead one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from adf_ea_ros.nodes.support import REQUESTS, guard

TAKEN = 20
"""Requests that are taken from the middleware in one round, beside the one of each service: so much faster
than deciding that a flood waits in the line or is refused, and not unseen behind it."""
PAUSE = 1_000_000
"""Real ns behind a decision in which another request is of the same round, and has to wait for the next."""
QUIET = 10.0
"""Real seconds between two warnings in the log."""

Call = Callable[[Any, Any], Any]
"""Takes request and response, and gives the response."""


class Intake:
    """The line in front of one node's desk."""

    def __init__(self, node: Node, group: CallbackGroup, limit: int) -> None:
        """``limit``: requests that may be open at once, waiting or being decided."""
        self._node, self._group, self._limit = node, group, limit
        self._line: deque[Future] = deque()
        self._round = node.create_guard_condition(guard(node, "requests", self._call_next), group)
        self._decided = 0
        self._warned = -QUIET
        self._left = TAKEN
        self.open = 0
        """Requests that are waiting or being decided."""
        self.refused = 0
        """How many were refused because the line was full."""

    def offer(
        self,
        kind: Any,
        name: str,
        call: Call,
        failed: Call,
        overload: Callable[[Any, str], Any],
        first: Callable[[Any], Awaitable[object]] | None = None,
    ) -> Any:
        """A service whose requests are decided in their turn.

        Args:
            kind: type of the service.
            name: its name, relative to the node's.
            call: decides.
            failed: makes the answer where ``call`` raised.
            overload: makes the answer to a request that is refused, from the request and the reason.
            first: what a request waits for before it stands in line.
        """

        async def serve(request: Any, response: Any) -> Any:
            if self.open >= self._limit:
                return overload(request, self._refuse())
            self.open += 1
            try:
                if first is not None:
                    await first(request)
                await self._turn()
                return call(request, response)
            finally:
                self.open -= 1
                self._decided = time.monotonic_ns()

        answer = guard(self._node, f"service {name}", serve, failed)

        async def take(request: Any, response: Any) -> Any:
            self._take_more(service, answer)
            return await answer(request, response)

        service = self._node.create_service(
            kind, f"~/{name}", take, qos_profile=REQUESTS, callback_group=self._group
        )
        return service

    def _take_more(self, service: Any, answer: Callable[[Any, Any], Awaitable[Any]]) -> None:
        """Take what waits behind this one: a round of the executor does not show whether it is one or a
        thousand. It will stand in line, or be refused."""

        async def reply(request: Any, header: Any) -> None:
            service.send_response(await answer(request, service.srv_type.Response()), header)

        executor = self._node.executor
        while self._left and executor is not None:
            with service.handle:
                request, header = service.handle.service_take_request(service.srv_type.Request)
            if header is None:
                return
            if self._left == TAKEN:
                self._round.trigger()
            self._left -= 1
            executor.create_task(guard(self._node, "reply", reply), request, header)

    async def _turn(self) -> None:
        if not self._line and time.monotonic_ns() - self._decided >= PAUSE:
            return
        turn: Future = Future()
        self._line.append(turn)
        self._round.trigger()
        await turn

    def _call_next(self) -> None:
        self._left = TAKEN
        if self._line:
            self._line.popleft().set_result(None)
        if self._line:
            self._round.trigger()

    def _refuse(self) -> str:
        self.refused += 1
        if time.monotonic() - self._warned > QUIET:
            self._warned = time.monotonic()
            self._node.get_logger().warning(
                f"requests come faster than they can be decided: {self.refused} were refused so far"
            )
        return f"{self._limit} requests are waiting already: ask again later, and not so often"
