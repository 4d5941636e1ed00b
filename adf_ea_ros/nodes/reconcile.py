"""After a crash of either side: ask the hardware what became of open attempts, never send them again (rule
X2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_ea_ros.authority.model import ANSWERED, OPEN, Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.nodes.hardware import Said
from adf_ea_ros.nodes.rivals import Rivals
from adf_ea_ros.nodes.run import Run
from adf_ea_ros.nodes.support import guard
from adf_ea_ros.runtime.outbox import Notice
from adf_ea_ros.runtime.port import Unreachable
from adf_ea_ros.runtime.public import Order, Ruling, not_ready

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

_SENT = 4096
"""How many attempts are remembered as sent by this process."""


class Reconciler:
    """Reconciles the attempts of one capability node's providers."""

    def __init__(self, node: CapabilityNode) -> None:
        """Nothing is known yet: the first contact with the authority reconciles."""
        self._node = node
        self.wanted = True
        """The authority is to be asked for open attempts, as soon as it answers."""
        self._busy = False
        self._met = False
        self._generation = 0
        self._past: dict[str, frozenset[str]] = {}
        """By provider: the attempts that were open at the first contact. Later ones are this node's own."""
        self._sent: dict[str, None] = {}
        self._seen: dict[str, tuple[bytes, Ns]] = {}
        self.rivals = Rivals(node, node.providers)

    def sent(self, order: Order) -> None:
        """This process sends the order, now."""
        self._sent[order.id] = None
        while len(self._sent) > _SENT:
            del self._sent[next(iter(self._sent))]

    def hear(self, said: Ruling) -> None:
        """A decision: a new generation has doubts, a halt or a revocation may want orders canceled."""
        if said.generation > self._generation:
            self._generation = said.generation
            self.wanted = True
        if said.authorized and said.request in ("Halt", "SetAvailability"):
            self.wanted = True

    def look(self) -> None:
        """Note which devices are there. One that is seen without a break has not restarted."""
        now = self._node.waits.now
        for name, tool in self._node.tools.items():
            identity = tool.identity(self._node.providers[name].node)
            if not identity:
                self._seen.pop(name, None)
            elif self._seen.get(name, (b"",))[0] != identity:
                self._seen[name] = (identity, now)
        self.rivals.look()

    def since(self, provider: str) -> Ns:
        """From when on (ROS time) a device has been seen without a break; -1: it is not seen."""
        return self._seen.get(provider, (b"", -1))[1]

    async def reconcile(self) -> None:
        """Ask for the open attempts, and settle what is in doubt. Does nothing where none is wanted."""
        if not self.wanted or self._busy or self._node.errands.admitting:
            return
        self._busy, self.wanted = True, False
        try:
            for provider in self._node.providers:
                orders = await self._node.port.open_attempts(provider)
                self._past.setdefault(provider, frozenset(order.id for order in orders))
                for order in orders:
                    await self._attempt(order)
            if not self._met:
                self._met = True
                self._node.get_logger().info(
                    f"in contact with the authority: {', '.join(self._node.providers)}"
                )
        except Unreachable:
            self.wanted = True
        finally:
            self._busy = False

    async def _attempt(self, order: Order) -> None:
        node = self._node
        run = node.errands.runs.get(order.id)
        if run is not None:
            if order.cancel_requested:
                node.cancel(run)
            if order.doubtful:
                await self._report(order, _as_known(run))
            return
        if order.interaction not in OPEN or (order.interaction is Interaction.LOST and not order.doubtful):
            return  # only evidence can say more
        if (
            order.interaction is Interaction.DISPATCHED
            and order.id not in self._past[order.provider]
            and order.id not in self._sent
            and not self.rivals.suspected(order.provider)
        ):
            if node.errands.admitting:  # it may be the one that is on its way here
                self.wanted = True
                return
            detail = "never sent: its goal had been given up when it was admitted"
            await self._report(
                order, Said(Interaction.NEVER_ACCEPTED, detail=detail, answer=Answer.NEVER_ACCEPTED)
            )
            return
        said = await node.tools[order.provider].ask(order, self.since(order.provider))
        node.get_logger().info(
            f"{order.id}: {order.provider} says {said.answer and said.answer.value} {said.detail}"
        )
        if said.answer is None and node.waits.now < order.deadline:
            self.wanted = True
            return
        await self._report(order, said if said.answer is not None else _lost(said))
        if said.answer is Answer.RUNNING and node.executor is not None:
            run = node.errands.begin(order, not_ready("Dispatch", order.step, "taken over"))
            run.sent = True
            if order.cancel_requested:
                node.cancel(run)
            node.executor.create_task(guard(node, "taken over", self._follow), run)

    async def _follow(self, run: Run) -> None:
        """See an order through that an earlier process had sent."""
        tool = self._node.tools[run.order.provider]
        try:
            await self._node.errands.settle(run, await tool.result(run.order))
        finally:
            tool.forget(run.order)
            self._node.errands.runs.pop(run.order.id, None)

    async def _report(self, order: Order, said: Said) -> None:
        await self._node.outbox.deliver(Notice(order.id, said.interaction, said.answer, said.detail))


def _lost(said: Said) -> Said:
    return Said(Interaction.LOST, detail=said.detail, answer=Answer.CANNOT_TELL)


def _as_known(run: Run) -> Said:
    """What this process knows of an order that it sent itself."""
    if run.interaction in ANSWERED:
        return Said(run.interaction, detail="sent and followed by this node", answer=Answer.TERMINAL)
    if run.interaction is Interaction.ACCEPTED:
        return Said(run.interaction, detail="followed by this node", answer=Answer.RUNNING)
    return Said(Interaction.LOST, detail="sent by this node, no answer so far", answer=Answer.CANNOT_TELL)
