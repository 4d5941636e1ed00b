"""A gated action: feedback, cancel and result pass through.

A goal is rejected where the authority refuses it: rclpy awaits a goal callback that is a coroutine (Jazzy and
Kilted alike), so that the answer is there before the goal is accepted.

Where the gate says ``busy: preempt``, a goal in whose way others of the same gate are is accepted first: it
has those stopped, waits until evidence says what became of them, and then asks the authority like any other.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse

from adf_ea_ros.authority.grounding import GroundingFault, ground_operation
from adf_ea_ros.authority.model import OPEN, Interaction
from adf_ea_ros.contracts.fields import FieldError
from adf_ea_ros.contracts.model import Gate, ProviderContract
from adf_ea_ros.nodes.door import Door
from adf_ea_ros.nodes.run import Outcome, Run
from adf_ea_ros.nodes.support import GOALS, guard

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

_TAKEN_UP = 5.0
"""Real seconds within which the middleware starts a goal that was accepted."""
_ENDING = 1.0
"""Real seconds for what follows an end: the result of a goal, the state of a canceled one."""
_AT_MOST = 86400.0
"""Real seconds for a wait that something else ends: every order has a deadline, and so has its evidence."""


class Passage:
    """One goal on its way through the gate, from the client's request to its result."""

    def __init__(self, goal: Any) -> None:
        """Nothing is known of it yet."""
        self.goal, self.since = goal, time.monotonic()
        self.run: Run | None = None
        """Its order; none while it is not admitted, and where there is nothing to do."""
        self.key = ""
        self.facts: frozenset[tuple[str, str]] = frozenset()
        """What it means, and what it may change; empty where the gate stops nobody for it."""
        self.ahead: list[Passage] = []
        """The goals that it waits for."""
        self.superseded = False
        """A newer goal is to take its place."""
        self.canceled = False
        self.over = False


