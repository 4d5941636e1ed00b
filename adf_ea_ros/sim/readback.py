"""From facts to messages: the inverse of what a route reads. Needs no ROS: any object with attributes."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.fields import FieldError, get_field, owner_of, set_field
from adf_ea_ros.contracts.model import FieldOr, Route
from adf_ea_ros.contracts.readings import Number

_NAMED = re.compile(r"([a-z][a-z0-9_]*)\[([a-z][a-z0-9_]*)=([^\[\]=]+)\]$")


def obstacle(route: Route) -> str:
    """Why the messages of a route cannot be made, in a sentence; empty where they can."""
    derive = route.derive
    if derive is not None and (not isinstance(derive, Number) or derive.since_dispatch):
        return f"a reading derived as {derive.kind} cannot be turned back into a message"
    return ""


def first_value(route: Route, blank: Any) -> Value:
    """What an empty message says; 0.0 where it has no such element yet."""
    try:
        raw = get_field(blank, route.value.field)
    except FieldError:
        raw = 0.0
    raw = raw.item() if hasattr(raw, "item") else raw
    if route.value.map:
        return route.value.map.get(_word(raw), next(iter(route.value.map.values())))
    if isinstance(route.derive, Number) and isinstance(raw, (int, float)):
        return raw * route.derive.scale + route.derive.offset
    return raw if isinstance(raw, (bool, int, float, str)) else 0.0


def write(message: Any, route: Route, subject: str, value: Value, arguments: dict[str, Value]) -> None:
    """Make the message say that ``subject`` has this value.

    Raises:
        FieldError: it has no such field, or does not take it.
    """
    derive = route.derive
    if isinstance(derive, Number) and not isinstance(value, (bool, str)):
        value = (value - derive.offset) / derive.scale
    _put(message, route.value, value)
    _put(message, route.subject, subject)
    for name, path in route.correlation.items():
        if name in arguments:
            _place(message, path, arguments[name])


def _put(message: Any, origin: FieldOr, value: Value) -> None:
    """Where the field is translated, the word that means this value is written."""
    if not origin.field:
        return
    raw: Value = value
    if origin.map:
        raw = next((word for word, meaning in origin.map.items() if meaning == value), str(value))
    _place(message, origin.field, raw)


def _place(message: Any, path: str, value: Value) -> None:
    """Set a field; an element that is found by a name beside it is added with its name."""
    named = _NAMED.search(path)
    if named is not None:
        owner, _ = owner_of(message, path)
        values, names = getattr(owner, named[1]), getattr(owner, named[2])
        if named[3] not in names:
            names.append(named[3])
        while len(values) < len(names):
            values.append(0.0)
    held = None
    with contextlib.suppress(FieldError):
        held = get_field(message, path)
    if isinstance(held, bool) and isinstance(value, str):
        value = value == "true"
    elif isinstance(held, (int, float)) and isinstance(value, str):
        value = type(held)(value)
    elif isinstance(held, int) and isinstance(value, float) and not isinstance(held, bool):
        value = round(value)
    set_field(message, path, value)


def _word(raw: object) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)
