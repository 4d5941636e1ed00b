"""What pydantic found, in words for the person who wrote the file, at the place where it was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from adf_ea_ros.contracts.faults import Loc, one_of

_TYPES = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_PATTERNS = {
    r"^[a-z][a-z0-9_]*$": "a name: lower case letters, digits and _, beginning with a letter",
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$": "a version of three numbers, such as '1.0.0'",
    r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$": "a route: provider/route, such as probe/temperature",
    r"^(/[A-Za-z_][A-Za-z0-9_]*)+$": "a fully qualified ROS name, such as /rig/probe",
    r"^[a-z][a-z0-9_]*/(msg|srv|action)/[A-Z][A-Za-z0-9]*$": "an interface type, such as "
    "sensor_msgs/msg/Temperature",
    r"^RIHS01_[0-9a-f]{64}$": "a type hash: RIHS01_ and 64 hexadecimal digits",
}
_QUOTED = re.compile(r"'([^']*)'")
FieldsAt = Callable[[Loc], tuple[str, ...]]


def explain(error: ValidationError, data: Any, fields_at: FieldsAt) -> Iterator[tuple[Loc, str]]:
    """Place and message of each fault, several alternatives of one value taken together."""
    groups: dict[Loc, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        loc = _place(detail["loc"], data)
        groups.setdefault((*loc, detail["loc"][-1]) if detail["type"] == "missing" else loc, []).append(
            detail
        )
    for loc, details in groups.items():
        wanted = {words for detail in details if (words := _expected(detail)) is not None}
        others = [detail for detail in details if _expected(detail) is None]
        value = _value(data, loc)
        if isinstance(value, dict) and others:
            wanted = set()  # the alternatives that are no mapping were not meant
        if wanted:
            yield loc, f"must be {' or '.join(sorted(wanted))}, not {describe(value)}"
        for detail in others:
            yield loc, _message(detail, loc, fields_at)


def describe(value: Any) -> str:
    """A value as people would name it: ``text 'abc'``, ``the number 3``, ``a mapping``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"text {value[:40]!r}"
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"


def _place(loc: Loc, data: Any) -> Loc:
    """The part of pydantic's place that exists in the data: names of union members fall out."""
    place: list[int | str] = []
    for part in loc:
        inside = part in data if isinstance(data, dict) else isinstance(data, list) and isinstance(part, int)
        if inside:
            place.append(part)
            data = data[part]
    return tuple(place)


def _value(data: Any, loc: Loc) -> Any:
    for part in loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _expected(detail: ErrorDetails) -> str | None:
    return _TYPES.get(detail["type"])


def _message(detail: ErrorDetails, loc: Loc, fields_at: FieldsAt) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"unknown field {str(loc[-1])[:60]!r}{one_of(loc[-1], fields_at(loc[:-1]))}"
    if kind in ("enum", "literal_error"):
        allowed = _QUOTED.findall(str(context["expected"]))
        return f"{describe(detail['input'])} is not allowed here{one_of(detail['input'], allowed)}"
    if kind == "string_pattern_mismatch":
        words = _PATTERNS.get(context["pattern"], "a field of a message, such as pose.position.x or data[0]")
        return f"{str(detail['input'])[:60]!r} is not {words}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "too_short":
        return "must not be empty"
    if kind == "string_too_long":
        return f"must have at most {context['max_length']} characters"
    if kind == "too_long":
        return f"must have at most {context['max_length']} entries"
    limits = {
        "greater_than_equal": ("at least", "ge"),
        "less_than_equal": ("at most", "le"),
        "greater_than": ("more than", "gt"),
    }
    if kind in limits:
        words, key = limits[kind]
        return f"must be {words} {context[key]}, not {detail['input']}"
    return detail["msg"]
