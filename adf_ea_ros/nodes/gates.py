"""Drop-in gates: the hardware's own action, service or command topic under another name, for clients that
know nothing of all this. They get a success only for a verified effect.

A goal is rejected where the authority refuses it: rclpy awaits a goal callback that is a coroutine (Jazzy and
Kilted alike), so that the answer is there before the goal is accepted.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.qos import QoSProfile

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts import gates as native
from adf_ea_ros.contracts.against_interfaces import check_interfaces
from adf_ea_ros.contracts.catalog import Catalog, check_catalog
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.fields import FieldError, get_field, set_field
from adf_ea_ros.contracts.loader import read_files
from adf_ea_ros.contracts.model import Gate, ProviderContract
from adf_ea_ros.nodes.errands import Admission
from adf_ea_ros.nodes.interfaces import interface
from adf_ea_ros.nodes.run import Outcome, Run
from adf_ea_ros.nodes.support import GOALS, StartFault, guard
from adf_ea_ros.runtime.public import Ruling, refusal
from adf_ea_ros.runtime.standing import Asked

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

REDUNDANT = frozenset({"R8.redundant", "R8.initially_true"})
"""Reasons of a refusal by which the effect is proven to hold: a gate may call that a success."""
_TAKEN_UP = 5.0
"""Real seconds within which the middleware starts a goal that was accepted."""
_PENDING = QoSProfile(depth=1000)
"""Requests and commands that may wait to be taken; more are lost in the middleware, without a word."""


def serve_gates(node: CapabilityNode, contracts: list[str], files: list[str]) -> list[Door]:
    """The gates in these files of the providers that a node wraps, open for goals.

    Raises:
        StartFault: with every fault of every file; or an interface is not installed.
    """
    kinds: dict[str, Callable[..., Door]] = {"action": ActionDoor, "service": ServiceDoor, "topic": TopicDoor}
    doors = []
    for gate in _load(contracts, files) if files else ():
        provider = node.providers.get(gate.provider)
        if provider is not None and provider.tool is not None:
            doors.append(kinds[provider.tool.kind](node, gate, provider))
    return doors


def _load(contracts: list[str], files: list[str]) -> Iterable[Gate]:
    loaded = read_files([Path(path).expanduser() for path in [*contracts, *files]])
    faults = check_catalog(loaded)
    if not faults:
        own = {document.file for document in loaded.documents if isinstance(document.contract, Gate)}
        faults = [fault for fault in check_interfaces(loaded.documents)[0] if fault.file in own]
    if faults:
        raise StartFault(str(ContractError(faults)))
    return Catalog(loaded.contracts).gates()


class Door:
    """What the gates of all kinds have in common: from a native goal to a ruling, and on to a reply."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Raises StartFault: the interface is not installed."""
        assert provider.tool is not None, "serve_gates asks for it"
        self.node, self.gate, self.tool = node, gate, provider.tool
        self.type = interface(self.tool.type)
        self.log = node.get_logger().get_child(gate.id)
        self._sources = native.sources(gate, self.tool, node.catalog.capability(self.tool.provides))
        timeout = gate.evidence_timeout
        self._timeout = node.evidence_timeout if timeout is None else timeout

    def _try_replies(self, blank: Callable[[], Any]) -> None:
        """Find out now whether the answers can be written, and not when one is due.

        Raises:
            StartFault: a field of the answer does not take what the gate is to write into it.
        """
        try:
            for verified in (True, False):
                self.reply(blank, None, verified=verified, why="tried at the start")
        except FieldError as error:
            raise StartFault(f"gate {self.gate.id}: reply: {error}") from error

    # -- what a goal means -----------------------------------------------------------------------------

    def blank(self) -> Any:
        """An empty native goal."""
        raise NotImplementedError

    def arguments(self, goal: Any) -> dict[str, Value]:
        """The arguments that a native goal means.

        Raises:
            FieldError: it has none, or says what they cannot carry.
        """
        found = native.read_arguments(goal, self._sources)
        if self.gate.forward == "as_sent":
            field = native.contradicted(goal, self.tool, self.gate.ignored)
            if field:
                raise FieldError(f"{field} is not what the provider's contract fixes")
            return found
        given = self.node.catalog.capability(self.tool.provides).parameters
        defaults = {name: p.default for name, p in given.items() if p.default is not None}
        field = native.excess(
            goal, native.rebuild(self.blank(), self.tool, defaults | found), self.gate.ignored
        )
        if field:
            raise FieldError(f"{field} says what no argument carries")
        return found

    async def admit(self, goal: Any) -> Admission:
        """Ask the authority for a native goal, in the standing task."""
        try:
            arguments = json.dumps(self.arguments(goal))
        except FieldError as error:
            said = refusal("Dispatch", self.gate.id, "X5.bad_request", str(error), self.node.waits.now)
            return self._told(said), None
        asked = Asked(
            task=self.gate.task,
            author=self.node.get_fully_qualified_name(),
            capability=self.tool.provides,
            provider=self.gate.provider,
            arguments=arguments,
            goal=uuid.uuid4().hex[:16],
        )
        ask = partial(self.node.port.admit_goal, asked)
        said, order = await self.node.errands.admit(self.gate.provider, self.gate.id, ask)
        return (said if order is not None else self._told(said)), order

    def redundant(self, said: Ruling) -> bool:
        """Whether a refused goal counts as done: its effect is proven to hold, and the gate says so."""
        return self.gate.redundant == "succeed" and not REDUNDANT.isdisjoint(said.reasons)

    def _told(self, said: Ruling) -> Ruling:
        where = f"decision {said.id}" if said.id else "no decision"
        what = "nothing to do" if self.redundant(said) else "refused"
        self.log.warning(f"{self.gate.name}: {what}, {where} ({', '.join(said.reasons)}): {said.sentence}")
        return said

    async def see_through(self, run: Run, goal: Any) -> None:
        """Carry out an admitted goal until it is verified or time is up."""
        sent = goal if self.gate.forward == "as_sent" else None
        await self.node.errands.see_through(run, self._timeout, sent)
        if run.outcome is not Outcome.VERIFIED:
            said = run.ruling
            self.log.warning(
                f"{self.gate.name}: {run.order.id} ended {run.outcome.value}, {self.gate.provider} answered "
                f"{run.interaction.value}, decision {said.id}: {said.sentence}"
            )

    # -- replies ---------------------------------------------------------------------------------------

    def reply(self, blank: Callable[[], Any], response: Any, *, verified: bool, why: str) -> Any:
        """What the device said, or an empty message, with what the gate writes on top."""
        message = blank() if response is None else response
        reply = self.gate.reply
        values: dict[str, Value] = dict(reply.verified if verified else reply.refused)
        if self.tool.kind == "service" and not reply.refused:
            values.setdefault("success", verified)
        text = reply.text or ("message" if "success" in values and hasattr(message, "message") else "")
        if text and not verified:
            own = get_field(message, text)
            values[text] = f"{why} ({own})" if own else why
        for path, value in values.items():
            set_field(message, path, value)
        return message


