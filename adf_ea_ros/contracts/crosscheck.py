"""References between contracts: what one file says about another must be so (section 3.2, appendix D).

The order of the files plays no part: all are read before any reference is followed. A reference to a document
that is itself at fault is left alone, so that one mistake is told once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from adf_ea_ros.contracts.arguments import ArgumentFault, check_arguments
from adf_ea_ros.contracts.checks import value_fault
from adf_ea_ros.contracts.faults import Fault, Loc, has_no, one_of
from adf_ea_ros.contracts.gates import check_gate, check_gate_provider, check_gate_task
from adf_ea_ros.contracts.loader import Document
from adf_ea_ros.contracts.model import (
    CapabilityContract,
    ConditionTemplate,
    Contract,
    Disposition,
    EvidenceSpec,
    Gate,
    Grade,
    ObligationKind,
    ObligationSpec,
    ProviderContract,
    Role,
    Route,
    Task,
    person,
)
from adf_ea_ros.contracts.units import mismatch

Found = Iterator[tuple[Loc, str]]
_SEPARATE = (Role.INDEPENDENT_SENSOR, Role.INDEPENDENT_READ_BACK, Role.OPERATOR)


def check_references(documents: Iterable[Document], broken: Collection[tuple[str, str]] = ()) -> list[Fault]:
    """Faults in what the documents say about each other."""
    documents = list(documents)
    library = _Library([document.contract for document in documents], broken)
    faults: list[Fault] = []
    for document in documents:
        contract = document.contract
        if isinstance(contract, ProviderContract):
            found = library.provider(contract)
        elif isinstance(contract, Task):
            found = library.task(contract)
        elif isinstance(contract, Gate):
            found = library.gate(contract)
        else:
            continue
        faults += [document.fault(loc, message) for loc, message in found]
    return faults


class _Library:
    """All contracts by id, for following references. Of several versions of one id, the last one counts."""

    def __init__(self, contracts: Iterable[Contract], broken: Collection[tuple[str, str]]) -> None:
        self.capabilities: dict[str, CapabilityContract] = {}
        self.providers: dict[str, ProviderContract] = {}
        self.tasks: dict[str, Task] = {}
        self.gates: dict[str, Gate] = {}
        self.broken = {(kind, name) for kind, name in broken if name}
        self.illegible = len(self.broken) < len(broken)
        for contract in sorted(contracts, key=precedence):
            if isinstance(contract, CapabilityContract):
                self.capabilities[contract.id] = contract
            elif isinstance(contract, ProviderContract):
                self.providers[contract.id] = contract
            elif isinstance(contract, Task):
                self.tasks[contract.id] = contract
            elif isinstance(contract, Gate):
                self.gates[contract.id] = contract

    def _unresolved(self, kind: str, name: str, known: Iterable[str]) -> str:
        """What to say about a name that is not there, or nothing where its file is at fault."""
        if (kind, name) in self.broken or self.illegible:
            return ""
        return f"no {kind} {name!r}{one_of(name, known, 'loaded')}"

    # ---------------------------------------------------------------------------------------------- providers

    def provider(self, p: ProviderContract) -> Found:
        """What is wrong with a provider's references."""
        if p.tool is None:
            return
        capability = self.capabilities.get(p.tool.provides)
        if capability is None:
            if fault := self._unresolved("capability", p.tool.provides, self.capabilities):
                yield ("tool", "provides"), fault
        else:
            yield from self._mapping(p, capability)
            yield from self._evidence(p, capability)
        for index, other in enumerate(p.rebinding.to):
            yield from self._rebinding(p, other, ("rebinding", "to", index))

    def _mapping(self, p: ProviderContract, capability: CapabilityContract) -> Found:
        tool, parameters = p.tool, capability.parameters
        if tool is None:
            return
        used: list[tuple[Loc, str]] = [
            (("tool", "arguments", field), name) for field, name in tool.arguments.items()
        ]
        used += [(("tool", "yaw", field), name) for field, name in tool.yaw.items()]
        used += [(("tool", "unmapped"), name) for name in tool.unmapped]
        used += [(("tool", "accepts", name), name) for name in tool.accepts]
        for at, name in used:
            if name not in parameters:
                yield at, has_no(capability.id, "parameter", name, parameters)
            elif at[1] == "yaw" and parameters[name].unit != "rad":
                yield at, f"{name!r} has {mismatch('rad', parameters[name].unit)}"
        for name, values in tool.accepts.items():
            for index, value in enumerate(values):
                if name in parameters and (fault := value_fault(parameters[name], value)):
                    yield ("tool", "accepts", name, index), fault
        for name in parameters.keys() - {name for _, name in used}:
            yield (
                ("tool", "arguments"),
                f"parameter {name!r} of {capability.id} reaches no field: map it, or list it in unmapped",
            )

    def _evidence(self, p: ProviderContract, capability: CapabilityContract) -> Found:
        needs = evidence_needs(capability)
        for requirement in needs:
            if requirement not in p.evidence:
                yield (
                    ("evidence",),
                    f"{requirement!r} of {capability.id} has no route: nothing could prove it",
                )
        for requirement, routes in p.evidence.items():
            at: Loc = ("evidence", requirement)
            if requirement not in needs:
                yield at, has_no(capability.id, "requirement or precondition", requirement, needs)
                continue
            condition, spec = needs[requirement]
            if fault := self._too_few_identities(spec, routes):
                yield at, fault
            for index, ref in enumerate(routes):
                yield from (((*at, index), m) for m in self._route(ref, condition, spec, executor=p))

    def _too_few_identities(self, spec: EvidenceSpec, refs: tuple[str, ...]) -> str:
        """Where samples must differ in identity: whether these routes can ever show that many identities.

        A sample is identified by its producer, else by its source, which is the provider (appendix D).
        """
        routes = [self._find(ref) for ref in refs]
        sources = {ref.partition("/")[0] for ref in refs}
        if not spec.distinct or len(sources) >= spec.count or any(r is None or r.producer for r in routes):
            return ""
        return (
            f"asks for {spec.count} samples of distinct identity, but names {len(sources)} source and no "
            "producer: name a producer field in the route, or write distinct: false to tell samples "
            "apart by their time"
        )

    def _find(self, ref: str) -> Route | None:
        owner, _, name = ref.partition("/")
        return self.providers[owner].routes.get(name) if owner in self.providers else None

    def _route(
        self, ref: str, condition: ConditionTemplate, spec: EvidenceSpec, executor: ProviderContract | None
    ) -> Iterator[str]:
        """What is wrong with one route as evidence for one condition."""
        provider_id, _, name = ref.partition("/")
        owner = self.providers.get(provider_id)
        if owner is None:
            if fault := self._unresolved("provider", provider_id, self.providers):
                yield fault
            return
        route = owner.routes.get(name)
        if route is None:
            yield has_no(f"provider {provider_id!r}", "route", name, owner.routes)
            return
        yield from _fits(ref, route, condition, spec)
        if executor is not None and spec.role in _SEPARATE:
            if owner.id == executor.id:
                yield f"{spec.role.value} needs another provider than {executor.id}, which acts here"
            elif owner.node == executor.node:
                yield f"{spec.role.value} needs another node than {executor.node}, which acts here"

    def _rebinding(self, p: ProviderContract, other: str, at: Loc) -> Found:
        target = self.providers.get(other)
        if target is None:
            if fault := self._unresolved("provider", other, self.providers):
                yield at, fault
            return
        if p.tool is None or p.tool.provides not in self.capabilities:
            return
        if target.tool is None or target.tool.provides != p.tool.provides:
            provides = "no capability" if target.tool is None else target.tool.provides
            yield at, f"{other!r} provides {provides}, not {p.tool.provides}"
        elif not may_rebind(self.capabilities[p.tool.provides]):
            yield at, f"{p.tool.provides} permits no rebinding: no cause of interruption lists rebind"

    # -------------------------------------------------------------------------------------------------- tasks

    def task(self, t: Task) -> Found:
        """What is wrong with a task's references."""
        for index, name in enumerate(t.capabilities):
            if name not in self.capabilities and (
                fault := self._unresolved("capability", name, self.capabilities)
            ):
                yield ("capabilities", index), fault
        yield from self._approvers(t)
        for name, obligation in t.obligations.items():
            at: Loc = ("obligations", name)
            yield from self._effect(t, obligation, at)
            if obligation.condition is not None and obligation.evidence is not None:
                for index, ref in enumerate(obligation.routes):
                    for message in self._route(ref, obligation.condition, obligation.evidence, executor=None):
                        yield (*at, "routes", index), message

    def _approvers(self, t: Task) -> Found:
        """A planner that alone may approve could never run the step: nobody approves their own."""
        wanted = {spec.effect.capability for spec in t.obligations.values() if spec.effect is not None}
        for name in sorted(wanted.union(t.capabilities) & self.capabilities.keys()):
            needed = self.capabilities[name].invocation.approval
            for index, planner in enumerate(t.planners):
                if needed is not None and needed.by and {person(by) for by in needed.by} == {person(planner)}:
                    yield (
                        ("planners", index),
                        f"{planner!r} alone may approve {name}, and nobody approves a step of their own plan",
                    )

    def _effect(self, t: Task, obligation: ObligationSpec, at: Loc) -> Found:
        ref = obligation.effect
        if ref is None:
            return
        at = (*at, "effect")
        capability = self.capabilities.get(ref.capability)
        if capability is None:
            if fault := self._unresolved("capability", ref.capability, self.capabilities):
                yield (*at, "capability"), fault
            return
        effect = capability.effects.get(ref.effect)
        if effect is None:
            yield (*at, "effect"), has_no(capability.id, "effect", ref.effect, capability.effects)
        elif (obligation.kind is ObligationKind.EVENT) != (effect.kind.value == "event"):
            yield (
                (*at[:-1], "kind"),
                f"{obligation.kind.value!r} does not fit an effect of kind {effect.kind.value}",
            )
        if (
            t.capabilities
            and ref.capability not in t.capabilities
            and obligation.kind is not ObligationKind.PRESERVE
        ):
            yield (
                (*at, "capability"),
                f"{ref.capability!r} is not among the task's capabilities, so nothing could bring this about",
            )
        try:
            check_arguments(capability, ref.arguments)
        except ArgumentFault as fault_found:
            where = (
                ("arguments", fault_found.argument)
                if fault_found.argument in ref.arguments
                else ("arguments",)
            )
            yield (*at, *where), str(fault_found)

    # -------------------------------------------------------------------------------------------------- gates

    def gate(self, g: Gate) -> Found:
        """What is wrong with a gate and its references. A node that loads no task at all does not know its
        task."""
        yield from check_gate(g)
        for other in self.gates.values():
            if other.id < g.id and other.name == g.name:
                yield ("name",), f"gate {other.id!r} has that name already"
        provider = self.providers.get(g.provider)
        provides = provider.tool.provides if provider is not None and provider.tool is not None else ""
        if provider is not None:
            yield from check_gate_provider(g, provider, self.capabilities.get(provides))
        elif fault := self._unresolved("provider", g.provider, self.providers):
            yield ("provider",), fault
        task = self.tasks.get(g.task)
        if task is not None:
            yield from check_gate_task(task, provides)
        elif self.tasks and (fault := self._unresolved("task", g.task, self.tasks)):
            yield ("task",), fault


