"""The hardware behind a provider: an action, a service or a command topic, addressed by attempt.

An attempt's id fixes the goal id, so an action can be asked about it later by anyone. Nothing that a device
says here is evidence of an effect.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_action_status_default

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.fields import FieldError, goal_fields, set_field
from adf_ea_ros.contracts.model import Tool
from adf_ea_ros.nodes.convert import uuid_msg
from adf_ea_ros.nodes.graph import full_name
from adf_ea_ros.nodes.interfaces import interface
from adf_ea_ros.nodes.support import GOALS, REQUESTS, guard
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.public import Order

ENDS = {
    GoalStatus.STATUS_SUCCEEDED: Interaction.SUCCEEDED,
    GoalStatus.STATUS_ABORTED: Interaction.ABORTED,
    GoalStatus.STATUS_CANCELED: Interaction.CANCELED,
}
RUNNING = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)

_PROMPT = 1.0
"""Real seconds in which a server answers, ordinarily."""
_SELDOM = 30.0
"""Real seconds between two looks at a goal that runs for long."""

Feedback = Callable[[Any], None]
"""Called with each feedback message, in the device's own type."""
Enough = Callable[[], bool]
"""Says that the answer need not be waited for any longer; it is reported all the same when it comes."""
Late = Callable[[Order, "Said"], None]
"""Called with an answer that came after its deadline."""


class Said(msgspec.Struct, frozen=True):
    """What a device answered: how the exchange stands, its own message, and a remark for the record."""

    interaction: Interaction
    response: Any = None
    detail: str = ""
    answer: Answer | None = None  # where it was asked about an attempt in doubt
    unfinished: bool = False  # it has not answered yet, and is not waited for any longer


class Unsendable(Exception):
    """No message can be made of the arguments; nothing was sent."""


class Hardware(Protocol):
    """One device. Every wait ends with the order's deadline, in ROS time, at the latest."""

    async def send(self, order: Order, feedback: Feedback, enough: Enough = ..., goal: Any = None, /) -> Said:
        """Send the order; ends when it is known whether it was accepted. Raises Unsendable.

        ``goal`` is the message to be sent; none: what the provider's mapping makes of the arguments.
        """
        ...

    async def result(self, order: Order, enough: Enough = ..., /) -> Said:
        """The end of an order that was accepted; LOST where none came in time."""
        ...

    def answered(self, order: Order, /) -> bool:
        """Whether ``result`` would not have to wait."""
        ...

    async def cancel(self, order: Order, /) -> tuple[bool, str]:
        """Ask the device to stop; whether it agreed, and its answer in words. It has not stopped by that."""
        ...

    async def ask(self, order: Order, since: Ns, /) -> Said:
        """What the device knows of an order that somebody may have sent (rule X2). No answer: ask again.

        ``since`` is the ROS time from which this device has been seen without a break; -1: not at all.
        """
        ...

    def forget(self, order: Order, /) -> None:
        """The order is of no more interest."""
        ...

    def identity(self, owner: str, /) -> bytes:
        """The endpoint by which a restart of the device can be noticed; empty where there is none."""
        ...


def hardware(node: Node, waits: Waits, tool: Tool, group: CallbackGroup, wait: float, late: Late) -> Hardware:
    """The hardware of a tool. ``wait``: how long (real seconds) it may take to be found or to answer a query.

    Raises:
        StartFault: its interface is not installed.
    """
    kinds: dict[str, Callable[..., Hardware]] = {"action": Action, "service": Service, "topic": Topic}
    return kinds[tool.kind](node, waits, tool, group, wait, late)


def never() -> bool:
    """An answer is waited for until its deadline."""
    return False


def native(goal: Any, blank: Callable[[], Any], tool: Tool, order: Order) -> Any:
    """The message to be sent: ``goal``, with the attempt's key where the device takes one; or a blank filled.

    Raises:
        Unsendable
    """
    if goal is None:
        return fill(blank(), tool, order)
    if tool.promises.key_field:
        goal = copy.deepcopy(goal)
        try:
            set_field(goal, tool.promises.key_field, order.id)
        except FieldError as error:
            raise Unsendable(f"{tool.type} cannot carry the attempt's key: {error}") from error
    return goal


