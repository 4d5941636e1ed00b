"""Drop-in gates: a client's native goal back to the arguments of a capability, and what can be wrong there.

The way back is the inverse of the provider's mapping. What a goal says beyond its arguments would be lost on
the way to the device, so a gate finds it (``excess``) and refuses it instead. Needs no ROS: any object with
attributes will do.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from adf_ea_ros.contracts.checks import value_fault
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.faults import Loc, has_no
from adf_ea_ros.contracts.fields import FieldError, get_field, goal_fields, owner_of, set_field
from adf_ea_ros.contracts.model import CapabilityContract, EffectKind, Gate, ProviderContract, Task, Tool

Found = Iterator[tuple[Loc, str]]
_CLOSE = 1e-6
"""Relative difference up to which two numbers are one: headings go through sine and cosine and back."""


class Source(msgspec.Struct, frozen=True):
    """Where a gate takes one argument from: goal fields that must agree, a heading, or one fixed value."""

    fields: tuple[str, ...] = ()
    yaw: str = ""
    value: Value | None = None


def sources(gate: Gate, tool: Tool, capability: CapabilityContract) -> dict[str, Source]:
    """The source of every parameter that has one; a default of the contract is nobody's business here."""
    found: dict[str, Source] = {}
    for name in capability.parameters:
        mapped = tuple(path for path, parameter in tool.arguments.items() if parameter == name)
        heading = next((path for path, parameter in tool.yaw.items() if parameter == name), "")
        served = tool.accepts.get(name, ())
        if name in gate.arguments:
            found[name] = Source(value=gate.arguments[name])
        elif name in gate.fields:
            found[name] = Source(fields=(gate.fields[name],))
        elif mapped:
            found[name] = Source(fields=mapped)
        elif heading:
            found[name] = Source(yaw=heading)
        elif len(served) == 1:
            found[name] = Source(value=served[0])
    return found


def read_arguments(message: Any, known: Mapping[str, Source]) -> dict[str, Value]:
    """The arguments that a native goal means.

    Raises:
        FieldError: a field is not there, holds no single value, or two that mean one argument disagree.
    """
    return {name: _argument(message, source) for name, source in known.items()}


def _argument(message: Any, source: Source) -> Value:
    if source.value is not None:
        return source.value
    if source.yaw:
        q = get_field(message, source.yaw)
        return math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
    values = [_value(message, path) for path in source.fields]
    if any(not _equal(value, values[0]) for value in values[1:]):
        raise FieldError(f"{' and '.join(source.fields)} mean one argument, and differ")
    return values[0]


def _value(message: Any, path: str) -> Value:
    value = get_field(message, path)
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float | str):
        raise FieldError(f"{path!r} is a {type(value).__name__}, not a single value")
    owner, name = owner_of(message, path)
    fields: dict[str, str] = owner.get_fields_and_field_types() if _is_ros(owner) else {}
    return _single(value) if isinstance(value, float) and "float" in fields.get(name, "") else value


def _single(value: float) -> float:
    """A number from a 32-bit field as it was written: 0.085, not 0.08500000089406967."""
    if not math.isfinite(value):
        return value
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("f", short) == struct.pack("f", value):
            return short
    return value


def rebuild(blank: Any, tool: Tool, arguments: dict[str, Value], key: str = "") -> Any:
    """``blank`` with the fields that these arguments mean.

    Raises:
        FieldError: the message does not take them.
    """
    for path, value in goal_fields(tool, arguments, key).items():
        set_field(blank, path, value)
    return blank


def excess(sent: Any, rebuilt: Any, ignored: Iterable[str] = ()) -> str:
    """The first field in which a goal says something else than what its arguments make of it; empty: none."""
    return _differing(sent, rebuilt, frozenset(ignored), "")


def contradicted(sent: Any, tool: Tool, ignored: Iterable[str] = ()) -> str:
    """The first fixed field of the provider's mapping in which a goal says something else; empty: none."""
    skipped = frozenset(ignored)
    for path, value in tool.constants.items():
        if path in skipped:
            continue
        try:
            if not _equal(get_field(sent, path), value):
                return path
        except FieldError:
            return path
    return ""


