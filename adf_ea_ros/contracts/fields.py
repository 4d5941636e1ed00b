"""Fields of messages by path: ``pose.position.x``, ``data[0]``, ``points[-1].x``, ``position[name=elbow]``.

The last form is for messages that keep names and values in lists side by side, as ``sensor_msgs/JointState``
does:
the element of ``position`` at the index where ``name`` says ``elbow``. Works on any object with attributes,
so it
needs no ROS.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.model import Tool

_PART = re.compile(r"([a-z][a-z0-9_]*)(?:\[(?:(-1|\d+)|([a-z][a-z0-9_]*)=([^\[\]=]+))\])?")


class FieldError(Exception):
    """A message has no such field, or not of such a kind."""


def _parts(path: str) -> list[re.Match[str]]:
    """The parts of a path. Dots inside brackets belong to the name there."""
    parts: list[re.Match[str]] = []
    position = 0
    while True:
        match = _PART.match(path, position)
        if match is None:
            raise FieldError(f"{path!r} is not a field path")
        parts.append(match)
        position = match.end()
        if position == len(path):
            return parts
        if path[position] != ".":
            raise FieldError(f"{path!r} is not a field path")
        position += 1


def get_field(message: Any, path: str) -> Any:
    """The value of a field.

    Raises:
        FieldError: no such field, index or name.
    """
    for part in _parts(path):
        name, index, key, word = part.groups()
        try:
            value = getattr(message, name)
            if index is not None:
                value = value[int(index)]
            elif key is not None:
                value = value[list(getattr(message, key)).index(word)]
        except (AttributeError, IndexError, ValueError, TypeError) as error:
            raise FieldError(f"{type(message).__name__} has no {part.group()!r} (in {path!r})") from error
        message = value
    return message


def owner_of(message: Any, path: str) -> tuple[Any, str]:
    """The message that holds the last field of a path, and that field's name.

    Raises:
        FieldError: as ``get_field``.
    """
    parts = _parts(path)
    for part in parts[:-1]:
        message = get_field(message, part.group())
    return message, parts[-1][1]


def set_field(message: Any, path: str, value: Any) -> None:
    """Set a field; a whole number becomes a float where the field holds one, and lists of ROS messages grow.

    Raises:
        FieldError: no such field, or the message does not take the value.
    """
    owner = message
    parts = _parts(path)
    for part in parts:
        name, index, _, _ = part.groups()
        if index is not None:
            _grow(owner, name, int(index))
        if part is not parts[-1]:
            owner = get_field(owner, part.group())
    name, index, key, word = parts[-1].groups()
    try:
        held = getattr(owner, name)
        if index is not None or key is not None:
            place = int(index) if index is not None else list(getattr(owner, key)).index(word)
            held[place] = float(value) if isinstance(held[place], float) else value
        else:
            setattr(
                owner, name, float(value) if isinstance(held, float) and isinstance(value, int) else value
            )
    except (AttributeError, IndexError, ValueError, TypeError, AssertionError, OverflowError) as error:
        raise FieldError(f"{type(owner).__name__}.{name} does not take {value!r}: {error}") from error


_LONGEST_LIST = 256
_ELEMENTS = {"string": "", "wstring": "", "boolean": False, "float": 0.0, "double": 0.0, "octet": b"\0"}
_UNBOUNDED = re.compile(r"sequence<([^,>]+?)(?:<\d+>)?(?:, \d+)?>")


def _grow(owner: Any, name: str, index: int) -> None:
    """Append default elements to a list field of a ROS message until ``index`` is there."""
    table: dict[str, str] = getattr(owner, "get_fields_and_field_types", dict)()
    match = _UNBOUNDED.fullmatch(table.get(name, ""))
    held = getattr(owner, name, None)
    if match is None or held is None or index >= _LONGEST_LIST:
        return
    while len(held) <= max(index, 0):
        kind = match[1]
        if "/" in kind:
            package, _, message = kind.partition("/")
            held.append(getattr(importlib.import_module(f"{package}.msg"), message)())
        else:
            held.append(_ELEMENTS.get(kind, 0))


def overlapping(one: str, other: str) -> bool:
    """Whether setting one field would set (part of) the other."""
    first, second = ([part.group() for part in _parts(path)] for path in (one, other))
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def goal_fields(tool: Tool, arguments: dict[str, Value], key: str = "") -> dict[str, Value]:
    """Every goal field that a dispatch sets, and its value: constants, arguments, headings, the attempt's
    key."""
    fields: dict[str, Value] = dict(tool.constants)
    for path, name in tool.arguments.items():
        if name in arguments:
            fields[path] = arguments[name]
    for path, name in tool.yaw.items():
        if name in arguments:
            half = float(arguments[name]) / 2.0
            fields |= {
                f"{path}.x": 0.0,
                f"{path}.y": 0.0,
                f"{path}.z": math.sin(half),
                f"{path}.w": math.cos(half),
            }
    if tool.promises.key_field and key:
        fields[tool.promises.key_field] = key
    return fields
