"""The study: two dimensions, five sizes, five variants, normal and with a late fault, beside Table 41.

Depth is a chain of stages. Width is a fan of stages that all rest on the first one: the claim rests on as
many pieces of evidence as the fan is wide. The late fault meets the last stage, in five ways that all leave
the goal unmet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from studies.comparison.run import Condition, Run, execute
from studies.device import Rule
from studies.household.replay import ARMS
from studies.inputs import Fact, Library
from studies.methods import PlanStep, Request
from studies.report.model import Cell, Check, Plot, Result, Table, notes, of
from studies.scorer import Account, Score, score
from studies.variants import variant

NAME = "scaling"
SIZES = (2, 4, 8, 16, 32)
PACE = 2.0
"""Seconds between two requests: one publication of every stage falls into them."""
LATE: tuple[dict[str, Any], ...] = (
    {"suppressed": True},
    {"suppressed": True, "evidence": "missing"},
    {"suppressed": True, "evidence": "stale"},
    {"suppressed": True, "evidence": "wrong_object"},
    {"suppressed": True, "evidence": "wrong_source"},
)
"""What is wrong with the last stage in each variant: it is acknowledged, does nothing, and is read back so.
"""


class Unit(NamedTuple):
    """One unit: a dimension, a size, a variant, with its late fault or without."""

    dimension: str
    size: int
    variant: int
    late: bool

    @property
    def name(self) -> str:
        """A name of its own."""
        return f"{self.dimension}_{self.size}_{self.variant}_{'late' if self.late else 'normal'}"


class Judged(NamedTuple):
    """One unit under one arm."""

    unit: Unit
    score: Score
    run: Run
    prefix: bool  # every stage but the last is shown now, and was carried out once


def _plan(unit: Unit) -> tuple[PlanStep, ...]:
    steps = []
    for index in range(1, unit.size + 1):
        before = index - 1 if unit.dimension == "depth" else 0
        arguments = {"stage": f"stage_{index}", "previous": f"stage_{before}"}
        after = (f"s{before}",) if before else ()
        steps.append(PlanStep(f"s{index}", f"advance_{index}", arguments, after))
    return tuple(steps)


def _task(dimension: str, size: int) -> dict[str, Any]:
    wanted = [size] if dimension == "depth" else range(1, size + 1)
    goals = {}
    for index in wanted:
        step = _plan(Unit(dimension, size, 0, False))[index - 1]
        effect = {"capability": step.capability, "effect": "done", "arguments": dict(step.arguments)}
        goals[f"g{index}"] = {"kind": "state", "effect": effect}
    return {
        "spec": "adf_ea_ros/1", "kind": "task", "id": f"{dimension}_{size}", "version": "1.0.0",
        "obligations": goals, "budgets": {"physical": size + 2, "observation": 4},
    }  # fmt: skip


@functools.cache
def contracts() -> Library:
    """Thirty-two stages, each a capability with a unit of its own, made from one household contract."""

    def edit(found: dict[str, dict[str, Any]]) -> None:
        capability, provider = found["capability/rinse"], found["provider/rinse_skill"]
        camera = found["provider/camera"]
        found.clear()
        route = camera["routes"]["clean"]
        camera["routes"] = {"done": {**route, "path": "done", "topic": "/robot/camera/done"}}
        found["provider/camera"] = camera
        for index in range(1, max(SIZES) + 1):
            name = f"advance_{index}"
            text = {"type": "string", "pattern": "[a-z0-9_]+"}
            seen = {"role": "INDEPENDENT_SENSOR", "max_age": "3 s"}
            found[f"capability/{name}"] = {
                **capability, "id": name, "title": name, "subject": "{stage}",
                "parameters": {"stage": text, "previous": text},
                "invocation": {"requires": {"before": {
                    "condition": {"subject": "{previous}", "path": "done", "eq": True}, "evidence": seen}}},
                "effects": {"done": {"kind": "state", "condition": {"path": "done", "eq": True}}},
                "evidence": {"done_seen": {"effect": "done", **seen}},
            }  # fmt: skip
            tool = {**provider["tool"], "name": f"/robot/{name}/run", "provides": name,
                    "unmapped": ["stage", "previous"]}  # fmt: skip
            found[f"provider/{name}_unit"] = {
                **provider, "id": f"{name}_unit", "title": name, "node": f"/robot/{name}", "tool": tool,
                "evidence": {"done_seen": ["camera/done"], "before": ["camera/done"]},
            }  # fmt: skip
        for dimension in ("depth", "width"):
            for size in SIZES:
                found[f"task/{dimension}_{size}"] = _task(dimension, size)

    return variant("household", edit)


def condition(unit: Unit) -> Condition:
    """The unit's requests, faults and beginning."""
    plan = _plan(unit)
    requests = (Request("propose", steps=plan), *(Request("run", s.id) for s in plan), Request("claim"))
    faults = (Rule(call=plan[-1].capability, **LATE[unit.variant]),) if unit.late else ()
    initial = {Fact(f"stage_{index}", "done"): index == 0 for index in range(unit.size + 1)}
    task = f"{unit.dimension}_{unit.size}"
    phase = 0.4 * unit.variant  # against the monitor's publications
    return Condition(unit.name, "", task, (), requests, faults, initial, {}, pace=PACE, delay=phase)


