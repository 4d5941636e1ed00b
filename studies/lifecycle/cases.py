"""The cases: 8 normal, 4 stale, 4 suppressed, 7 unavailable, 26 invalid proposals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from studies.comparison.run import Condition
from studies.device import Rule
from studies.household.population import FAMILIES_OF_TASKS, Instance, instance
from studies.household.replay import condition
from studies.methods import PlanStep


class Case(NamedTuple):
    """One case."""

    kind: str  # normal, stale, suppressed, unavailable, order, budget, grounding, binding
    instance: Instance
    condition: Condition


def cases() -> list[Case]:
    """All of them, over as many task instances."""
    kinds = (
        ("normal", 8, _normal), ("stale", 4, _stale), ("suppressed", 4, _suppressed),
        ("unavailable", 7, _unavailable), ("order", 7, _order), ("budget", 6, _budget),
        ("grounding", 7, _grounding), ("binding", 6, _binding),
    )  # fmt: skip
    found: list[Case] = []
    for kind, count, make in kinds:
        for number in range(count):
            found.append(_case(kind, number, len(found), make))
    return found


def _case(kind: str, number: int, index: int, make: Callable[[Instance, int], Condition]) -> Case:
    # A proposal with another receptacle needs one; to be out of order takes dependent steps.
    families = {"grounding": ("place", "stow"), "order": ("place", "stow", "wash")}.get(
        kind, FAMILIES_OF_TASKS
    )
    one = instance(index, families[number % len(families)], 1 if kind == "budget" else 8)
    return Case(kind, one, make(one, number))


def _normal(one: Instance, _: int) -> Condition:
    return condition(one)


def _stale(one: Instance, number: int) -> Condition:
    return condition(one, (_fault(one, number, evidence="stale"),))


def _suppressed(one: Instance, number: int) -> Condition:
    return condition(one, (_fault(one, number, suppressed=True),))


def _fault(one: Instance, number: int, *, evidence: str = "normal", suppressed: bool = False) -> Rule:
    """A fault at one step of the plan. Where a capability occurs twice, at its first occurrence."""
    step = one.plan[number % len(one.plan)]
    return Rule(call=step.capability, evidence=evidence, suppressed=suppressed)


def _unavailable(one: Instance, number: int) -> Condition:
    """The provider of a later step leaves after the step before it."""
    at = 1 + number % (len(one.plan) - 1)
    return condition(
        one, (Rule(call=one.plan[at - 1].capability, unavailable=f"{one.plan[at].capability}_skill"),)
    )


def _order(one: Instance, _: int) -> Condition:
    """The last step that needs something comes first."""
    last = max(i for i, step in enumerate(one.plan) if step.capability in {"put", "rinse"})
    steps = (one.plan[last], *one.plan[:last], *one.plan[last + 1 :])
    return condition(one._replace(plan=_chained(steps)))


def _budget(one: Instance, _: int) -> Condition:
    """The plan has more steps than the task's budget of one."""
    return condition(one)


def _grounding(one: Instance, _: int) -> Condition:
    """The object is to go into another receptacle than the one that the plan opens."""
    steps = tuple(
        step._replace(arguments={**step.arguments, "receptacle": f"other_{step.arguments['receptacle']}"})
        if step.capability == "put"
        else step
        for step in one.plan
    )
    return condition(one._replace(plan=steps))


def _binding(one: Instance, number: int) -> Condition:
    """No provider of a step is there when the plan is proposed."""
    return condition(one, gone=(f"{one.plan[number % len(one.plan)].capability}_skill",))


def _chained(steps: tuple[PlanStep, ...]) -> tuple[PlanStep, ...]:
    chained: list[PlanStep] = []
    for step in steps:
        chained.append(step._replace(after=(chained[-1].id,) if chained else ()))
    return tuple(chained)
