"""Orders carried out: asked for, sent, followed, reported, and waited for until evidence has spoken.

Whoever serves goals (the action ``Execute``, a drop-in gate) asks here, and gets a ``Run`` to the end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.nodes.hardware import Said, Unsendable
from adf_ea_ros.nodes.run import Run
from adf_ea_ros.runtime.outbox import Notice
from adf_ea_ros.runtime.port import Unreachable
from adf_ea_ros.runtime.public import Order, Ruling, not_ready

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

_LOOK = 1.0
"""Real seconds from the answer of the hardware to the first question whether evidence has decided."""

_QUICK = 0.05
"""Real seconds for which the end of an accepted goal is waited for before its acceptance is reported."""

Admission = tuple[Ruling, Order | None]


class Errands:
    """The orders of one capability node that are under way."""

    def __init__(self, node: CapabilityNode, most: int, answer_wait: float) -> None:
        """Nothing is under way yet.

        Args:
            node: whose hardware, port and waits are used.
            most: how many goals may be in progress.
            answer_wait: seconds to wait for the hardware's answer, or for further feedback, where the effect
                is proven already.
        """
        self._node, self._most = node, most
        self._answer_wait: Ns = round(answer_wait * 1e9)
        self.runs: dict[str, Run] = {}
        self.admitting = 0
        """Requests to admit that are under way: the attempts that they may bring are nobody's yet."""

    def full(self) -> bool:
        """Whether another goal would be one too many; said in the log."""
        if len(self.runs) + self.admitting < self._most:
            return False
        self._node.get_logger().warning(f"{self._most} goals are in progress: another one is rejected")
        return True

    async def admit(self, provider: str, subject: str, ask: Callable[[], Awaitable[Admission]]) -> Admission:
        """Ask the authority; the order is to be carried out where there is one."""
        rival = self._node.reconciler.rivals.reason(provider)
        if rival:
            return not_ready("Dispatch", subject, rival, self._node.waits.now), None
        self.admitting += 1
        try:
            said, order = await ask()
        except Unreachable as error:
            # It may have been admitted all the same: what was not sent is settled as never sent.
            self._node.reconciler.wanted = True
            return not_ready("Dispatch", subject, str(error), self._node.waits.now), None
        finally:
            self.admitting -= 1
        return said, order if said.authorized else None

    def begin(self, order: Order, said: Ruling) -> Run:
        """Take an order on: from here on it is known as this node's own."""
        run = self.runs[order.id] = Run(order, said)
        return run

    async def see_through(self, run: Run, timeout: Ns, goal: Any = None) -> None:
        """Send an order and follow it until evidence has decided on it, or time is up.

        Args:
            run: what ``begin`` gave.
            timeout: nanoseconds to wait for evidence after the answer.
            goal: the message to be sent as it is; none: what the provider's mapping makes of the arguments.
        """
        try:
            await self._carry_out(run, goal)
            if run.interaction is not Interaction.NEVER_ACCEPTED and not run.decided:
                run.tell("observing", run.response)
                await self._evidence_on(run, timeout)
        finally:
            self.runs.pop(run.order.id, None)

    async def _carry_out(self, run: Run, goal: Any) -> None:
        """Send the order and follow it to its end, to its deadline, or as far as it is of interest."""
        order, tool = run.order, self._node.tools[run.order.provider]
        self._node.reconciler.sent(order)

        def enough() -> bool:
            since = max(run.proven, run.active)  # a device that reports progress is still at work
            return run.proven >= 0 and self._node.waits.now - since >= self._answer_wait

        def feedback(message: Any) -> None:
            run.active = self._node.waits.now
            run.tell("running", message)

        try:
            said = await tool.send(order, feedback, enough, goal)
        except Unsendable as error:
            await self.never_sent(run, str(error))
            return
        run.sent = True
        if said.interaction is Interaction.ACCEPTED:
            run.interaction = said.interaction
            run.tell("accepted")
            # A quick end says all that this would, with one decision less.
            if not await self._node.waits.within(lambda: tool.answered(order), _QUICK):
                await self.settle(run, said)
        if said.interaction in (Interaction.ACCEPTED, Interaction.DISPATCHED) and not said.unfinished:
            said = await tool.result(order, enough)
        if said.unfinished:
            self._node.get_logger().info(f"{order.id}: proven, {order.provider} has not answered yet")
        else:
            await self.settle(run, said)
        tool.forget(order)

    async def never_sent(self, run: Run, why: str) -> None:
        """Report that nothing of an order has left this process, nor will."""
        detail = f"never sent: {why}"
        self._node.get_logger().error(f"{run.order.id}: {detail}")
        self.runs.pop(run.order.id, None)
        await self.settle(run, Said(Interaction.NEVER_ACCEPTED, detail=detail, answer=Answer.NEVER_ACCEPTED))

    async def settle(self, run: Run, said: Said) -> None:
        """Note what the hardware said, and report it."""
        run.interaction = said.interaction
        if said.response is not None:
            run.response = said.response
        await self._node.outbox.deliver(Notice(run.order.id, said.interaction, said.answer, said.detail))

    async def _evidence_on(self, run: Run, timeout: Ns) -> None:
        """Wait for the verdict on the attempt; ask for it now and then, as it may be lost on its way."""
        waits, pause = self._node.waits, _LOOK
        end = waits.now + timeout
        while True:
            await waits.within(lambda: run.decided or waits.now >= end, pause)
            if run.decided:
                return
            with suppress(Unreachable):
                seen = await self._node.port.look(run.order.id)
                if seen is not None and not run.decided:
                    run.verdict, run.negative = seen.verdict, seen.negative
            if waits.now >= end:
                return
            pause *= 2  # an authority that is asked by many goals has something to do

    async def cancel(self, run: Run) -> bool:
        """Ask the hardware to stop; whether it agreed. That it has stopped is for its answer and the evidence
        to say.
        """
        if run.canceling:
            return True
        run.canceling = True
        tool, waits = self._node.tools[run.order.provider], self._node.waits
        # A device knows nothing yet of an order that is only just being sent.
        await waits.until(lambda: run.sent, run.order.deadline)
        agreed, answer = await tool.cancel(run.order)
        run.canceling = agreed
        self._node.get_logger().info(f"{run.order.id}: {run.order.provider}: {answer}")
        run.tell("canceling", answer)
        return agreed

    def hear(self, said: Ruling) -> None:
        """A decision of the authority."""
        run = self.runs.get(said.attempt)
        if run is not None and said.verdict is not None:
            run.hear(said)
            if run.decided:
                self._node.waits.wake()
