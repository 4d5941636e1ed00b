"""JSON from other worlds: read with limits, and JSON Schema made into parameters."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from adf_ea_ros.contracts.checks import type_fits
from adf_ea_ros.contracts.onboarding.draft import DraftError, DraftParameter, clean, safe_name
from adf_ea_ros.contracts.units import nearest_unit

_MAX_BYTES = 5_000_000
_TYPES = ("boolean", "integer", "number", "string")
_DEPTH = 8
"""References and alternatives that are followed for one value."""


def load_json(data: bytes, what: str) -> Any:
    """The value of a JSON text.

    Raises:
        DraftError: not JSON, or too large.
    """
    if len(data) > _MAX_BYTES:
        raise DraftError(f"{what}: larger than {_MAX_BYTES} bytes")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DraftError(f"{what}: not JSON: {error}") from error


def mapping(value: Any) -> Mapping[str, Any]:
    """``value`` if it is a JSON object, else an empty one: sources are read leniently."""
    return value if isinstance(value, dict) else {}


def words(value: Any, *keys: str) -> str:
    """The first text under ``keys``; of texts by language, one of them."""
    source = mapping(value)
    for key in keys:
        found = source.get(key)
        if isinstance(found, dict):
            found = found.get("en", next(iter(found.values()), ""))
        if isinstance(found, str) and found.strip():
            return clean(found)
    return ""


def parameters_of(schema: Any, notes: list[str]) -> tuple[DraftParameter, ...]:
    """Parameters for an input schema; what cannot be an argument becomes a note."""
    root = mapping(schema)
    schema = _plain(root, root)
    if not schema:
        return ()
    if _type(schema) in _TYPES:
        return (_parameter("value", schema, notes, ()),)
    if _type(schema) not in ("object", "") or not isinstance(schema.get("properties", {}), dict):
        notes.append(
            f"the input is of type {clean(str(schema.get('type')))[:40]}, which is no set of arguments"
        )
        return ()
    found: list[DraftParameter] = []
    for name, given in schema.get("properties", {}).items():
        inner = _plain(mapping(given), root)
        if _type(inner) not in _TYPES:
            kind = _type(inner) or "no single type"
            notes.append(f"input {clean(str(name))[:60]!r} is of {kind}: set it as a constant if needed")
            continue
        found.append(_parameter(str(name), inner, notes, [p.name for p in found]))
    return tuple(found)


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema in one piece: what it refers to, the one alternative beside null, a constant as a choice.

    That is how generators of tool schemas spell optional values, enumerations and literals.
    """
    for _ in range(_DEPTH):
        key = next((k for k in ("$ref", "anyOf", "oneOf", "allOf") if k in schema), "")
        if not key or "type" in schema:
            break
        inner = _referred(schema[key], root) if key == "$ref" else _single(schema[key])
        if not inner:
            break
        schema = {**inner, **{k: v for k, v in schema.items() if k != key}}
    if "const" in schema and "enum" not in schema:
        schema = {**schema, "enum": [schema["const"]]}
    return schema


def _single(options: Any) -> Mapping[str, Any]:
    """The one alternative that is not null, if there is just one."""
    others = [mapping(option) for option in options] if isinstance(options, list) else []
    others = [option for option in others if option.get("type") != "null"]
    return others[0] if len(others) == 1 else {}


def _referred(reference: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference within the same schema leads to, such as ``#/$defs/Mode``."""
    found: Any = root
    for part in reference.removeprefix("#/").split("/") if isinstance(reference, str) else ():
        found = mapping(found).get(part)
    return mapping(found) if found is not root else {}


def _type(schema: Mapping[str, Any]) -> str:
    """The one type of a schema; a type that may also be null counts as that type."""
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [k for k in kind if k != "null"]
        kind = others[0] if len(others) == 1 else None
    if kind is None and isinstance(schema.get("enum"), list) and schema["enum"]:
        kind = next(
            (
                t
                for t in ("boolean", "integer", "number", "string")
                if all(type_fits(t, v) for v in schema["enum"])
            ),
            None,
        )
    return kind if isinstance(kind, str) else ""


def _parameter(name: str, schema: Mapping[str, Any], notes: list[str], taken: Any) -> DraftParameter:
    kind = _type(schema)
    said = words(schema, "unit")
    unit = nearest_unit(said) if kind in ("integer", "number") else ""
    if said and not unit:
        notes.append(f"unit {said!r} of {clean(name)[:60]!r}: name the unit that the ROS interface uses")
    for key in ("exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        if key in schema:
            notes.append(f"{key} of {clean(name)[:60]!r}: only minimum and maximum are taken over")
    choices = schema.get("enum") if isinstance(schema.get("enum"), list) else []
    fitting = tuple(
        c for c in choices or [] if type_fits(kind, c) and (not isinstance(c, float) or math.isfinite(c))
    )
    default = schema.get("default")
    numeric = kind in ("integer", "number")
    minimum, maximum = (_number(schema.get(key)) if numeric else None for key in ("minimum", "maximum"))
    return DraftParameter(
        safe_name(name, taken),
        kind,
        description=words(schema, "description", "descriptions", "title"),
        unit=unit,
        minimum=minimum,
        maximum=maximum,
        choices=fitting,
        default=default
        if type_fits(kind, default) and _admitted(default, minimum, maximum, fitting)
        else None,
    )


def _admitted(value: Any, minimum: float | None, maximum: float | None, choices: tuple[Any, ...]) -> bool:
    if choices and value not in choices:
        return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (
            math.isfinite(value)
            and (minimum is None or value >= minimum)
            and (maximum is None or value <= maximum)
        )
    return True


def _number(value: Any) -> float | None:
    return float(value) if type_fits("number", value) and abs(value) < 1e300 else None
