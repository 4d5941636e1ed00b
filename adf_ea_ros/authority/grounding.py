"""From catalog and arguments to grounded values: steps into nodes, tasks into obligations (section 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import (
    ApprovalTerms,
    Binding,
    Cause,
    Effect,
    Node,
    Obligation,
    Operation,
    Policy,
    Precondition,
    Promises,
    accounting_key,
)
from adf_ea_ros.contracts.arguments import ArgumentFault, check_arguments
from adf_ea_ros.contracts.canonical import fingerprint
from adf_ea_ros.contracts.catalog import Catalog, identity
from adf_ea_ros.contracts.conditions import Condition, Ns, Value
from adf_ea_ros.contracts.model import (
    Argument,
    Bound,
    CapabilityContract,
    EvidenceSpec,
    Grade,
    Interruption,
    ObligationSpec,
    ProviderContract,
    Task,
)
from adf_ea_ros.contracts.model import Precondition as PreconditionSpec
from adf_ea_ros.evidence.types import Requirement

_GRADES = {"low": Grade.LOW, "normal": Grade.NORMAL, "high": Grade.HIGH}


class Step(msgspec.Struct, frozen=True):
    """One step as a planner proposes it, not yet grounded."""

    id: str
    capability: str
    arguments: str | Mapping[str, Any] = "{}"  # a JSON object
    after: tuple[str, ...] = ()
    occurrence: str = "once"


class GroundingFault(ValueError):
    """A step or a task that the catalog gives no meaning to; ``code`` is a stable reason."""

    def __init__(self, code: str, text: str) -> None:
        """Remember the code for the decision that reports it."""
        super().__init__(text)
        self.code = code


def ground_steps(
    catalog: Catalog, steps: tuple[Step, ...], now: Ns
) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
    """The nodes of a proposal, and the faults of those steps that have none."""
    nodes, faults = [], []
    for step in steps:
        try:
            nodes.append(ground_step(catalog, step, now))
        except GroundingFault as fault:
            faults.append((fault.code, f"step {step.id!r}: {fault}"))
    return tuple(nodes), tuple(faults)


def ground_step(catalog: Catalog, step: Step, now: Ns) -> Node:
    """One step with its contract's meaning filled in.

    Raises:
        GroundingFault: unknown or unusable capability, or arguments outside its parameters.
    """
    operation = ground_operation(catalog, step.capability, step.arguments, step.occurrence, now)
    return Node(step.id, operation, step.after)


def ground_operation(
    catalog: Catalog, capability: str, arguments: str | Mapping[str, Any], occurrence: str, now: Ns
) -> Operation:
    """The operation that a capability means for these arguments.

    Raises:
        GroundingFault: as for ``ground_step``.
    """
    try:
        contract = catalog.capability(capability)
    except KeyError as error:
        raise GroundingFault("G.capability", f"there is no capability {capability!r}") from error
    obstacle = catalog.obstacle("capability", capability, now)
    if obstacle:
        raise GroundingFault("G.contract", f"{capability} cannot be used: {obstacle}")
    try:
        values = check_arguments(contract, arguments)
    except ArgumentFault as fault:
        raise GroundingFault(fault.code, str(fault)) from fault
    providers = catalog.bindable_providers(capability, now, values)
    effects = _effects(contract, values, providers)
    preconditions = tuple(
        _precondition(contract, name, pre, values, providers)
        for name, pre in contract.invocation.requires.items()
    )
    return Operation(
        key=accounting_key(effects, occurrence),
        capability=capability,
        contract=identity(contract),
        fingerprint=fingerprint(contract),
        arguments=msgspec.json.encode(values, order="sorted").decode(),
        occurrence=occurrence,
        effects=effects,
        preconditions=preconditions,
        policy=ground_policy(contract.interruption),
        bindings=tuple(_binding(provider) for provider in providers),
        shared=_shared(contract, effects, preconditions),
        approval=_approval(contract),
    )


def _approval(contract: CapabilityContract) -> ApprovalTerms | None:
    """Under whose approval it may be dispatched (rule X12)."""
    needed = contract.invocation.approval
    return None if needed is None else ApprovalTerms(needed.max_age, needed.by)


def _shared(
    contract: CapabilityContract, effects: tuple[Effect, ...], preconditions: tuple[Precondition, ...]
) -> tuple[str, ...]:
    """What the operation changes or rests on, where other authorities use it too (rule X10)."""
    if not contract.shared:
        return ()
    conditions = [effect.condition for effect in effects] + [pre.condition for pre in preconditions]
    return tuple(sorted({condition.subject for condition in conditions}))


def ground_policy(interruption: Interruption) -> Policy:
    """Block R as the rules read it."""
    return Policy(
        permits={cause: getattr(interruption, cause.value) for cause in Cause},
        retry_limit=interruption.retry.limit,
        replay=interruption.retry.replay,
        observations=-1 if interruption.observations is None else interruption.observations,
    )


def ground_task(catalog: Catalog, task: Task, episode: str, planner: str, now: Ns) -> EpisodeStarted:
    """The event that starts an episode of ``task``: its goal G grounded, its occurrences, its budgets.

    Raises:
        GroundingFault: an obligation cannot be grounded now (its contract was revoked or has expired).
    """
    obligations, occurrences = [], {}
    for name, spec in task.obligations.items():
        obligation, operation = _obligation(catalog, name, spec, now)
        obligations.append(obligation)
        if operation is not None:
            occurrences[operation.key] = operation.occurrence
    return EpisodeStarted(
        episode=episode,
        task=identity(task),
        fingerprint=fingerprint(task),
        time=now,
        obligations=tuple(obligations),
        physical=task.budgets.physical,
        observation=task.budgets.observation,
        capabilities=task.capabilities,
        occurrences=tuple(occurrences.items()),
        standing=task.standing,
        planner=planner,
    )


def _obligation(
    catalog: Catalog, name: str, spec: ObligationSpec, now: Ns
) -> tuple[Obligation, Operation | None]:
    if spec.effect is not None:
        ref = spec.effect
        operation = ground_operation(catalog, ref.capability, ref.arguments, ref.occurrence, now)
        effect = next(e for e in operation.effects if e.id == ref.effect)
        return (
            Obligation(name, spec.kind, effect.condition, effect.requirements, operation.key, effect.id,
                       spec.after, spec.initial),
            operation,
        )  # fmt: skip
    assert spec.condition is not None  # the model holds that it names an effect or a condition
    assert spec.evidence is not None
    condition = spec.condition.ground({}, spec.condition.subject)
    requirement = _requirement(f"task.{name}", spec.evidence, condition, {}, spec.routes)
    obligation = Obligation(
        name, spec.kind, condition, (requirement,), after=spec.after, initial=spec.initial
    )
    return obligation, None


def _precondition(
    contract: CapabilityContract,
    name: str,
    spec: PreconditionSpec,
    values: dict[str, Value],
    providers: tuple[ProviderContract, ...],
) -> Precondition:
    condition = spec.condition.ground(values, contract.subject)
    requirement = _requirement(
        f"{contract.id}.{name}", spec.evidence, condition, values, _routes(name, providers)
    )
    return Precondition(name, condition, requirement)


def _effects(
    contract: CapabilityContract, values: dict[str, Value], providers: tuple[ProviderContract, ...]
) -> tuple[Effect, ...]:
    effects = []
    for name, effect in contract.effects.items():
        condition = effect.condition.ground(values, contract.subject)
        requirements = tuple(
            _requirement(f"{contract.id}.{rid}", spec, condition, values, _routes(rid, providers))
            for rid, spec in contract.evidence.items()
            if spec.effect == name
        )
        rests_on = tuple(template.ground(values, contract.subject) for template in effect.rests_on)
        effects.append(Effect(name, effect.kind, condition, requirements, rests_on))
    return tuple(effects)


def _requirement(
    name: str, spec: EvidenceSpec, condition: Condition, values: dict[str, Value], routes: tuple[str, ...]
) -> Requirement:
    return Requirement(
        id=name,
        condition=condition,
        role=spec.role,
        routes=routes,
        max_age=spec.max_age,
        count=spec.count,
        distinct=spec.distinct,
        spacing_least=spec.spacing.least,
        spacing_greatest=spec.spacing.greatest or 0,
        grade=_GRADES[spec.grade],
        match=tuple(sorted((field, _value(bound, values)) for field, bound in spec.match.items())),
    )


def _value(bound: Bound, values: dict[str, Value]) -> Value:
    return values[bound.argument] if isinstance(bound, Argument) else bound


def _routes(requirement: str, providers: tuple[ProviderContract, ...]) -> tuple[str, ...]:
    """Every route that some provider declares for a requirement; an attempt narrows it to its provider's."""
    return tuple(dict.fromkeys(ref for p in providers for ref in p.evidence.get(requirement, ())))


def _binding(provider: ProviderContract) -> Binding:
    tool = provider.tool
    assert tool is not None, "bindable providers have a tool"
    promises = tool.promises
    return Binding(
        provider=provider.id,
        contract=identity(provider),
        fingerprint=fingerprint(provider),
        deadline=tool.deadline,
        expires=-1 if provider.expires is None else provider.expires * 1_000_000_000,
        promises=Promises(
            result_timeout=promises.result_timeout,
            query=promises.query,
            final_on_result=promises.final_on_result,
            commit_bound=-1 if promises.commit_bound is None else promises.commit_bound,
            visibility_delay=promises.visibility_delay,
        ),
        rebind_to=provider.rebinding.to,
        routes=tuple(sorted(provider.evidence.items())),
        device=provider.shared_as,
    )