def units() -> list[Unit]:
    """All hundred."""
    return [
        Unit(dimension, size, number, late)
        for dimension in ("depth", "width")
        for size in SIZES
        for number in range(len(LATE))
        for late in (False, True)
    ]


def _prefix(unit: Unit, run: Run, library: Library) -> bool:
    account = Account(library, library.task(f"{unit.dimension}_{unit.size}"))
    for event in run.events:
        account.enter(event)
    for step in _plan(unit)[:-1]:
        action = library.action(step.capability, step.arguments)
        calls = [call for call in account.calls if call.action.key == action.key]
        if len(calls) != 1 or any(account.known(wanted) is not True for wanted in action.sets):
            return False
    return True


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Depth and width: 100 units", notes=notes(__file__))
    library = contracts()
    by: dict[str, list[Judged]] = {}
    for arm, method in ARMS.items():
        by[arm] = []
        for unit in units():
            tick(f"{unit.name} {arm}")
            run = execute(condition(unit), method, library)
            found = score(run.events, library, library.task(f"{unit.dimension}_{unit.size}"))
            prefix = _prefix(unit, run, library)
            by[arm].append(Judged(unit, found, run._replace(events=[]), prefix))
            name = {"study": NAME, "condition": unit.name, "method": arm}
            # Readings are most of a long run and follow from the rest; they are left out of what is kept.
            result.runs.append((name, [e for e in run.events if e["kind"] != "sample"]))
    result.tables = [table_41(by), by_size(by)]
    adf = by["ADF-EA"]
    result.checks = [
        Check("50/50 normal units completed", all(_appropriate(j) for j in adf if not j.unit.late)),
        Check("50/50 late faults answered as prescribed", all(_appropriate(j) for j in adf if j.unit.late)),
        Check("the verified prefix is kept in each", all(j.prefix for j in adf)),
    ]
    result.measured.append(_costs(by))
    result.measured_plots.append(_plot(by))
    return result


def _appropriate(judged: Judged) -> bool:
    s = judged.score
    if judged.unit.late:
        return not s.accepted and not s.violations and not s.repeats
    return s.qualified and not s.violations


def table_41(by: dict[str, list[Judged]]) -> Table:
    """The endpoints."""
    table = Table("Depth and width", tuple(by), about="Table 41")

    def add(name: str, what: Callable[[Judged], bool], late: bool, paper: tuple[Cell | None, Cell]) -> None:
        chosen = [[j for j in js if j.unit.late is late] for js in by.values()]
        table.add(name, [of(sum(what(j) for j in js), len(js)) for js in chosen], paper)

    add("Normal: appropriate outcome", _appropriate, False, ("50/50", "50/50"))
    add("Late fault: appropriate outcome", _appropriate, True, ("0/50", "50/50"))
    add("Late fault: false completion", lambda j: j.score.false_completion, True, ("50/50", "0/50"))
    add("Late fault: verified prefix kept", lambda j: _appropriate(j) and j.prefix, True, (None, "50/50"))
    return table


def by_size(by: dict[str, list[Judged]]) -> Table:
    """Appropriate outcomes by size."""
    table = Table("Appropriate outcomes by size", tuple(by))
    for dimension in ("depth", "width"):
        for size in SIZES:
            chosen = [
                [j for j in js if (j.unit.dimension, j.unit.size) == (dimension, size)] for js in by.values()
            ]
            table.add(f"{dimension} {size}", [of(sum(_appropriate(j) for j in js), len(js)) for js in chosen])
    return table


def _medians(by: dict[str, list[Judged]], arm: str, dimension: str) -> list[float]:
    runs = [
        [j.run for j in by[arm] if (j.unit.dimension, j.unit.size) == (dimension, size)] for size in SIZES
    ]
    return [median(cost.processor / 1000 for run in listed for cost in run.costs) for listed in runs]


def _costs(by: dict[str, list[Judged]]) -> Table:
    sizes = tuple(str(size) for size in SIZES)
    table = Table("Processor time of one request by size, median (µs); the ledger is in memory", sizes)
    for dimension in ("depth", "width"):
        for arm in by:
            table.add(f"{dimension}, {arm}", [f"{value:.0f}" for value in _medians(by, arm, dimension)])
    return table


def _plot(by: dict[str, list[Judged]]) -> Plot:
    series = {
        f"{arm}, {dimension}": tuple(_medians(by, arm, dimension))
        for arm in by
        for dimension in ("depth", "width")
    }
    return Plot(
        NAME, "Cost of one request by size", tuple(map(str, SIZES)), series, "µs", line=True, log=True
    )
