"""Values of the authority to messages and back. Enumerations are numbered in the message definitions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any, TypeVar

from builtin_interfaces.msg import Duration
from std_msgs.msg import Header
from unique_identifier_msgs.msg import UUID

from adf_ea_ros import msg
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction, Mode, Node
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Finding, Verdict
from adf_ea_ros.nodes.support import from_msg, to_msg
from adf_ea_ros.recovery.advise import Piece
from adf_ea_ros.runtime.public import Order, Ruling
from adf_ea_ros.srv import Report

_V = TypeVar("_V")

MODES: dict[Mode, int] = {mode: getattr(msg.Attempt, mode.name) for mode in Mode}
INTERACTIONS: dict[Interaction, int] = {i: getattr(msg.Attempt, i.name) for i in Interaction}
VERDICTS: dict[Verdict | None, int] = {None: 0, **{v: getattr(msg.Fact, v.name) for v in Verdict}}
ANSWERS: dict[Answer | None, int] = {
    None: Report.Request.ANSWERED,
    **{a: getattr(Report.Request, a.name) for a in Answer},
}


LONGEST_WAIT: Ns = (2**31 - 1) * 1_000_000_000
"""What a builtin_interfaces/Duration can hold, in whole seconds."""


def _inverse(table: dict[_V, int]) -> dict[int, _V]:
    return {number: value for value, number in table.items()}


MODE_OF = _inverse(MODES)
INTERACTION_OF = _inverse(INTERACTIONS)
VERDICT_OF = _inverse(VERDICTS)
ANSWER_OF = _inverse(ANSWERS)


# -- time and ids ------------------------------------------------------------------------------------------


def time_msg(time: Ns) -> Any:
    """A Time; zero where there is none (negative)."""
    return to_msg(max(time, 0))


def header_msg(time: Ns) -> Any:
    """A Header with that stamp."""
    return Header(stamp=time_msg(time))


def uuid_msg(value: uuid.UUID) -> Any:
    """A UUID message."""
    return UUID(uuid=list(value.bytes))


def uuid_of(message: Any) -> uuid.UUID:
    """The UUID of a message."""
    return uuid.UUID(bytes=bytes(message.uuid))


# -- decisions and attempts --------------------------------------------------------------------------------


def decision_msg(said: Ruling) -> Any:
    """A msg/Decision."""
    return msg.Decision(
        header=header_msg(said.time),
        id=said.id,
        episode=said.episode,
        generation=said.generation,
        request=said.request,
        subject=said.subject,
        authorized=said.authorized,
        rules=list(said.rules),
        reasons=list(said.reasons),
        sentence=said.sentence,
        attempt=said.attempt,
        verdict=VERDICTS[said.verdict],
        negative=said.negative,
        budget=msg.Budget(physical=said.physical, observation=said.observation, retry=said.retry),
        next=list(said.next),
    )


def ruling_of(message: Any) -> Ruling:
    """The ruling of a msg/Decision."""
    return Ruling(
        id=message.id,
        time=from_msg(message.header.stamp),
        episode=message.episode,
        generation=message.generation,
        request=message.request,
        subject=message.subject,
        authorized=message.authorized,
        rules=tuple(message.rules),
        reasons=tuple(message.reasons),
        sentence=message.sentence,
        attempt=message.attempt,
        verdict=VERDICT_OF.get(message.verdict),
        negative=message.negative,
        physical=message.budget.physical,
        observation=message.budget.observation,
        retry=message.budget.retry,
        next=tuple(message.next),
    )


def attempt_msg(given: Order) -> Any:
    """A msg/Attempt."""
    return msg.Attempt(
        id=given.id,
        goal_id=uuid_msg(given.goal_id),
        episode=given.episode,
        step=given.step,
        capability=given.capability,
        provider=given.provider,
        arguments=given.arguments,
        mode=MODES[given.mode],
        interaction=INTERACTIONS[given.interaction],
        verdict=VERDICTS[given.verdict],
        negative=given.negative,
        unresolved=given.unresolved,
        could_take_effect=given.could_take_effect,
        doubtful=given.doubtful,
        cancel_requested=given.cancel_requested,
        generation=given.generation,
        dispatched=time_msg(given.dispatched),
        deadline=time_msg(given.deadline),
        settled=time_msg(given.settled),
    )


def order_of(message: Any) -> Order:
    """The order of a msg/Attempt. Raises ValueError where its enumerations are none that we know."""
    if message.mode not in MODE_OF or message.interaction not in INTERACTION_OF:
        raise ValueError(f"attempt {message.id!r} has mode {message.mode}, interaction {message.interaction}")
    return Order(
        id=message.id,
        goal_id=uuid_of(message.goal_id),
        episode=message.episode,
        step=message.step,
        capability=message.capability,
        provider=message.provider,
        arguments=message.arguments,
        mode=MODE_OF[message.mode],
        interaction=INTERACTION_OF[message.interaction],
        verdict=VERDICT_OF.get(message.verdict),
        negative=message.negative,
        unresolved=message.unresolved,
        could_take_effect=message.could_take_effect,
        doubtful=message.doubtful,
        cancel_requested=message.cancel_requested,
        generation=message.generation,
        dispatched=from_msg(message.dispatched),
        deadline=from_msg(message.deadline),
        settled=from_msg(message.settled) or -1,
    )


# -- steps -------------------------------------------------------------------------------------------------


def step_of(message: Any) -> Step:
    """The step that a planner states; an empty occurrence is the ordinary one."""
    return Step(
        message.id, message.capability, message.arguments, tuple(message.after), message.occurrence or "once"
    )


def step_msg(node: Node) -> Any:
    """The step of an admitted node."""
    operation = node.operation
    return msg.Step(
        id=node.id,
        capability=operation.capability,
        arguments=operation.arguments,
        after=list(node.after),
        occurrence="" if operation.occurrence == "once" else operation.occurrence,
    )


# -- what is known ------------------------------------------------------------------------------------------


def fact_msg(found: Finding) -> Any:
    """A msg/Fact."""
    return msg.Fact(
        requirement=found.requirement,
        condition=str(found.condition),
        verdict=VERDICTS[found.verdict],
        negative=found.negative,
        horizon=time_msg(found.horizon),
        captured=time_msg(found.captured),
        valid_until=time_msg(found.valid_until),
        basis=list(found.basis),
        reasons=[*found.reasons, *([found.integrity] if found.integrity else [])],
    )


# -- any message as JSON -----------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A message as plain values: mappings, lists, numbers, texts."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def to_json(message: Any) -> str:
    """A message as a JSON object. Numbers that JSON cannot say become texts."""
    return json.dumps(plain(message), default=str, separators=(",", ":"))


def advice_msg(piece: Piece) -> Any:
    """One piece of advice as a msg/Advice."""
    wait = min(piece.wait, LONGEST_WAIT)
    return msg.Advice(
        action=int(piece.action),
        step=piece.step,
        provider=piece.provider,
        wait=Duration(sec=wait // 1_000_000_000, nanosec=wait % 1_000_000_000),
        completion=piece.completion,
        progress=piece.progress,
        cost=piece.cost,
        sentence=piece.sentence,
    )
