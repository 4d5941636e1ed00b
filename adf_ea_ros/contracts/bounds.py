"""Whether the bounds of a condition can be met together."""

from __future__ import annotations

from collections.abc import Iterator

from adf_ea_ros.contracts.conditions import Operator
from adf_ea_ros.contracts.model import Argument, Bound, ConditionTemplate, Parameter

_LOWER = (Operator.GT, Operator.GTE, Operator.EQ)
_UPPER = (Operator.LT, Operator.LTE, Operator.EQ)


def contradictory(c: ConditionTemplate, parameters: dict[str, Parameter]) -> bool:
    """Whether no value meets all bounds, whatever the arguments are.

    Bounds on different arguments that some requests meet and others do not are no fault of the contract.
    """
    kinds = {_kind(bound, parameters) for _, bound in c.bounds()} - {""}
    if len(kinds) > 1:  # a word is not above or below a number
        return True
    # Offsets of one argument are compared as they are: its value is the same in all of them.
    groups: dict[str, list[tuple[Operator, float]]] = {}
    for op, bound in c.bounds():
        if isinstance(bound, Argument):
            groups.setdefault(bound.argument, []).append((op, bound.plus))
        elif isinstance(bound, (int, float)) and not isinstance(bound, bool):
            groups.setdefault("", []).append((op, float(bound)))
    groups["of all"] = [weak for op, bound in c.bounds() for weak in _weakest(op, bound, parameters)]
    return any(_empty_range(bounds) for bounds in groups.values())


def _kind(bound: Bound, parameters: dict[str, Parameter]) -> str:
    """Of what sort a bound is: a number, text, a truth; empty where its parameter is not declared."""
    if isinstance(bound, Argument):
        kind: str = parameters[bound.argument].type if bound.argument in parameters else ""
        return "number" if kind == "integer" else kind
    return "boolean" if isinstance(bound, bool) else "string" if isinstance(bound, str) else "number"


def _weakest(
    op: Operator, bound: Bound, parameters: dict[str, Parameter]
) -> Iterator[tuple[Operator, float]]:
    """The bound as the most generous of all allowed arguments makes it; nothing where it has no limit."""
    if _kind(bound, parameters) != "number":
        return
    if not isinstance(bound, Argument):
        assert isinstance(bound, (int, float))
        yield op, float(bound)
        return
    p = parameters[bound.argument]
    choices = [choice for choice in p.choices if isinstance(choice, (int, float))]
    least = [v for v in (p.minimum, min(choices, default=None)) if v is not None]
    greatest = [v for v in (p.maximum, max(choices, default=None)) if v is not None]
    if least and greatest and max(least) > min(greatest):
        return  # no argument is allowed at all: that is the parameter's own fault
    if op in _LOWER and least:
        yield (Operator.GTE if op is Operator.EQ else op), max(least) + bound.plus
    if op in _UPPER and greatest:
        yield (Operator.LTE if op is Operator.EQ else op), min(greatest) + bound.plus


def _empty_range(bounds: list[tuple[Operator, float]]) -> bool:
    lower = max(((v, op is Operator.GT) for op, v in bounds if op in _LOWER), default=None)
    upper = min(((v, op is not Operator.LT) for op, v in bounds if op in _UPPER), default=None)
    if lower is None or upper is None:
        return False
    return lower[0] > upper[0] or (lower[0] == upper[0] and (lower[1] or not upper[1]))