def _differing(one: Any, other: Any, ignored: frozenset[str], at: str) -> str:
    if at in ignored:
        return ""
    if _is_ros(one):
        names = one.get_fields_and_field_types()
        parts = ((f"{at}.{n}" if at else n, getattr(one, n), getattr(other, n)) for n in names)
    elif isinstance(one, str | bytes) or not hasattr(one, "__len__"):
        return "" if _equal(one, other) else at
    elif len(one) != len(other):
        return at
    else:
        parts = ((f"{at}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)))
    return next(filter(None, (_differing(a, b, ignored, name) for name, a, b in parts)), "")


def _is_ros(message: Any) -> bool:
    return hasattr(message, "get_fields_and_field_types")


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return bool(one == other)
    if not isinstance(other, int | float):
        return False
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


# -- checks --------------------------------------------------------------------------------------------------


def check_gate(gate: Gate) -> Found:
    """What is wrong with a gate by itself."""
    for name in gate.fields.keys() & gate.arguments.keys():
        yield (
            ("arguments", name),
            f"{name!r} comes from {gate.fields[name]!r} already: it can have one source",
        )
    for path in gate.reply.verified.keys() & gate.reply.refused.keys():
        if gate.reply.verified[path] == gate.reply.refused[path]:
            yield ("reply", "refused", path), "says the same as where the effect is verified"


def check_gate_provider(
    gate: Gate, provider: ProviderContract, capability: CapabilityContract | None
) -> Found:
    """What is wrong with a gate for this provider; ``capability``: what its tool provides, where known."""
    tool = provider.tool
    if tool is None:
        yield ("provider",), f"{provider.id!r} has no tool: there is nothing to stand for"
        return
    if gate.name == tool.name:
        yield ("name",), f"is the name of the {tool.kind} behind the gate: one of the two needs another name"
    if not tool.promises.final_on_result and tool.promises.commit_bound is None:
        yield (
            ("provider",),
            (
                f"{provider.id!r} promises neither final_on_result nor commit_bound: after one goal no other "
                "about the same fact could be admitted"
            ),
        )
    if gate.busy == "preempt":
        yield from _preemption(tool, capability)
    if tool.kind == "topic" and (gate.reply.verified or gate.reply.refused or gate.reply.text):
        yield ("reply",), "a command topic has no reply"
    if capability is not None:
        if capability.invocation.approval is not None:
            yield (
                ("provider",),
                (
                    f"{capability.id} asks for a person's approval of each step, and a client behind a gate "
                    "has no step before its goal comes: run it through execute/, or under another contract"
                ),
            )
        yield from _arguments(gate, provider.id, tool, capability)


def _preemption(tool: Tool, capability: CapabilityContract | None) -> Found:
    """What is in the way of stopping one goal for another: it must be known that the first one is over."""
    if tool.kind != "action":
        yield ("busy",), f"a {tool.kind} cannot be told to stop: preempt is for actions"
    elif not tool.promises.final_on_result:
        yield (
            ("busy",),
            "preempt needs final_on_result: else a goal that was stopped could act on",
        )
    if capability is not None and any(e.kind is EffectKind.EVENT for e in capability.effects.values()):
        yield ("busy",), "preempt is for states: an event may have happened before its goal was stopped"


def _arguments(gate: Gate, provider: str, tool: Tool, capability: CapabilityContract) -> Found:
    parameters = capability.parameters
    for part in ("fields", "arguments"):
        for name in getattr(gate, part):
            if name not in parameters:
                yield (part, name), has_no(capability.id, "parameter", name, parameters)
    for name, value in gate.arguments.items():
        if name in parameters and (fault := value_fault(parameters[name], value)):
            yield ("arguments", name), fault
    known = sources(gate, tool, capability)
    for name, parameter in parameters.items():
        if name not in known and parameter.default is None:
            yield (
                ("arguments",),
                (
                    f"parameter {name!r} of {capability.id} comes from no field of {provider}'s mapping: "
                    "give its field under fields, or its value here"
                ),
            )


def check_gate_task(task: Task, capability: str) -> Found:
    """What is wrong with a gate for this task."""
    if not task.standing:
        yield (
            ("task",),
            f"{task.id!r} is not a standing task: goals of clients that know no episode have no end",
        )
    if capability and task.capabilities and capability not in task.capabilities:
        yield ("task",), f"{task.id!r} does not permit {capability!r}"
