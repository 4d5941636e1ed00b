"""The study: 43 tasks with a fault each (15 missing effects, 14 stale, 14 absent successors), beside Table
24.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studies.comparison.run import Condition
from studies.device import Rule
from studies.household.population import FAMILIES_OF_TASKS, Instance, instance, library
from studies.household.replay import (
    ReplayAdf,
    ReplayDirect,
    WithoutContinuation,
    WithoutReacquisition,
    condition,
    replay,
)
from studies.lifecycle.cases import Case
from studies.lifecycle.study import Judged
from studies.methods import Method
from studies.report.model import Cell, Check, Plot, Result, Table, notes, of
from studies.scorer import score

NAME = "ablations"
ARMS: dict[str, type[Method]] = {
    "Direct": ReplayDirect,
    "No reacquisition": WithoutReacquisition,
    "No continuation authorization": WithoutContinuation,
    "Full ADF-EA": ReplayAdf,
}


def cases() -> list[Case]:
    """The faulted population."""
    found = []
    for index in range(43):
        kind = "suppressed" if index < 15 else "stale" if index < 29 else "unavailable"
        one = instance(200 + index, FAMILIES_OF_TASKS[index % 4])
        found.append(Case(kind, one, _condition(kind, one, index)))
    return found


def _condition(kind: str, one: Instance, index: int) -> Condition:
    at = index % len(one.plan)
    if kind == "unavailable":
        at = 1 + index % (len(one.plan) - 1)
        rule = Rule(call=one.plan[at - 1].capability, unavailable=f"{one.plan[at].capability}_skill")
    else:
        evidence = "stale" if kind == "stale" else "normal"
        rule = Rule(call=one.plan[at].capability, suppressed=kind == "suppressed", evidence=evidence)
    return condition(one, (rule,), name=f"{kind}_{one.name}")


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Component ablations: 43 faulted tasks", notes=notes(__file__))
    listed = cases()
    contracts = library(tuple(case.instance for case in listed), NAME)
    by: dict[str, list[Judged]] = {}
    for arm, method in ARMS.items():
        by[arm] = []
        for case in listed:
            tick(f"{case.condition.name} {arm}")
            run = replay(case.condition, method, contracts)
            found = score(run.events, contracts, contracts.task(case.instance.name))
            by[arm].append(Judged(case, found, run.events))
            name = {"study": NAME, "condition": case.condition.name, "method": arm}
            result.runs.append((name, run.events))
    result.tables.append(table_24(by))
    full, no_reacquisition = by["Full ADF-EA"], by["No reacquisition"]
    no_continuation = by["No continuation authorization"]
    stale = [j for j in no_reacquisition if j.case.kind == "stale"]
    gone = [j for j in no_continuation if j.case.kind == "unavailable"]
    result.checks = [
        Check("the full system gives every prescribed answer", all(j.prescribed for j in full)),
        Check("without reacquisition all 14 recoveries are lost", not any(j.score.accepted for j in stale)),
        Check("without continuation authorization all 14 dispatches are back",
              all(j.score.unavailable for j in gone)),
    ]  # fmt: skip
    result.plots.append(_plot(by))
    return result


def table_24(by: dict[str, list[Judged]]) -> Table:
    """The ablations' endpoints."""
    table = Table("Mechanism ablation", tuple(by), about="Table 24")

    def total(name: str, what: Callable[[Judged], Any], paper: tuple[int, int, int, int]) -> None:
        table.add(name, [sum(bool(what(j)) for j in js) for js in by.values()], paper)

    def share(name: str, kind: str, what: Callable[[Judged], Any], paper: tuple[Cell, ...]) -> None:
        chosen = [[j for j in js if not kind or j.case.kind == kind] for js in by.values()]
        table.add(name, [of(sum(bool(what(j)) for j in js), len(js)) for js in chosen], paper)

    total("False completion", lambda j: j.score.false_completion, (15, 0, 0, 0))
    total("Goal-confirmed completion", lambda j: j.score.goal_confirmed, (14, 0, 14, 14))
    share("Effect rejection", "suppressed", lambda j: j.rejected, ("0/15", "15/15", "15/15", "15/15"))
    share("Appropriate no-continuation termination", "unavailable", lambda j: j.withheld,
          ("0/14", "14/14", "0/14", "14/14"))  # fmt: skip
    total("Unsafe action", lambda j: j.score.violations, (14, 0, 14, 0))
    total("Unnecessary termination", lambda j: j.case.kind == "stale" and not j.score.accepted, (0, 14, 0, 0))
    share("Oracle agreement", "", lambda j: j.score.accepted == (j.case.kind == "stale"),
          ("28/43", "29/43", "43/43", "43/43"))  # fmt: skip
    observed = [sum(j.score.observations for j in js) for js in by.values()]
    table.add("Observation-only actions", observed, (0, 0, 14, 14))
    return table


def _plot(by: dict[str, list[Judged]]) -> Plot:
    groups = ("recovered (14)", "missing effect rejected (15)", "unsafe action (43)")
    series: dict[str, tuple[float, ...]] = {
        arm: (
            float(sum(j.score.goal_confirmed for j in js if j.case.kind == "stale")),
            float(sum(j.rejected for j in js if j.case.kind == "suppressed")),
            float(sum(bool(j.score.violations) for j in js)),
        )
        for arm, js in by.items()
    }
    return Plot(NAME, "Component ablations", groups, series, "tasks")