def fill(message: Any, tool: Tool, order: Order) -> Any:
    """Set the fields that the order means. Raises Unsendable."""
    try:
        for path, value in goal_fields(tool, json.loads(order.arguments), order.id).items():
            set_field(message, path, value)
    except (FieldError, ValueError) as error:
        raise Unsendable(f"{tool.type} cannot carry the arguments: {error}") from error
    return message


class Action:
    """An action server."""

    def __init__(
        self, node: Node, waits: Waits, tool: Tool, group: CallbackGroup, wait: float, late: Late
    ) -> None:
        self._node, self._waits, self._tool, self._group, self._wait = node, waits, tool, group, wait
        self._late = late
        self._type = interface(tool.type)
        self._client = ActionClient(node, self._type, tool.name, callback_group=group, **GOALS)
        self._handles: dict[str, Any] = {}
        self._results: dict[str, Any] = {}
        self._statuses: dict[bytes, int] | None = None

    async def send(self, order: Order, feedback: Feedback, enough: Enough = never, goal: Any = None) -> Said:
        """See ``Hardware``."""
        goal = native(goal, self._type.Goal, self._tool, order)
        if not await _found(self._waits, self._client.server_is_ready, self._wait):
            return _not_sent(f"{self._tool.name} was not found within {self._wait:g} s")
        passed = guard(self._node, "feedback", lambda message: feedback(message.feedback))
        future = self._client.send_goal_async(goal, passed, uuid_msg(order.goal_id))
        if not await self._waits.within(lambda: future.done() or enough(), _PROMPT):
            # A server answers into the void while it has not discovered its client. Its list of goals tells.
            self._watch_statuses()
        await self._waits.until(lambda: future.done() or enough() or self._listed(order), order.deadline)
        if not future.done() and self._listed(order):
            self._follow(order, self._handle(order))
            return Said(Interaction.ACCEPTED, detail="by its status; the answer to the goal did not come")
        if not future.done():
            future.add_done_callback(
                guard(self._node, "late answer", lambda f: self._late_answer(order, f.result()))
            )
            if enough():
                return Said(Interaction.DISPATCHED, unfinished=True)
            return Said(Interaction.LOST, detail="no answer to the goal before the deadline")
        return self._accept(order, future.result())

    def _late_answer(self, order: Order, handle: Any) -> None:
        said = self._accept(order, handle)
        self._late(order, said)
        if said.interaction is Interaction.ACCEPTED:
            self._await_late(order)

    def _await_late(self, order: Order) -> None:
        def late(done: Any) -> None:
            self._late(order, self._end(done.result()))

        self._results[order.id].add_done_callback(guard(self._node, "late result", late))

    def _accept(self, order: Order, handle: Any) -> Said:
        if not handle.accepted:
            return Said(Interaction.REJECTED, detail="the goal was refused")
        self._follow(order, handle)
        return Said(Interaction.ACCEPTED)

    def _follow(self, order: Order, handle: Any) -> None:
        self._handles[order.id] = handle  # rclpy itself keeps only a weak reference
        self._results[order.id] = handle.get_result_async()

    async def result(self, order: Order, enough: Enough = never) -> Said:
        """See ``Hardware``."""
        asked, pause = [self._results[order.id]], _PROMPT

        def answers() -> list[Any]:
            return [future for future in asked if future.done()]

        def over() -> bool:
            return bool(answers()) or enough() or self._waits.now >= order.deadline

        while not await self._waits.within(over, pause):
            self._watch_statuses()
            if self._status(order) in ENDS:  # its answer got lost on its way: a result may be asked for twice
                self._follow(order, self._handles[order.id])
                asked.append(self._results[order.id])
            pause = min(2 * pause, _SELDOM)
        if answers():
            return self._end(answers()[0].result())
        self._await_late(order)
        if enough():
            return Said(Interaction.ACCEPTED, unfinished=True)
        return Said(Interaction.LOST, detail="no result before the deadline")

    def answered(self, order: Order) -> bool:
        """See ``Hardware``."""
        return bool(self._results[order.id].done())

    def _end(self, response: Any) -> Said:
        if response.status not in ENDS:
            return Said(
                Interaction.LOST, detail=f"the result carries status {response.status}, which is no end"
            )
        return Said(ENDS[response.status], response.result)

    async def cancel(self, order: Order) -> tuple[bool, str]:
        """See ``Hardware``."""
        handle = self._handles.get(order.id) or self._handle(order)
        asked: list[Any] = []
        until = time.monotonic() + self._wait
        while not any(future.done() for future in asked):
            left = until - time.monotonic()
            if left <= 0:
                return False, f"no answer to the cancel request within {self._wait:g} s"
            asked.append(handle.cancel_goal_async())  # an answer may be lost; to ask twice is to ask once
            await self._waits.within(lambda: any(f.done() for f in asked), min(left, _PROMPT))
        answer = next(future.result() for future in asked if future.done())
        code, canceling = answer.return_code, answer.goals_canceling
        if canceling:
            return True, "the cancel request was accepted"
        return False, f"the cancel request was refused (code {code})"

    def _handle(self, order: Order) -> Any:
        """A handle to a goal that another process, or an earlier run of this one, has sent."""
        response = self._type.Impl.SendGoalService.Response(accepted=True)
        return ClientGoalHandle(self._client, uuid_msg(order.goal_id), response)

    async def ask(self, order: Order, since: Ns) -> Said:
        """See ``Hardware``."""
        self._watch_statuses()
        if not await _found(self._waits, self._client.server_is_ready, self._wait):
            return Said(order.interaction, detail=f"{self._tool.name} is not there to be asked")
        self._follow(order, self._handle(order))
        future = self._results[order.id]
        # A goal that runs is answered when it ends: its status tells.
        await self._waits.within(lambda: future.done() or self._status(order) in RUNNING, self._wait)
        if future.done() and future.result().status != GoalStatus.STATUS_UNKNOWN:
            end = self._end(future.result())
            if end.interaction is Interaction.LOST:
                return _cannot_tell(end.detail)
            return Said(end.interaction, end.response, end.detail, Answer.TERMINAL)
        if future.done():
            return self._unknown(order, since)
        status = self._status(order)
        if status in RUNNING:
            return Said(Interaction.ACCEPTED, answer=Answer.RUNNING)
        if status in ENDS:
            return Said(ENDS[status], detail="by its status; the result did not come", answer=Answer.TERMINAL)
        return Said(order.interaction, detail=f"{self._tool.name} did not answer within {self._wait:g} s")

    def _unknown(self, order: Order, since: Ns) -> Said:
        """The server does not know the goal: it never got it, or it forgot."""
        remembered = order.dispatched + self._tool.promises.result_timeout
        if 0 <= since <= order.dispatched and self._waits.now < remembered:
            return Said(
                Interaction.NEVER_ACCEPTED,
                detail="unknown to a server that has run since before the dispatch",
                answer=Answer.NEVER_ACCEPTED,
            )
        return _cannot_tell("unknown to a server that may have restarted, or forgotten")

    def _watch_statuses(self) -> None:
        if self._statuses is None:
            self._statuses = {}
            self._node.create_subscription(
                GoalStatusArray,
                f"{self._tool.name}/_action/status",
                guard(self._node, "status", self._on_status),
                qos_profile_action_status_default,
                callback_group=self._group,
            )

    def _on_status(self, message: Any) -> None:
        self._statuses = {bytes(s.goal_info.goal_id.uuid): s.status for s in message.status_list}

    def _listed(self, order: Order) -> bool:
        """The server's list of goals shows it, running or ended: it was accepted."""
        status = self._status(order)
        return status in RUNNING or status in ENDS

    def _status(self, order: Order) -> int:
        return (self._statuses or {}).get(order.goal_id.bytes, GoalStatus.STATUS_UNKNOWN)

    def forget(self, order: Order) -> None:
        """See ``Hardware``."""
        self._handles.pop(order.id, None)
        self._results.pop(order.id, None)

    def identity(self, owner: str) -> bytes:
        """See ``Hardware``."""
        for info in self._node.get_publishers_info_by_topic(f"{self._tool.name}/_action/feedback"):
            if full_name(info) == owner:
                return bytes(info.endpoint_gid)
        return b""


