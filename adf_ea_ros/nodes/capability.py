"""A capability node: each provider's hardware as an action that asks the authority first and succeeds on
evidence.

A goal is admitted, sent to the hardware under the attempt's goal id, and followed; every answer is reported;
the goal succeeds when qualified evidence shows the effect, and never because the hardware said so.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node

from adf_ea_ros.action import Execute
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import ProviderContract
from adf_ea_ros.nodes.convert import INTERACTIONS, VERDICTS, decision_msg, to_json
from adf_ea_ros.nodes.errands import Errands
from adf_ea_ros.nodes.gates import serve_gates
from adf_ea_ros.nodes.hardware import Hardware, Said, hardware
from adf_ea_ros.nodes.names import AUTHORITY
from adf_ea_ros.nodes.params import catalog, integer, number, texts
from adf_ea_ros.nodes.port import ServicePort
from adf_ea_ros.nodes.reconcile import Reconciler
from adf_ea_ros.nodes.run import OUTCOMES, Outcome, Run
from adf_ea_ros.nodes.support import GOALS, PHASES, StartFault, declare, guard, keep_clock
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.outbox import Notice, Outbox
from adf_ea_ros.runtime.port import AuthorityPort
from adf_ea_ros.runtime.public import Order, Ruling, refusal


class CapabilityNode(Node):
    """Wraps the providers that its parameter names."""

    def __init__(
        self,
        name: str = "capability",
        *,
        port: AuthorityPort | None = None,
        contracts: Catalog | None = None,
        **options: Any,
    ) -> None:
        """``port`` and ``contracts`` are those of an authority in this process; else parameters name them.

        Raises:
            StartFault: a parameter or a contract is wrong, or a provider has no tool.
        """
        super().__init__(name, **options)
        keep_clock(self)
        self._declare()
        self.catalog = contracts or catalog(self, self._contracts)
        self.result_timeout = self._remember
        """Seconds for which the result of an ended goal can be asked for."""
        self.group = ReentrantCallbackGroup()  # one goal that waits holds up no other
        self.waits = Waits(self)
        self.port: AuthorityPort = port or ServicePort(
            self, self.waits, self._authority, self._patience, self._device, self.group
        )
        self.outbox = Outbox(self.port)
        self.errands = Errands(self, self._most, self._answer)
        self._by_goal: dict[bytes, Run] = {}
        self.providers = {name: self._provider(name) for name in self._names()}
        self.tools: dict[str, Hardware] = {
            provider.id: hardware(self, self.waits, provider.tool, self.group, self._device, self._late)
            for provider in self.providers.values()
            if provider.tool is not None
        }
        self.reconciler = Reconciler(self)
        self.port.watch(self._hear)
        self.port.on_late(self._too_late)
        self._servers = [self._offer(provider) for provider in self.providers]
        self.gates = serve_gates(self, self._contracts, self._gate_files)
        self.waits.every(0.5, "housekeeping", self._keep_house)

    def _declare(self) -> None:
        self._contracts = texts(self, "contracts", "files and folders with capability and provider contracts")
        self._wanted = texts(
            self, "providers", "ids of the providers to wrap; empty: every one that has a tool"
        )
        self._authority = declare(self, "authority", AUTHORITY, "full name of the authority node")
        self._patience = number(
            self, "authority_wait", 2.0, 0.1, 60.0, "real seconds to wait for an answer of the authority"
        )
        self._device = number(
            self,
            "device_wait",
            5.0,
            0.1,
            60.0,
            "real seconds to wait for a device to be found, or to answer a query",
        )
        self.evidence_timeout: Ns = round(1e9 * number(
            self, "evidence_timeout", 30.0, 0.0, 86400.0,
            "seconds to wait for evidence after the answer, where the goal does not say",
        ))  # fmt: skip
        self._answer = number(
            self,
            "answer_wait",
            10.0,
            0.0,
            86400.0,
            "seconds to wait for the device's answer once its effect is proven and its feedback has ended",
        )
        self._remember = integer(
            self,
            "result_timeout",
            10,
            1,
            86400,
            "seconds for which the result of an ended goal can be asked for",
        )
        self._most = integer(self, "max_goals", 100, 1, 10000, "goals in progress; more are rejected")
        self._gate_files = texts(self, "gates", "files and folders with the drop-in gates to serve")

    def _names(self) -> list[str]:
        return self._wanted or [p.id for p in self.catalog.providers() if p.tool is not None]

    def _provider(self, name: str) -> ProviderContract:
        try:
            found = self.catalog.provider(name)
        except KeyError as error:
            raise StartFault(f"{self.get_fully_qualified_name()}: providers: {error.args[0]}") from None
        if found.tool is None:
            raise StartFault(f"{self.get_fully_qualified_name()}: providers: {name} has no tool to wrap")
        return found

    def _offer(self, provider: str) -> Any:
        async def execute(handle: Any) -> Any:
            return await self._execute(provider, handle)

        return ActionServer(
            self,
            Execute,
            f"execute/{provider}",
            guard(self, f"goal on {provider}", execute, _broken),
            callback_group=self.group,
            goal_callback=guard(self, "goal request", self._on_goal, lambda _: GoalResponse.REJECT),
            cancel_callback=guard(self, "cancel request", self._on_cancel, lambda _: CancelResponse.REJECT),
            result_timeout=self._remember,
            feedback_pub_qos_profile=PHASES,
            **GOALS,
        )

    # -- goals -----------------------------------------------------------------------------------------

    def _on_goal(self, _: Any) -> GoalResponse:
        return GoalResponse.REJECT if self.errands.full() else GoalResponse.ACCEPT

    def _on_cancel(self, handle: Any) -> CancelResponse:
        run = self._by_goal.get(bytes(handle.goal_id.uuid))
        if run is not None:
            self.cancel(run)
        return CancelResponse.ACCEPT

    def cancel(self, run: Run) -> None:
        """Ask the hardware to stop. That it has stopped is for its answer and the evidence to say."""
        if not run.canceling and self.executor is not None:
            self.executor.create_task(guard(self, "cancel", self.errands.cancel), run)

    async def _execute(self, provider: str, handle: Any) -> Any:
        goal = handle.request
        said, order = await self._admit(provider, goal)
        if order is None:
            handle.abort()
            return Execute.Result(outcome=Execute.Result.REFUSED, decision=decision_msg(said))
        run = self.errands.begin(order, said)
        run.listener = lambda phase, words: _tell(run, handle, phase, words)
        goal_id = bytes(handle.goal_id.uuid)
        self._by_goal[goal_id] = run
        try:
            if handle.is_cancel_requested:
                self.cancel(run)
            timeout = Duration.from_msg(goal.evidence_timeout).nanoseconds or self.evidence_timeout
            await self.errands.see_through(run, timeout)
        finally:
            del self._by_goal[goal_id]
        return self._finish(run, handle)

    async def _admit(self, provider: str, goal: Any) -> tuple[Ruling, Order | None]:
        if goal.provider not in ("", provider):
            text = f"this action runs on {provider}, not on {goal.provider!r}"
            return refusal("Dispatch", goal.step, "X5.bad_request", text, self.waits.now), None
        ask = partial(self.port.admit, goal.episode, goal.step, provider, 0)
        return await self.errands.admit(provider, goal.step, ask)

    def _finish(self, run: Run, handle: Any) -> Any:
        outcome = run.outcome
        if outcome is Outcome.VERIFIED:
            handle.succeed()
        elif handle.is_cancel_requested and run.interaction is Interaction.CANCELED:
            handle.canceled()
        else:
            handle.abort()
        return Execute.Result(
            outcome=OUTCOMES[outcome],
            attempt=run.order.id,
            interaction=INTERACTIONS[run.interaction],
            response=_words(run.response),
            decision=decision_msg(run.ruling),
        )

    # -- what is heard ---------------------------------------------------------------------------------

    def _hear(self, said: Ruling) -> None:
        """A decision of the authority."""
        self.reconciler.hear(said)
        self.errands.hear(said)

    def _too_late(self, order: Order) -> None:
        """An order whose goal has been refused meanwhile: it is not sent."""
        self.get_logger().warning(f"{order.id} was admitted too late and is not sent")
        self.outbox.put(
            Notice(
                order.id, Interaction.NEVER_ACCEPTED, Answer.NEVER_ACCEPTED, "never sent: admitted too late"
            )
        )

    def _late(self, order: Order, said: Said) -> None:
        """An answer after the deadline settles the interaction, never the effect."""
        self.outbox.put(Notice(order.id, said.interaction, None, f"late: {said.detail}".removesuffix(": ")))

    def _keep_house(self) -> None:
        self.reconciler.look()
        if self.executor is not None and (len(self.outbox) or self.reconciler.wanted):
            self.executor.create_task(guard(self, "reports and reconciliation", self._catch_up))

    async def _catch_up(self) -> None:
        if await self.outbox.flush():
            await self.reconciler.reconcile()


def _tell(run: Run, handle: Any, phase: str, said: Any) -> None:
    """Feedback to the planner, while its goal is open."""
    if handle.is_active:
        words = said if isinstance(said, str) else _words(said, "")
        handle.publish_feedback(Execute.Feedback(phase=phase, verdict=VERDICTS[run.verdict], response=words))


def _words(message: Any, none: str = "{}") -> str:
    """A message of the device as JSON."""
    return none if message is None else to_json(message)


def _broken(handle: Any) -> Any:
    """The result of a goal whose handling failed: it may have been sent, and nothing is claimed."""
    if handle.is_active:
        handle.abort()
    return Execute.Result(outcome=Execute.Result.UNVERIFIED)
