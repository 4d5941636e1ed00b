"""Readbacks against the conditions that they are to decide: can the value be compared with the bound at all.

A number is never true, and a text is never at least 3: such a condition would stay undecided for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.crosscheck import evidence_needs
from adf_ea_ros.contracts.faults import Loc
from adf_ea_ros.contracts.interfaces import Interface, InterfaceError, resolve
from adf_ea_ros.contracts.model import (
    AnyContract,
    Argument,
    Bound,
    CapabilityContract,
    ConditionTemplate,
    Parameter,
    ProviderContract,
    Route,
    Task,
)

Found = Iterator[tuple[Loc, str]]
Find = Callable[[str], Interface | None]
"""Gives the interface of a type, where it is installed."""


def kind_of(value: Value) -> str:
    """The parameter type of a value: boolean, integer, number or string."""
    return {bool: "boolean", int: "integer", float: "number"}.get(type(value), "string")


class Comparable:
    """The check, for a set of contracts."""

    def __init__(self, contracts: Iterable[AnyContract], find: Find) -> None:
        """``contracts``: all that references may lead to."""
        listed = list(contracts)
        self._capabilities = {c.id: c for c in listed if isinstance(c, CapabilityContract)}
        self._routes = {
            f"{p.id}/{name}": route
            for p in listed
            if isinstance(p, ProviderContract)
            for name, route in p.routes.items()
        }
        self._find = find

    def check(self, contract: AnyContract) -> Found:
        """What is wrong with the routes that a provider or a task names for its conditions."""
        if isinstance(contract, Task):
            for name, goal in contract.obligations.items():
                if goal.condition is not None:
                    yield from self._refs(goal.condition, {}, goal.routes, ("obligations", name, "routes"))
        elif isinstance(contract, ProviderContract) and contract.tool is not None:
            capability = self._capabilities.get(contract.tool.provides)
            needs = evidence_needs(capability) if capability is not None else {}
            for name, refs in contract.evidence.items():
                if capability is not None and name in needs:
                    yield from self._refs(needs[name][0], capability.parameters, refs, ("evidence", name))

    def _refs(
        self,
        condition: ConditionTemplate,
        parameters: Mapping[str, Parameter],
        refs: Iterable[str],
        at: Loc,
    ) -> Found:
        asked = {_bound(bound, parameters) for _, bound in condition.bounds()} - {""}
        for index, ref in enumerate(refs):
            given = self._gives(self._routes[ref]) if ref in self._routes else set()
            for kind in sorted(asked):
                if given and not any(_family(kind) == _family(each) for each in given):
                    gives = " or ".join(map(_a, sorted(given)))
                    yield (*at, index), f"{ref} gives {gives}, and the condition compares it with {_a(kind)}"

    def _gives(self, route: Route) -> set[str]:
        """The kinds of value that a route can give; nothing where that is not known here."""
        if route.derive is not None:
            return {"number"}
        if route.value.map:
            return {kind_of(value) for value in route.value.map.values()}
        interface = self._find(route.type)
        if interface is None or not route.value.field or "message" not in interface.sections:
            return set()
        try:
            return {resolve(interface, "message", route.value.field).kind} - {""}
        except InterfaceError:
            return set()  # told elsewhere


def _bound(bound: Bound, parameters: Mapping[str, Parameter]) -> str:
    if isinstance(bound, Argument):
        return parameters[bound.argument].type if bound.argument in parameters else ""
    return kind_of(bound)


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "integer" else f"a {kind}"


def _family(kind: str) -> str:
    return "number" if kind == "integer" else kind