class Service:
    """A service: no goal id and no status, so a lost answer can only be observed."""

    def __init__(
        self, node: Node, waits: Waits, tool: Tool, group: CallbackGroup, wait: float, late: Late
    ) -> None:
        self._node, self._waits, self._tool, self._wait, self._late = node, waits, tool, wait, late
        self._type = interface(tool.type)
        self._client = node.create_client(self._type, tool.name, qos_profile=REQUESTS, callback_group=group)
        self._calls: dict[str, Any] = {}

    async def send(
        self, order: Order, _feedback: Feedback, _enough: Enough = never, goal: Any = None
    ) -> Said:
        """See ``Hardware``."""
        request = native(goal, self._type.Request, self._tool, order)
        if not await _found(self._waits, self._client.service_is_ready, self._wait):
            return _not_sent(f"{self._tool.name} was not found within {self._wait:g} s")
        self._calls[order.id] = self._client.call_async(request)
        return Said(Interaction.DISPATCHED)

    async def result(self, order: Order, enough: Enough = never) -> Said:
        """See ``Hardware``."""
        future = self._calls[order.id]
        await self._waits.until(lambda: future.done() or enough(), order.deadline)
        if future.done():
            return _replied(future.result())
        future.add_done_callback(
            guard(self._node, "late reply", lambda done: self._late(order, _replied(done.result())))
        )
        if enough():
            return Said(Interaction.DISPATCHED, unfinished=True)
        return Said(Interaction.LOST, detail="no reply before the deadline")

    def answered(self, order: Order) -> bool:
        """See ``Hardware``."""
        return bool(self._calls[order.id].done())

    async def cancel(self, _order: Order) -> tuple[bool, str]:
        """See ``Hardware``."""
        return False, "a service call cannot be canceled"

    async def ask(self, _order: Order, _since: Ns) -> Said:
        """See ``Hardware``."""
        return _cannot_tell("a service keeps no record of its calls")

    def forget(self, order: Order) -> None:
        """See ``Hardware``."""
        self._calls.pop(order.id, None)

    def identity(self, _owner: str) -> bytes:
        """See ``Hardware``: nothing can be concluded from it for a service."""
        return b""


