"""Reports that must reach the authority, in their order, whatever becomes of it in between.

A report may be repeated: the authority refuses what cannot follow on its record, and a refusal of that kind
shows that it has the report already.
"""

from __future__ import annotations

from collections import deque

import msgspec

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.runtime.port import AuthorityPort, Unreachable
from adf_ea_ros.runtime.public import Ruling


class Notice(msgspec.Struct, frozen=True):
    """One report. ``answer`` is given where the provider was asked about an attempt in doubt."""

    attempt: str
    interaction: Interaction
    answer: Answer | None = None
    detail: str = ""


class Outbox:
    """Delivers at once where it can, and keeps what it cannot deliver until ``flush`` succeeds."""

    def __init__(self, port: AuthorityPort) -> None:
        """``port`` leads to the authority."""
        self._port = port
        self._waiting: deque[Notice] = deque()
        self._flushing = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, notice: Notice) -> None:
        """Keep a report for the next ``flush``."""
        self._waiting.append(notice)

    async def deliver(self, notice: Notice) -> Ruling | None:
        """Deliver now, behind what waits already. None where the authority has not taken it yet."""
        if self._waiting or self._flushing:
            self.put(notice)
            await self.flush()
            return None
        said = await self._send(notice)
        if said is None:
            self.put(notice)
        return said

    async def flush(self) -> bool:
        """Deliver what waits, as far as the authority takes it. True where nothing is left."""
        if self._flushing:
            return False
        self._flushing = True
        try:
            while self._waiting:
                if await self._send(self._waiting[0]) is None:
                    return False
                self._waiting.popleft()
        finally:
            self._flushing = False
        return True

    async def _send(self, notice: Notice) -> Ruling | None:
        try:
            said = await self._port.report(notice.attempt, notice.answer, notice.interaction, notice.detail)
        except Unreachable:
            return None
        return None if said.void else said
