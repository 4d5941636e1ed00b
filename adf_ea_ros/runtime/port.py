"""How a capability reaches its authority: the same calls in one process and across processes.

All calls are coroutines. In one process they never suspend; across processes they end at the latest after the
port's stated wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.runtime.desk import Desk
from adf_ea_ros.runtime.public import Order, Ruling
from adf_ea_ros.runtime.standing import Asked


class Unreachable(Exception):
    """The authority did not answer within the stated wait. Whether it got the request is not known."""


class AuthorityPort(Protocol):
    """What a capability needs of an authority. Every call may raise ``Unreachable``."""

    async def admit(
        self, episode: str, step: str, provider: str, generation: int
    ) -> tuple[Ruling, Order | None]:
        """Ask to run a step. An order that comes too late is handed to ``on_late``, never lost."""
        ...

    async def admit_goal(self, asked: Asked) -> tuple[Ruling, Order | None]:
        """Ask to carry out a goal of a client that knows no episode; else as ``admit``."""
        ...

    async def report(
        self, attempt: str, answer: Answer | None, interaction: Interaction, detail: str
    ) -> Ruling:
        """Tell what a provider answered; ``answer`` where it was asked about an attempt in doubt."""
        ...

    async def open_attempts(self, provider: str) -> Sequence[Order]:
        """The provider's attempts whose interaction or outcome is open."""
        ...

    async def look(self, attempt: str) -> Order | None:
        """One attempt as the authority sees it now."""
        ...

    def watch(self, listener: Callable[[Ruling], None]) -> None:
        """Call ``listener`` with every decision from now on. It must not call the port back at once."""
        ...

    def on_late(self, listener: Callable[[Order], None]) -> None:
        """Call ``listener`` with an order that came after its ``admit`` had been given up."""
        ...


async def _present(_provider: str) -> None:
    return None


class LocalPort:
    """The port to a desk in this process. One thread runs both sides."""

    def __init__(self, desk: Desk, arrival: Callable[[str], Awaitable[None]] = _present) -> None:
        """``arrival`` waits, for a stated time at most, until it is known whether a provider is there."""
        self._desk = desk
        self._arrival = arrival

    async def admit(
        self, episode: str, step: str, provider: str, generation: int
    ) -> tuple[Ruling, Order | None]:
        """See ``AuthorityPort``."""
        await self._arrival(provider)
        return self._desk.admit(episode, step, provider, generation)

    async def admit_goal(self, asked: Asked) -> tuple[Ruling, Order | None]:
        """See ``AuthorityPort``."""
        await self._arrival(asked.provider)
        return self._desk.admit_goal(asked)

    async def report(
        self, attempt: str, answer: Answer | None, interaction: Interaction, detail: str
    ) -> Ruling:
        """See ``AuthorityPort``."""
        return self._desk.report(attempt, answer, interaction, detail)

    async def open_attempts(self, provider: str) -> Sequence[Order]:
        """See ``AuthorityPort``."""
        if self._desk.closed:
            raise Unreachable(f"the authority is not active: {self._desk.closed}")
        return self._desk.open_attempts(provider)

    async def look(self, attempt: str) -> Order | None:
        """See ``AuthorityPort``."""
        return self._desk.look(attempt)

    def watch(self, listener: Callable[[Ruling], None]) -> None:
        """See ``AuthorityPort``."""
        self._desk.watchers.append(lambda said, _: listener(said))

    def on_late(self, listener: Callable[[Order], None]) -> None:
        """See ``AuthorityPort``: nothing is late in one process."""