def precedence(contract: Contract) -> tuple[bool, tuple[int, ...]]:
    """Sort key by which the version in force comes last: the active one, else the newest."""
    lifecycle = getattr(contract, "lifecycle", None)
    return (lifecycle is None or lifecycle.value == "active", tuple(map(int, contract.version.split("."))))


def may_rebind(capability: CapabilityContract) -> bool:
    """Whether some cause of interruption permits moving to another provider."""
    rules = capability.interruption
    causes = (rules.effect_absent, rules.evidence_insufficient, rules.evidence_conflicting,
              rules.outcome_unknown, rules.provider_unavailable, rules.state_lost)  # fmt: skip
    return any(Disposition.REBIND in permitted for permitted in causes)


def evidence_needs(capability: CapabilityContract) -> dict[str, tuple[ConditionTemplate, EvidenceSpec]]:
    """What a provider must name routes for: each evidence requirement and each precondition, by id."""
    needs: dict[str, tuple[ConditionTemplate, EvidenceSpec]] = {}
    for name, requirement in capability.evidence.items():
        if requirement.effect in capability.effects:
            needs[name] = (capability.effects[requirement.effect].condition, requirement)
    for name, precondition in capability.invocation.requires.items():
        needs[name] = (precondition.condition, precondition.evidence)
    return needs


def _fits(ref: str, route: Route, condition: ConditionTemplate, spec: EvidenceSpec) -> Iterator[str]:
    if not _path_pattern(condition.path).fullmatch(route.path):
        yield f"{ref} reports {route.path!r}, but the condition is on {condition.path!r}"
    elif fault := mismatch(condition.unit, route.unit):
        yield f"{ref} has {fault}"
    if Grade[route.grade.upper()] < Grade[spec.grade.upper()]:
        yield f"{ref} is of grade {route.grade}, below the required {spec.grade}"
    for field in spec.match:
        if field not in route.correlation:
            yield has_no(ref, "correlation field", field, route.correlation)


def _path_pattern(path: str) -> re.Pattern[str]:
    """Which paths a condition's path can become."""
    parts = re.split(r"(\{[a-z][a-z0-9_]*\})", path)
    return re.compile("".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts))
