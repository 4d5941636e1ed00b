"""Conditions in their JSON form, judged by definitions of the checker's own.

A condition is one fact with either one exact value or an interval of numbers. Two conditions are compared as
sets of values, whatever clauses they are written with.
"""

from __future__ import annotations

import math
from typing import Any

Json = dict[str, Any]
Fact = tuple[str, str]

_TESTS = {
    "EQ": lambda value, bound: value == bound,
    "LT": lambda value, bound: value < bound,
    "LTE": lambda value, bound: value <= bound,
    "GT": lambda value, bound: value > bound,
    "GTE": lambda value, bound: value >= bound,
}


def fact(condition: Json) -> Fact:
    """The subject and path that a condition speaks of."""
    return condition["subject"], condition["path"]


def ident(condition: Json) -> str:
    """One name per meaning: the order of clauses does not matter, the types of bounds do."""
    clauses = sorted((op, type(bound).__name__, repr(bound)) for op, bound in condition["clauses"])
    return f"{condition['subject']}|{condition['path']}|{clauses}"


def holds(condition: Json, value: object) -> bool:
    """Whether ``value`` satisfies every clause. What cannot be compared does not satisfy it."""
    return all(
        _comparable(op, value, bound) and _TESTS[op](value, bound) for op, bound in condition["clauses"]
    )


def implies(one: Json, other: Json) -> bool:
    """Every value of ``one`` is a value of ``other``."""
    if fact(one) != fact(other):
        return False
    if ident(one) == ident(other):
        return True
    exact = _exact(one)
    if exact is not None:
        return holds(other, exact[0])
    if _exact(other) is not None:
        return False
    low, high = _interval(one)
    least, greatest = _interval(other)
    return low >= least and high <= greatest


def excludes(one: Json, other: Json) -> bool:
    """No value satisfies both."""
    if fact(one) != fact(other):
        return False
    for left, right in ((one, other), (other, one)):
        exact = _exact(left)
        if exact is not None:
            return not holds(right, exact[0])
    low = max(_interval(one)[0], _interval(other)[0])
    high = min(_interval(one)[1], _interval(other)[1])
    return low > high


def _exact(condition: Json) -> tuple[object] | None:
    return next(((bound,) for op, bound in condition["clauses"] if op == "EQ"), None)


def _interval(condition: Json) -> tuple[tuple[float, int], tuple[float, int]]:
    """Ends of the interval; an open end lies a little (1) above or below (-1) its number."""
    low, high = (-math.inf, 0), (math.inf, 0)
    for op, bound in condition["clauses"]:
        if op in {"GT", "GTE"}:
            low = max(low, (float(bound), 1 if op == "GT" else 0))
        elif op in {"LT", "LTE"}:
            high = min(high, (float(bound), -1 if op == "LT" else 0))
    return low, high


def _comparable(op: str, value: object, bound: object) -> bool:
    if isinstance(value, (bool, str)) or isinstance(bound, (bool, str)):
        return type(value) is type(bound) and op == "EQ"
    return isinstance(value, (int, float)) and math.isfinite(value)
