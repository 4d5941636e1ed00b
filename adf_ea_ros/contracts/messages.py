"""What pydantic found, in words for the person who wrote the file, at the place where it was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from adf_ea_ros.contracts.faults import Loc, nearest, one_of

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
    r"^\S(.{0,98}\S)?$": "a name of at most 100 characters, without spaces around it",
    r"^[a-z][a-z0-9_]*$": "a name: lower case letters, digits and _, beginning with a letter",
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$": "a version of three numbers, such as '1.0.0'",
    r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$": "a route: provider/route, such as probe/temperature",
    r"^(/[A-Za-z_][A-Za-z0-9_]*)+$": "a fully qualified ROS name, such as /rig/probe",
    r"^[a-z][a-z0-9_]*/(msg|srv|action)/[A-Z][A-Za-z0-9]*$": "an interface type, such as "
    "sensor_msgs/msg/Temperature",
    r"^(RIHS01_[0-9a-f]{64})?$": "a type hash: RIHS01_ and 64 hexadecimal digits",
}
_QUOTED = re.compile(r"'([^']*)'")
FieldsAt = Callable[[Loc], tuple[str, ...]]


def explain(error: ValidationError, data: Any, fields_at: FieldsAt) -> Iterator[tuple[Loc, str]]:
    """Place and message of each fault, several alternatives of one value taken together."""
    groups: dict[Loc, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        groups.setdefault(_place(detail, data), []).append(detail)
    meant = _misspelt(groups, fields_at)
    for loc, details in groups.items():
        if loc in meant:
            continue
        wanted = {words for detail in details if (words := _TYPES.get(detail["type"])) is not None}
        value = _value(data, loc)
        if wanted and not (isinstance(value, dict) and any(_inside(other, loc) for other in groups)):
            # Where a mapping has faults inside, the alternatives that are no mapping were not meant.
            yield loc, f"must be {' or '.join(sorted(wanted))}, not {describe(value)}"
        for detail in details:
            if detail["type"] not in _TYPES:
                yield loc, _message(detail, loc, fields_at)


def _inside(loc: Loc, outer: Loc) -> bool:
    return len(loc) > len(outer) and loc[: len(outer)] == outer


def _misspelt(groups: dict[Loc, list[ErrorDetails]], fields_at: FieldsAt) -> set[Loc]:
    """The missing fields for which an unknown field of nearly that name stands there: one mistake."""
    found: set[Loc] = set()
    for loc, details in groups.items():
        if details[0]["type"] == "extra_forbidden":
            close = nearest(loc[-1], fields_at(loc[:-1]))
            place = (*loc[:-1], close or "")
            if place in groups and groups[place][0]["type"] == "missing":
                found.add(place)
    return found


def describe(value: Any) -> str:
    """A value as people would name it: ``text 'abc'``, ``the number 3``, ``a mapping``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"text {value[:40]!r}"
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"


def _place(detail: ErrorDetails, data: Any) -> Loc:
    """The part of pydantic's place that exists in the data: names of union members fall out."""
    place: list[int | str] = []
    for part in detail["loc"]:
        inside = part in data if isinstance(data, dict) else isinstance(data, list) and isinstance(part, int)
        if inside:
            place.append(part)
            data = data[part]
    if detail["type"] == "missing":
        place.append(detail["loc"][-1])
    return tuple(place)


def _value(data: Any, loc: Loc) -> Any:
    for part in loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _message(detail: ErrorDetails, loc: Loc, fields_at: FieldsAt) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"unknown field {str(loc[-1])[:60]!r}{one_of(loc[-1], fields_at(loc[:-1]))}"
    if kind == "union_tag_not_found":
        return f"needs {context['discriminator']!s}"
    if kind in ("enum", "literal_error", "union_tag_invalid"):
        allowed = _QUOTED.findall(str(context.get("expected", context.get("expected_tags"))))
        if kind == "union_tag_invalid":
            return f"{str(context['tag'])[:40]!r} is not allowed here{one_of(context['tag'], allowed)}"
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
