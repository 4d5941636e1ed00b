"""The port to an authority in another process: its services, and its decisions as they fall."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from adf_ea_ros import msg, srv
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.nodes.convert import ANSWERS, INTERACTIONS, order_of, ruling_of
from adf_ea_ros.nodes.support import HEARD, REQUESTS, guard, latched
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.port import Unreachable
from adf_ea_ros.runtime.public import Order, Ruling
from adf_ea_ros.runtime.standing import Asked

PING = 0.5
"""Real seconds to wait for one sign of life, before another is asked for."""
NOBODY = "-"
"""The name of no provider: asking for its attempts costs the authority nothing."""


class ServicePort:
    """See ``runtime.port.AuthorityPort``. Every call ends within a stated time, in real seconds."""

    def __init__(
        self, node: Node, waits: Waits, authority: str, wait: float, device: float, group: CallbackGroup
    ) -> None:
        """Find the services.

        Args:
            authority: full name of the authority node.
            wait: for an answer, and for the authority to be found.
            device: how much longer an admission may take: the authority may wait for a device to appear.
        """
        self._node, self._waits, self._wait, self.authority = node, waits, wait, authority
        self._device = device
        self._generation = 0
        self._met = False
        self._late: list[Callable[[Order], None]] = []

        def client(kind: Any, name: str) -> Any:
            return node.create_client(kind, f"{authority}/{name}", qos_profile=REQUESTS, callback_group=group)

        self._admit = client(srv.Admit, "admit")
        self._admit_goal = client(srv.AdmitGoal, "admit_goal")
        self._report = client(srv.Report, "report")
        self._attempts = client(srv.ListAttempts, "list_attempts")
        self._episode = client(srv.GetEpisode, "get_episode")
        self._listeners: list[Callable[[Ruling], None]] = []
        node.create_subscription(
            msg.Decision,
            f"{authority}/decisions",
            guard(node, "decision", self._hear),
            latched(REQUESTS.depth),  # a burst of goals brings several decisions for each of them
            callback_group=group,
            event_callbacks=HEARD,
        )

    def _hear(self, message: Any) -> None:
        said = ruling_of(message)
        if said.generation > self._generation:
            self._generation, self._met = said.generation, False
        for listener in self._listeners:
            listener(said)

    async def _call(
        self, client: Any, request: Any, late: Callable[[Any], None] | None = None, extra: float = 0.0
    ) -> Any:
        """Ask, and ask an authority that has come in its place once more.

        That a request is repeated to another generation does no harm: it reads the ledger of the former one,
        and what that had admitted is an open attempt there, which bars a second one.
        """
        wait = self._wait + extra
        for _ in range(2):
            await self._meet()
            generation = self._generation
            asked = client.call_async(request)
            if not await self._waits.within(partial(self._moved, asked, generation), wait):
                self._met = False
            if asked.done():
                return asked.result()
            if late is None:
                client.remove_pending_request(asked)
            else:
                asked.add_done_callback(guard(self._node, "late answer", lambda done: late(done.result())))
            if generation == self._generation:
                break
        raise Unreachable(f"{self.authority} did not answer within {wait:g} s, or restarted")

    def _moved(self, asked: Any, generation: int) -> bool:
        return asked.done() or self._generation != generation

    async def _meet(self) -> None:
        """Return once the authority that lives now has answered something.

        A killed authority stays in the graph for a while, and a request to it is lost without
        a word. What must not be repeated is sent only where a harmless question was answered.
        """
        end = time.monotonic() + self._wait
        while not self._met or self._node.count_services(self._admit.service_name) > 1:
            future = self._attempts.call_async(srv.ListAttempts.Request(provider=NOBODY))
            if await self._waits.within(future.done, PING):
                self._generation = max(self._generation, future.result().generation)
                self._met = True
                return
            self._attempts.remove_pending_request(future)
            if time.monotonic() > end:
                raise Unreachable(f"{self.authority} was not found within {self._wait:g} s")

    async def admit(
        self, episode: str, step: str, provider: str, generation: int
    ) -> tuple[Ruling, Order | None]:
        """See ``AuthorityPort``."""
        request = srv.Admit.Request(episode=episode, step=step, provider=provider, generation=generation)
        response = await self._call(self._admit, request, self._too_late, self._device)
        return ruling_of(response.decision), _order(response)

    async def admit_goal(self, asked: Asked) -> tuple[Ruling, Order | None]:
        """See ``AuthorityPort``."""
        request = srv.AdmitGoal.Request(**msgspec.structs.asdict(asked))
        response = await self._call(self._admit_goal, request, self._too_late, self._device)
        return ruling_of(response.decision), _order(response)

    def _too_late(self, response: Any) -> None:
        order = _order(response)
        if order is not None:
            for listener in self._late:
                listener(order)

    async def report(
        self, attempt: str, answer: Answer | None, interaction: Interaction, detail: str
    ) -> Ruling:
        """See ``AuthorityPort``."""
        request = srv.Report.Request(
            attempt=attempt, answer=ANSWERS[answer], interaction=INTERACTIONS[interaction], detail=detail
        )
        return ruling_of((await self._call(self._report, request)).decision)

    async def open_attempts(self, provider: str) -> Sequence[Order]:
        """See ``AuthorityPort``."""
        response = await self._call(self._attempts, srv.ListAttempts.Request(provider=provider))
        if not response.generation:
            raise Unreachable(f"{self.authority} is not active")
        return [order_of(attempt) for attempt in response.attempts]

    async def look(self, attempt: str) -> Order | None:
        """See ``AuthorityPort``."""
        request = srv.GetEpisode.Request(episode=attempt.rpartition(".")[0])
        response = await self._call(self._episode, request)
        found = [a for a in response.episode.attempts if a.id == attempt]
        return order_of(found[0]) if found else None

    def watch(self, listener: Callable[[Ruling], None]) -> None:
        """See ``AuthorityPort``."""
        self._listeners.append(listener)

    def on_late(self, listener: Callable[[Order], None]) -> None:
        """See ``AuthorityPort``."""
        self._late.append(listener)


def _order(response: Any) -> Order | None:
    return order_of(response.attempt) if response.decision.authorized and response.attempt.id else None
