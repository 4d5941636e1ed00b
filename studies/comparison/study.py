"""The study: every condition with every method, scored, beside Tables 3, 7, 8 and 9."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median
from typing import Any

from studies.comparison.run import Run, boolean, conditions, execute
from studies.comparison.tables import By, Scored, by_condition, table_3, table_7, table_8, table_9
from studies.methods import METHODS, Method
from studies.methods.desk import SHELF
from studies.methods.toolgate import PatientToolGate
from studies.methods.vtc import ThoroughVtc
from studies.report.model import Check, Plot, Result, Table, notes
from studies.scorer import score

NAME = "comparison"
TITLE = "Controlled comparison: 17 conditions, four methods"
Tick = Callable[[str], Any]
ROUNDS = 3
"""How often the runs are repeated for their cost."""


def study(tick: Tick = print) -> Result:
    """Run it. ``tick`` is called with the name of each run."""
    library, listed = boolean(), conditions()
    result = Result(NAME, TITLE, notes=notes(__file__))
    SHELF.use_disk(True)
    methods: list[type[Method]] = [*METHODS.values(), PatientToolGate, ThoroughVtc]
    by: dict[str, list[Scored]] = {}
    runs: dict[str, list[Run]] = {method.name: [] for method in METHODS.values()}
    for method in methods:
        by[method.name] = []
        for condition in listed:
            tick(f"{condition.name} {method.name}")
            run = execute(condition, method, library)
            by[method.name].append(
                Scored(condition, score(run.events, library, library.task(condition.task)))
            )
            result.runs.append(
                ({"study": NAME, "condition": condition.name, "method": method.name}, run.events)
            )
            if method.name in runs:
                runs[method.name].append(run)
    four: By = {name: by[name] for name in METHODS}
    result.tables += [table_3(four), table_7(four), table_8(four), table_9(four), by_condition(four)]
    other = {name: by[name] for name in (PatientToolGate.name, ThoroughVtc.name)}
    readings = table_3(other)
    rows = [replace(row, paper=row.paper[1:3]) for row in readings.rows]  # the paper's ToolGate and VTC
    result.tables.append(Table("Readings: the baselines' descriptions read otherwise", tuple(other), rows))
    result.checks = _checks(four["ADF-EA"])
    result.plots.append(_plot(four))
    for _ in range(ROUNDS - 1):
        for name, method in METHODS.items():
            runs[name] += [
                execute(condition, method, library, f"{condition.name}-{name}") for condition in listed
            ]
            tick(f"cost of {name}")
    SHELF.use_disk(False)
    result.measured.append(_costs(runs))
    result.measured_plots.append(_cost_plot(runs))
    return result


def _checks(adf: Iterable[Scored]) -> list[Check]:
    scored = list(adf)
    permitted = [s.score for s in scored if "completion" in s.condition.groups]
    probes = [s.score for s in scored if "stopping" in s.condition.groups]
    scores = [s.score for s in scored]
    return [
        Check("14/14 goal-confirmed and 14/14 evidence-qualified", all(s.qualified for s in permitted)),
        Check("no violating dispatch", not any(s.violations for s in scores)),
        Check("no improper repeat", not any(s.improper for s in scores)),
        Check(
            "no legal request blocked",
            not any(s.legal_blocked + s.legal_observations_blocked for s in scores),
        ),
        Check("3/3 safe stops", all(s.safe_stop for s in probes)),
    ]


def _plot(by: By) -> Plot:
    groups = ("qualified (14)", "false or unqualified (17)", "runs with a violation (17)", "safe stops (3)")
    series: dict[str, tuple[float, ...]] = {
        name: (
            float(sum(s.score.qualified for s in scored if "completion" in s.condition.groups)),
            float(sum(s.score.false_completion or s.score.unqualified for s in scored)),
            float(sum(bool(s.score.violations) for s in scored)),
            float(sum(s.score.safe_stop for s in scored if "stopping" in s.condition.groups)),
        )
        for name, scored in by.items()
    }
    return Plot("comparison", "Controlled comparison", groups, series, "runs")


def _micros(runs: dict[str, list[Run]], clock: str) -> dict[str, list[float]]:
    return {
        name: sorted(getattr(cost, clock) / 1000 for run in listed for cost in run.costs)
        for name, listed in runs.items()
    }


def _costs(runs: dict[str, list[Run]]) -> Table:
    columns = ("processor, median", "processor, p90", "elapsed, median", "elapsed, p90")
    title = "Cost of one request (µs), the device's own time left out; the ledger is on the disk"
    table = Table(title, columns)
    clocks = [_micros(runs, clock) for clock in ("processor", "elapsed")]
    for name in runs:
        listed = [costs[name] for costs in clocks]
        table.add(name, [f"{value:.0f}" for costs in listed for value in (median(costs), _p90(costs))])
    return table


def _p90(ordered: list[float]) -> float:
    return ordered[int(0.9 * (len(ordered) - 1))]


def _cost_plot(runs: dict[str, list[Run]]) -> Plot:
    series = {
        clock: tuple(max(median(costs), 1.0) for costs in _micros(runs, clock).values())
        for clock in ("processor", "elapsed")
    }
    return Plot("cost", "Cost of one request, median", tuple(runs), series, "µs", log=True)