class Topic:
    """A command topic: it never answers."""

    def __init__(
        self, node: Node, waits: Waits, tool: Tool, _group: CallbackGroup, wait: float, _late: Late
    ) -> None:
        self._waits, self._tool, self._wait = waits, tool, wait
        self._type = interface(tool.type)
        self._publisher = node.create_publisher(self._type, tool.name, QoSProfile(depth=10))

    async def send(
        self, order: Order, _feedback: Feedback, _enough: Enough = never, goal: Any = None
    ) -> Said:
        """See ``Hardware``."""
        message = native(goal, self._type, self._tool, order)
        if not await _found(self._waits, lambda: self._publisher.get_subscription_count() > 0, self._wait):
            return _not_sent(f"nobody subscribed to {self._tool.name} within {self._wait:g} s")
        self._publisher.publish(message)
        return Said(Interaction.ONE_WAY)

    async def result(self, _order: Order, _enough: Enough = never) -> Said:
        """See ``Hardware``."""
        return Said(Interaction.ONE_WAY)

    def answered(self, _order: Order) -> bool:
        """See ``Hardware``."""
        return True

    async def cancel(self, _order: Order) -> tuple[bool, str]:
        """See ``Hardware``."""
        return False, "a command on a topic cannot be taken back"

    async def ask(self, _order: Order, _since: Ns) -> Said:
        """See ``Hardware``."""
        return _cannot_tell("a topic keeps no record of its commands")

    def forget(self, _order: Order) -> None:
        """See ``Hardware``."""

    def identity(self, _owner: str) -> bytes:
        """See ``Hardware``: nothing can be concluded from it for a topic."""
        return b""


async def _found(waits: Waits, ready: Callable[[], bool], wait: float) -> bool:
    return ready() or await waits.within(ready, wait)


def _not_sent(detail: str) -> Said:
    """Nothing left this process: certain knowledge, which only the sender has."""
    return Said(Interaction.NEVER_ACCEPTED, detail=f"never sent: {detail}", answer=Answer.NEVER_ACCEPTED)


def _cannot_tell(detail: str) -> Said:
    return Said(Interaction.LOST, detail=detail, answer=Answer.CANNOT_TELL)


def _replied(response: Any) -> Said:
    """A reply whose field ``success`` is false says that the service gave up."""
    gave_up = getattr(response, "success", True) is False
    return Said(Interaction.ABORTED if gave_up else Interaction.SUCCEEDED, response)
