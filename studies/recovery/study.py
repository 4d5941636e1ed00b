"""The study: five policies on every assignment of the authored tasks, beside the recovery paper's Table 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from adf_ea_ros.recovery.policies import BUDGET, HORIZON, POLICIES
from studies.recovery.audit import Tally, audit
from studies.recovery.collect import Episode, Template, run, templates
from studies.report.model import Cell, Check, Plot, Result, Table, Tick, notes, of

NAME = "recovery"
Rows = dict[str, list[tuple[Template, str, Episode]]]


def study(tick: Tick) -> Result:
    """Run it."""
    result = Result(NAME, "Recovery under ambiguous outcomes: five policies", notes=notes(__file__))
    listed = list(templates())
    by: Rows = {name: [] for name in POLICIES}
    for template in listed:
        for chosen in template.assignments:
            for name, policy in POLICIES.items():
                label = template.label(chosen)
                tick(f"{template.name} {label} {name}")
                episode = run(template, chosen, policy)
                by[name].append((template, label, episode))
                named = {"study": NAME, "condition": f"{template.name}: {label}", "method": name}
                result.runs.append((named, episode.events))
    tally = audit()
    result.tables = [completion(by), by_task(by, listed), searches(by), audited(tally)]
    result.measured = [computation(by)]
    result.plots = [_plot(by, listed)]
    result.checks = [*_claims(by), *_audit_claims(tally)]
    return result


def _judged(rows: list[tuple[Template, str, Episode]], what: Callable[[Episode], int | bool]) -> int:
    return sum(int(what(episode)) for _, _, episode in rows)


def _safe(e: Episode) -> bool:
    return e.judged is not None and e.judged.safe_completion


def completion(by: Rows) -> Table:
    """What came of all assignments."""
    table = Table("Completion and resources (beside Table 3 of the recovery paper)", tuple(by))
    count = len(by["search"])

    def add(
        name: str,
        what: Callable[[Episode], int | bool],
        paper: tuple[Cell | None, ...] = (),
        *,
        share: bool = True,
    ) -> None:
        found = [_judged(rows, what) for rows in by.values()]
        table.add(name, [of(f, count) if share else f for f in found], paper)

    add("Certified safe completion", _safe, (*["28/37"] * 4, "2/37"))
    add("Goal met at the deadline", lambda e: bool(e.judged and e.judged.goal), ("30/37",) * 4)
    add("Recovery-introduced violation", lambda e: bool(e.judged and e.judged.introduced), ("0/37",) * 4)
    add("Violation of whatever origin", lambda e: bool(e.judged and e.judged.violations), ("3/37",) * 4)
    add("False claim of completion", lambda e: e.end == "certified" and not _safe(e), ("0/37",) * 4)
    add("Handed over", lambda e: e.end == "hand_over", ("6/37",) * 4)
    add("Unresolved otherwise", lambda e: e.end == "unresolved", ("3/37",) * 4)
    add("Fee units", lambda e: e.judged.fees if e.judged else 0, (188, 192, 191, 195), share=False)
    add("Logical actions", lambda e: len(e.actions), (103, 105, 106, 94), share=False)
    add("Logical time", lambda e: e.judged.time if e.judged else 0, (108, 108), share=False)
    return table


def by_task(by: Rows, listed: list[Template]) -> Table:
    """Completions and fees of each task."""
    table = Table("Each task: certified completions, fee units", tuple(by))
    for template in listed:
        cells = []
        for rows in by.values():
            mine = [e for t, _, e in rows if t.name == template.name]
            fees = sum(e.judged.fees for e in mine if e.judged)
            cells.append(f"{of(sum(map(_safe, mine)), len(mine))}, {fees}")
        table.add(f"{template.name}: {template.title}", cells)
    return table


def searches(by: Rows) -> Table:
    """How the search came to its choices."""
    rows = [e for _, _, e in by["search"]]
    table = Table(f"The search: {HORIZON} decisions, {BUDGET} expansions", ("search",))
    bases = Counter(basis for e in rows for basis in e.bases)
    table.add("Actions chosen by a complete layer", [bases["search"]], (83,))
    table.add("Actions chosen by the rules instead", [bases["rules"]], (20,))
    table.add("Decisions whose search the budget ended", [sum(e.truncated for e in rows)], (90,))
    table.add("Decisions whose search reached the horizon", [sum(e.full for e in rows)], (13,))
    return table


def audited(tally: Tally) -> Table:
    """The comparison with the exhaustive reference."""
    table = Table("Small tasks against an exhaustive reference", ("compared", "equal"))
    table.add("Task and horizon (1, 2, 3)", [tally.layers, tally.layers_equal], (63, 63))
    table.add("Values of root actions, all three parts", [tally.values, tally.values_equal], (408, 408))
    table.add("Best action is one of the reference's best", [tally.layers, tally.optimal])
    table.add("Choices under a budget", [tally.budgets, tally.budgets_right], (126, 126))
    table.add("of these, the budget ended a layer", [tally.cut, "-"], (111,))
    table.add("of these, the rules chose", [tally.by_rules, "-"], (27,))
    return table


def computation(by: Rows) -> Table:
    """What choosing took on this machine: it differs from run to run."""
    table = Table("Computation", tuple(by))
    seconds = [sum(e.seconds for _, _, e in rows) for rows in by.values()]
    table.add("All choices (s)", [f"{one:.2f}" for one in seconds], ("9.53", "0.14"))
    decisions = [sum(len(e.actions) for _, _, e in rows) for rows in by.values()]
    each = [1e3 * s / d if d else 0.0 for s, d in zip(seconds, decisions, strict=True)]
    table.add("One choice (ms)", [f"{one:.2f}" for one in each])
    return table


def _claims(by: Rows) -> list[Check]:
    every = [e for rows in by.values() for _, _, e in rows]
    search, rules = by["search"], by["rules"]
    fees = {name: _judged(rows, lambda e: e.judged.fees if e.judged else 0) for name, rows in by.items()}
    return [
        Check("every episode replays as it was recorded", all(e.judged and e.judged.replayed for e in every)),
        Check(
            "no policy introduces a violation, since all pass the same check",
            not any(e.judged and e.judged.introduced for e in every),
        ),
        Check(
            "completion is claimed where the judge certifies it, and nowhere else",
            all((e.end == "certified") == bool(e.judged and e.judged.certified) for e in every),
        ),
        Check(
            "the search completes what the rules complete",
            all(_safe(s) >= _safe(r) for (_, _, s), (_, _, r) in zip(search, rules, strict=True)),
        ),
        Check("the search takes fewer fee units than the rules", fees["search"] < fees["rules"]),
    ]


def _audit_claims(tally: Tally) -> list[Check]:
    return [
        Check(
            "every value of every complete layer is the exhaustive reference's",
            tally.values_equal == tally.values and tally.layers_equal == tally.layers == tally.optimal,
        ),
        Check(
            "whatever the budget, a complete layer or the rules choose",
            tally.budgets_right == tally.budgets and tally.cut > 0 < tally.by_rules,
        ),
        Check("a model without the real outcome ends in a contradiction", bool(tally.contradiction)),
        Check("an effect of unknown time stays open and certifies nothing", tally.sentinel),
    ]


def _plot(by: Rows, listed: list[Template]) -> Plot:
    groups = tuple(t.name for t in listed)
    series = {
        name: tuple(
            float(sum(e.judged.fees for t, _, e in rows if t.name == group and e.judged)) for group in groups
        )
        for name, rows in by.items()
        if name != "stop"
    }
    return Plot(NAME, "Recovery: fee units by task", groups, series, "fee units")
