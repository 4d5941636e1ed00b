"""Which providers are there: the tool in the graph, at the declared node, of the bound type (X3, X4)."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from adf_ea_ros.contracts.compatibility import tool_drift
from adf_ea_ros.contracts.model import ProviderContract
from adf_ea_ros.nodes.graph import tools_in_graph
from adf_ea_ros.nodes.waiting import Waits

Changed = Callable[[str, str], None]
"""Called with a provider and the reason why it is not available; no reason: it is."""


class Presence:
    """Watches the tools of all providers. A provider that was never seen is unknown, for a stated time."""

    def __init__(self, node: Node, waits: Waits, providers: list[ProviderContract], changed: Changed) -> None:
        self._node, self._waits, self._changed = node, waits, changed
        self._providers = {p.id: p for p in providers if p.tool is not None}
        self._known: dict[str, str] = {}
        self._unknown_until = 0.0

    def begin(self, wait: float) -> None:
        """Providers may be unknown for ``wait`` seconds of real time from now."""
        self._known.clear()
        self._unknown_until = time.monotonic() + wait

    def check(self) -> None:
        """Look at the graph, and tell what has changed. Call it a few times a second."""
        patient = time.monotonic() < self._unknown_until
        for name, provider in self._providers.items():
            reason = self._reason(provider)
            if name not in self._known and reason and patient:
                continue
            if self._known.get(name) != reason:
                self._known[name] = reason
                self._changed(name, reason)

    def _reason(self, provider: ProviderContract) -> str:
        tool = provider.tool
        assert tool is not None
        live = tools_in_graph(self._node, tool, provider.node)
        if not live:
            return f"its {tool.kind} {tool.name} is not in the graph"
        return tool_drift(tool, provider.node, live)

    def reason(self, provider: str) -> str | None:
        """Why a provider is not available; empty where it is; None where that is not known yet."""
        return self._known.get(provider, None if provider in self._providers else "")

    async def arrival(self, provider: str) -> None:
        """Wait until it is known whether the provider is there: for what is left of the stated time."""
        if provider in self._providers and provider not in self._known:
            self.check()
            left = max(self._unknown_until - time.monotonic(), 0.0)
            await self._waits.within(lambda: provider in self._known, left + 1.0)
