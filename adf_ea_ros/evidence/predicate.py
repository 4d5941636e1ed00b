"""Conditions made ready for judging many values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from adf_ea_ros.contracts.conditions import Condition, Operator, Value

Predicate = Callable[[Value], "bool | None"]

_COMPARE: dict[Operator, Callable[[float, float], bool]] = {
    Operator.EQ: operator.eq,
    Operator.LT: operator.lt,
    Operator.LTE: operator.le,
    Operator.GT: operator.gt,
    Operator.GTE: operator.ge,
}


def predicate(condition: Condition) -> Predicate:
    """A function with the answers of ``condition.test``, several times faster on numbers.

    Whatever is not plainly a number against numeric bounds is left to ``condition.test`` itself.
    """
    pairs: list[tuple[Callable[[float, float], bool], float]] = []
    for clause in condition.clauses:
        if isinstance(clause.bound, (bool, str)):
            return condition.test
        pairs.append((_COMPARE[clause.op], clause.bound))

    def judge(value: Value) -> bool | None:
        if type(value) is float and math.isfinite(value):
            for compare, bound in pairs:  # noqa: SIM110 - all() over a generator costs several times as much
                if not compare(value, bound):
                    return False
            return True
        return condition.test(value)

    return judge