class _Admitted:
    """A goal that is accepted and not started yet."""

    __slots__ = ("goal", "run", "since")

    def __init__(self, goal: Any, run: Run | None) -> None:
        self.goal, self.run = goal, run
        self.since = time.monotonic()


class ActionDoor(Door):
    """A gated action: feedback, cancel and result pass through."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for goals. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._try_replies(self.type.Result)
        self._admitted: dict[int, _Admitted] = {}
        self._runs: dict[bytes, Run] = {}
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

    async def _on_goal(self, goal: Any) -> GoalResponse:
        if self.node.errands.full():
            return GoalResponse.REJECT
        said, order = await self.admit(goal)
        if order is None and not self.redundant(said):
            return GoalResponse.REJECT
        run = self.node.errands.begin(order, said) if order is not None else None
        self._admitted[id(goal)] = _Admitted(goal, run)  # rclpy hands the same message to ``_execute``
        return GoalResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        admitted = self._admitted.pop(id(handle.request))
        run = admitted.run
        if run is None:
            handle.succeed()
            return self.reply(self.type.Result, None, verified=True, why="")
        run.listener = partial(_pass_on, handle)
        goal_id = bytes(handle.goal_id.uuid)
        self._runs[goal_id] = run
        try:
            await self.see_through(run, admitted.goal)
            if run.canceling and run.interaction is Interaction.CANCELED:
                # The cancel request that stopped it moves the goal to CANCELING a moment later.
                await self.node.waits.within(lambda: handle.is_cancel_requested, 1.0)
        finally:
            del self._runs[goal_id]
        verified = run.outcome is Outcome.VERIFIED
        if verified:
            handle.succeed()
        elif handle.is_cancel_requested and run.interaction is Interaction.CANCELED:
            handle.canceled()
        else:
            handle.abort()
        return self.reply(self.type.Result, run.response, verified=verified, why=run.ruling.sentence)

    async def _on_cancel(self, handle: Any) -> CancelResponse:
        run = self._runs.get(bytes(handle.goal_id.uuid))
        agreed = run is not None and await self.node.errands.cancel(run)
        return CancelResponse.ACCEPT if agreed else CancelResponse.REJECT

    def _sweep(self) -> None:
        """Give back what was admitted for a goal that the middleware did not take up after all."""
        now = time.monotonic()
        for name, admitted in list(self._admitted.items()):
            if now - admitted.since > _TAKEN_UP:
                del self._admitted[name]
                if admitted.run is not None and self.node.executor is not None:
                    never_sent = guard(self.node, "goal not taken up", self.node.errands.never_sent)
                    self.node.executor.create_task(never_sent, admitted.run, "its goal was not taken up")

    def _broken(self, handle: Any) -> Any:
        """The result of a goal whose handling failed: it may have been sent, and nothing is claimed."""
        if handle.is_active:
            handle.abort()
        return self.type.Result()


def _pass_on(handle: Any, phase: str, said: Any) -> None:
    """Feedback of the device, as it is."""
    if phase == "running" and handle.is_active:
        handle.publish_feedback(said)


class ServiceDoor(Door):
    """A gated service: the reply is held until the effect is verified, or time is up."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for requests. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._try_replies(self.type.Response)
        self._server = node.create_service(
            self.type,
            gate.name,
            guard(node, f"request on {gate.name}", self._serve, self._broken),
            qos_profile=_PENDING,
            callback_group=node.group,
        )

    def blank(self) -> Any:
        """See ``Door``."""
        return self.type.Request()

    async def _serve(self, request: Any, _response: Any) -> Any:
        if self.node.errands.full():
            return self._answer(None, verified=False, why="too many goals are in progress")
        said, order = await self.admit(request)
        if order is None:
            return self._answer(None, verified=self.redundant(said), why=said.sentence)
        run = self.node.errands.begin(order, said)
        await self.see_through(run, request)
        verified = run.outcome is Outcome.VERIFIED
        return self._answer(run.response, verified=verified, why=f"not verified: {run.ruling.sentence}")

    def _answer(self, response: Any, *, verified: bool, why: str) -> Any:
        return self.reply(self.type.Response, response, verified=verified, why=why)

    def _broken(self, _request: Any, _response: Any) -> Any:
        return self._answer(None, verified=False, why="the gate failed on this request; its log says why")


class TopicDoor(Door):
    """A gated command topic: what is not admitted goes nowhere."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for commands. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._subscription = node.create_subscription(
            self.type,
            gate.name,
            guard(node, f"command on {gate.name}", self._take),
            _PENDING,
            callback_group=node.group,
        )

    def blank(self) -> Any:
        """See ``Door``."""
        return self.type()

    async def _take(self, message: Any) -> None:
        if self.node.errands.full():
            return
        said, order = await self.admit(message)
        if order is not None:
            await self.see_through(self.node.errands.begin(order, said), message)