class ActionDoor(Door):
    """A gated action."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for goals. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._try_replies(self.type.Result)
        self._accepted: dict[int, Passage] = {}
        self._passages: list[Passage] = []
        self._by_goal: dict[bytes, Passage] = {}
        self._server = ActionServer(
            node,
            self.type,
            gate.name,
            guard(node, f"goal on {gate.name}", self._execute, self._broken),
            callback_group=node.group,
            goal_callback=guard(node, "goal request", self._on_goal, lambda _: GoalResponse.REJECT),
            cancel_callback=guard(node, "cancel request", self._on_cancel, lambda _: CancelResponse.REJECT),
            result_timeout=node.result_timeout,
            **GOALS,
        )
        node.waits.every(1.0, "accepted goals", self._sweep)

    def blank(self) -> Any:
        """See ``Door``."""
        return self.type.Goal()

    # -- requests --------------------------------------------------------------------------------------

    async def _on_goal(self, goal: Any) -> GoalResponse:
        if self.node.errands.full():
            return GoalResponse.REJECT
        passage = Passage(goal)
        if self.gate.busy == "preempt":
            self._place(passage)
        self._passages.append(passage)
        accepted = False
        try:
            accepted = bool(passage.ahead) or await self._refused(passage) is None
        finally:
            if not accepted:
                self._end(passage)
        if not accepted:
            return GoalResponse.REJECT
        self._accepted[id(goal)] = passage  # rclpy hands the same message to ``_execute``
        return GoalResponse.ACCEPT

    def _place(self, passage: Passage) -> None:
        """Find out in whose place a goal wants to be. The same goal once more is in nobody's."""
        now = self.node.waits.now
        try:
            arguments = self.arguments(passage.goal)
            operation = ground_operation(self.node.catalog, self.tool.provides, arguments, "once", now)
        except (FieldError, GroundingFault):
            return  # the authority will say what is wrong with it
        passage.key, passage.facts = operation.key, operation.facts
        passage.ahead = [
            other for other in self._passages if other.key != passage.key and other.facts & passage.facts
        ]
        for other in passage.ahead:
            other.superseded = True

    async def _refused(self, passage: Passage) -> str | None:
        """Ask the authority; why the goal may not go on, and None where it may."""
        said, order = await self.admit(passage.goal)
        if order is not None:
            passage.run = self.node.errands.begin(order, said)
        return None if order is not None or self.redundant(said) else said.sentence

    async def _on_cancel(self, handle: Any) -> CancelResponse:
        passage = self._by_goal.get(bytes(handle.goal_id.uuid))
        if passage is None:
            return CancelResponse.REJECT
        if passage.run is None:
            passage.canceled = True  # nothing was sent for it
            return CancelResponse.ACCEPT
        agreed = await self.node.errands.cancel(passage.run)
        return CancelResponse.ACCEPT if agreed else CancelResponse.REJECT

    # -- execution -------------------------------------------------------------------------------------

    async def _execute(self, handle: Any) -> Any:
        passage = self._accepted.pop(id(handle.request))
        goal_id = bytes(handle.goal_id.uuid)
        self._by_goal[goal_id] = passage
        try:
            why = await self._take_over(passage) if passage.ahead else None
            run = passage.run
            if run is not None and passage.canceled:  # while the authority was asked
                await self.node.errands.never_sent(run, "canceled")
                run, why = None, "canceled before anything was sent"
            if run is not None:
                run.listener = partial(_pass_on, handle)
                await self.see_through(run, passage.goal)
                passage.canceled = run.canceling and run.interaction is Interaction.CANCELED
            if passage.canceled and (run is None or not passage.superseded):
                # The cancel request that stopped it moves the goal to CANCELING a moment later.
                await self.node.waits.within(lambda: handle.is_cancel_requested, _ENDING)
        finally:
            del self._by_goal[goal_id]
            self._end(passage)
        verified = why is None if run is None else run.outcome is Outcome.VERIFIED
        if verified:
            handle.succeed()
        elif handle.is_cancel_requested and passage.canceled:
            handle.canceled()
        else:
            handle.abort()
        if run is None:
            return self.reply(self.type.Result, None, verified=verified, why=why or "")
        return self.reply(self.type.Result, run.response, verified=verified, why=run.ruling.sentence)

    async def _take_over(self, passage: Passage) -> str | None:
        """Stop what is in the way of a goal, and ask for it; why it may not go on, or None."""
        for other in passage.ahead:
            why = await self._stopped(other, passage)
            if why:
                self.log.warning(f"{self.gate.name}: {why}")
                return why
        return await self._refused(passage)

    async def _stopped(self, other: Passage, passage: Passage) -> str:
        """Have another goal stopped and see it end; why there is no going on for ``passage``, or nothing."""
        waits = self.node.waits

        def given_up() -> bool:
            return passage.canceled or passage.superseded

        await waits.within(lambda: other.over or other.run is not None or given_up(), _AT_MOST)
        run = other.run
        if run is not None and not other.over and not given_up() and run.interaction in OPEN:
            agreed = await self.node.errands.cancel(run)
            # It may have ended in this moment, and a goal that has ended cannot be canceled.
            if not agreed and not await waits.within(lambda: run.interaction not in OPEN, _ENDING):
                return f"{self.gate.provider} does not stop {run.order.id}, which is in the way"
        await waits.within(lambda: other.over or given_up(), _AT_MOST)
        if passage.canceled:
            return "canceled before anything was sent"
        return "a newer goal took its place before anything was sent" if passage.superseded else ""

    def _end(self, passage: Passage) -> None:
        passage.over = True
        self._passages.remove(passage)
        self.node.waits.wake()  # a goal may wait for that

    def _sweep(self) -> None:
        """Give back what was admitted for a goal that the middleware did not take up after all."""
        now = time.monotonic()
        for name, passage in list(self._accepted.items()):
            if now - passage.since > _TAKEN_UP:
                del self._accepted[name]
                self._end(passage)
                if passage.run is not None and self.node.executor is not None:
                    never_sent = guard(self.node, "goal not taken up", self.node.errands.never_sent)
                    self.node.executor.create_task(never_sent, passage.run, "its goal was not taken up")

    def _broken(self, handle: Any) -> Any:
        """The result of a goal whose handling failed: it may have been sent, and nothing is claimed."""
        if handle.is_active:
            handle.abort()
        return self.type.Result()


def _pass_on(handle: Any, phase: str, said: Any) -> None:
    """Feedback of the device, as it is."""
    if phase == "running" and handle.is_active:
        handle.publish_feedback(said)
