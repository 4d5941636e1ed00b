"""Arguments of a request against the parameters of a contract: the last check before the authority sees them.

A planner writes JSON. What is accepted has one reading: no duplicate keys, no NaN or infinity, a boolean is
no
number, and a number of type ``number`` becomes a float, so that ``80`` and ``80.0`` ground to the same
operation
and to the same accounting key.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from adf_ea_ros.contracts.checks import type_fits, value_fault
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.faults import one_of
from adf_ea_ros.contracts.model import CapabilityContract, Parameter

MAX_TEXT = 256
"""Greatest length of a text argument, in characters."""
MAX_JSON = 65_536
"""Greatest length of the JSON text, in characters."""
_GREATEST_INT = (1 << 63) - 1


class ArgumentFault(ValueError):
    """Arguments that a contract does not admit.

    ``code`` is stable: A.json (no JSON object, or one with two readings), A.unknown, A.missing, A.type,
    A.range
    (also too long), A.choice (also a pattern that does not match), A.nan.
    """

    def __init__(self, code: str, argument: str, message: str) -> None:
        self.code = code
        self.argument = argument
        super().__init__(message)


def check_arguments(capability: CapabilityContract, given: str | Mapping[str, Any]) -> dict[str, Value]:
    """The arguments with defaults filled in, in the order of the contract's parameters.

    Raises:
        ArgumentFault: on the first argument that does not fit.
    """
    values = _parse(given) if isinstance(given, str) else given
    parameters = capability.parameters
    for name in values:
        if name not in parameters:
            _refuse(
                "A.unknown",
                name,
                f"{capability.id} has no parameter "
                f"{str(name)[:60]!r}{one_of(name, parameters, 'parameters')}",
            )
    checked: dict[str, Value] = {}
    for name, parameter in parameters.items():
        if name in values:
            checked[name] = _value(name, parameter, values[name])
        elif parameter.default is not None:
            checked[name] = _value(name, parameter, parameter.default)
        else:
            _refuse("A.missing", name, f"{capability.id} needs the argument {name!r}")
    return checked


def _refuse(code: str, argument: object, message: str) -> NoReturn:
    raise ArgumentFault(code, str(argument), message)


def _parse(text: str) -> Mapping[str, Any]:
    if len(text) > MAX_JSON:
        _refuse("A.json", "", f"arguments are longer than {MAX_JSON} characters")
    try:
        values = json.loads(
            text or "{}", object_pairs_hook=_unique, parse_constant=_not_finite, parse_int=_int
        )
    except ArgumentFault:
        raise
    except RecursionError:
        _refuse("A.json", "", "arguments are nested too deeply")
    except ValueError as error:
        _refuse("A.json", "", f"arguments are not JSON: {error}")
    if not isinstance(values, dict):
        _refuse("A.json", "", "arguments must be a JSON object")
    return values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            _refuse("A.json", name, f"the argument {name[:60]!r} is given twice")
        values[name] = value
    return values


def _not_finite(word: str) -> NoReturn:
    _refuse("A.nan", "", f"{word} is not a value")


def _int(digits: str) -> int | float:
    # Python refuses to convert thousands of digits; what does not fit 64 bits is refused later in any case.
    return int(digits) if len(digits) <= 20 else math.copysign(1e300, -1.0 if digits[0] == "-" else 1.0)


def _value(name: str, parameter: Parameter, value: Any) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        _refuse("A.nan", name, f"{name} must be finite, not {value}")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _GREATEST_INT:
        _refuse("A.range", name, f"{name} does not fit 64 bits")
    if (
        parameter.type == "integer"
        and isinstance(value, float)
        and value.is_integer()
        and abs(value) < 1 << 53
    ):
        value = int(value)  # JSON has one kind of number: 3.0 is the integer 3
    if not isinstance(value, (bool, int, float, str)) or not type_fits(parameter.type, value):
        _refuse("A.type", name, f"{name} must be of type {parameter.type}, not {_kind(value)}")
    if isinstance(value, str):
        _check_text(name, value)
    if fault := value_fault(parameter, value):
        chosen = parameter.choices and value not in parameter.choices
        _refuse("A.choice" if chosen or isinstance(value, str) else "A.range", name, f"{name}: {fault}")
    return float(value) + 0.0 if parameter.type == "number" else value  # + 0.0: minus zero is zero


def _check_text(name: str, value: str) -> None:
    if len(value) > MAX_TEXT:
        _refuse("A.range", name, f"{name} is longer than {MAX_TEXT} characters")
    if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in value):
        _refuse("A.type", name, f"{name} contains control characters")


def _kind(value: Any) -> str:
    names = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        type(None): "null",
        list: "list",
        dict: "object",
    }
    return names.get(type(value), type(value).__name__)
