"""Tables 3, 7, 8 and 9 from scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from studies.comparison.run import Condition
from studies.report.model import Cell, Table, of
from studies.scorer import Score

Pick = Callable[[Score], int]


class Scored(NamedTuple):
    """One run's condition and score."""

    condition: Condition
    score: Score


By = Mapping[str, Sequence[Scored]]
"""Scores by method."""


def _in(scored: Iterable[Scored], group: str) -> list[Score]:
    return [s.score for s in scored if not group or group in s.condition.groups]


def share(by: By, pick: Pick, group: str = "") -> list[Cell]:
    """How many runs of a group have a property, for each method."""
    return [of(sum(pick(s) for s in _in(scored, group)), len(_in(scored, group))) for scored in by.values()]


def total(by: By, pick: Pick) -> list[Cell]:
    """A sum over all runs."""
    return [sum(pick(s.score) for s in scored) for scored in by.values()]


def ratio(by: By, part: Pick, whole: Pick, group: str = "") -> list[Cell]:
    """A sum over another sum."""
    return [
        of(sum(part(s) for s in _in(scored, group)), sum(whole(s) for s in _in(scored, group)))
        for scored in by.values()
    ]


def table_3(by: By) -> Table:
    """The primary comparison."""
    table = Table("Primary comparison", tuple(by), about="Table 3")
    add = table.add
    add("Goal-confirmed completion (permitted conditions)",
        share(by, lambda s: s.goal_confirmed, "completion"), ("14/14", "9/14", "14/14", "13/14"))  # fmt: skip
    add("Evidence-qualified completion (permitted conditions)",
        share(by, lambda s: s.qualified, "completion"), ("14/14", "9/14", "12/14", "11/14"))  # fmt: skip
    add("Accepted completion with the goal unmet (runs)",
        share(by, lambda s: s.false_completion), ("0/17", "0/17", "1/17", "2/17"))  # fmt: skip
    add("Accepted completion, goal met, evidence unqualified (runs)",
        share(by, lambda s: s.unqualified), ("0/17", "0/17", "3/17", "3/17"))  # fmt: skip
    add("Violating dispatches", total(by, lambda s: s.violations), (0, 10, 14, 14))
    add("Runs with a violating dispatch",
        share(by, lambda s: bool(s.violations)), ("0/17", "8/17", "11/17", "11/17"))  # fmt: skip
    add("Dispatches to an unavailable capability", total(by, lambda s: s.unavailable), (0, 1, 1, 1))
    add("Improper repeated dispatches", total(by, lambda s: s.improper), (0, 7, 11, 10))
    add("Legal physical requests incorrectly blocked",
        ratio(by, lambda s: s.legal_blocked, lambda s: s.legal_requests),
        ("0/53", "0/42", "0/49", "0/49"))  # fmt: skip
    add("Safe terminal stop (stopping probes)",
        share(by, lambda s: s.safe_stop, "stopping"), ("3/3", "2/3", "0/3", "0/3"))  # fmt: skip
    add("Unnecessary stop (permitted conditions)",
        share(by, lambda s: not s.accepted, "completion"), ("0/14", "5/14", "0/14", "0/14"))  # fmt: skip
    return table


def table_7(by: By) -> Table:
    """Recovery."""
    table = Table("Recovery", tuple(by), about="Table 7")
    for group, name, paper in (
        ("no_fault", "No external fault: qualified completion", ("3/3", "3/3", "3/3", "3/3")),
        ("evidence", "Evidence recovery: qualified completion", ("7/7", "4/7", "5/7", "5/7")),
        ("stale", "Stale evidence: qualified completion", ("1/1", "1/1", "1/1", "1/1")),
        ("retry", "Retry permitted: qualified completion", ("3/3", "0/3", "2/3", "1/3")),
        ("repair", "State repair: qualified completion", ("1/1", "0/1", "0/1", "0/1")),
    ):
        table.add(name, share(by, lambda s: s.qualified, group), paper)
    table.add("Necessary state-repair dispatches", total(by, lambda s: s.repairs), (1, 1, 1, 1))
    table.add("Legal retry dispatches", total(by, lambda s: s.retries), (4, 0, 4, 3))
    table.add("Forbidden repeated requests executed",
              ratio(by, lambda s: s.forbidden_executed, lambda s: s.forbidden_requests),
              ("0/11", "7/7", "11/11", "10/10"))  # fmt: skip
    return table


def table_8(by: By) -> Table:
    """Further endpoints."""
    table = Table("Further endpoints", tuple(by), about="Table 8")
    for group, name, paper in (
        ("completion", "Goal met at the end: permitted conditions", ("14/14", "10/14", "14/14", "13/14")),
        ("stopping", "Goal met at the end: stopping probes", ("1/3", "1/3", "2/3", "2/3")),
        ("", "Goal met at the end: all conditions", ("15/17", "11/17", "16/17", "15/17")),
    ):
        table.add(name, share(by, lambda s: s.goal_met, group), paper)
    table.add("Violation-free completion (permitted conditions)",
              share(by, lambda s: s.violation_free, "completion"),
              ("14/14", "3/14", "4/14", "4/14"))  # fmt: skip
    table.add("Violating physical requests executed",
              ratio(by, lambda s: s.illegal_executed, lambda s: s.illegal_requests),
              ("0/14", "10/10", "14/14", "14/14"))  # fmt: skip
    table.add("Legal observation requests incorrectly blocked",
              ratio(by, lambda s: s.legal_observations_blocked, lambda s: s.legal_observations),
              ("0/7", "0/4", "0/5", "0/5"))  # fmt: skip
    table.add("Safe stop with no earlier violation (probes)",
              share(by, lambda s: s.safe_stop, "stopping"), ("3/3", "2/3", "0/3", "0/3"))  # fmt: skip
    table.add("Explicit stop", total(by, lambda s: s.end == "stopped"), (3, 0, 0, 0))
    table.add("Algorithm FAIL", total(by, lambda s: s.end == "failed"), (0, 7, 0, 0))
    table.add("All repeated dispatches, legal ones included", total(by, lambda s: s.repeats), (5, 7, 13, 11))
    table.add("Mismatches of request and dispatch", total(by, lambda s: s.mismatches), (0, 0, 0, 0))
    return table


def table_9(by: By) -> Table:
    """Calls and requests."""
    table = Table("Calls and requests", tuple(by), about="Table 9")
    for name, pick, paper in (
        ("Physical-action requests", lambda s: s.physical_requests, (67, 52, 63, 63)),
        ("Provider calls", lambda s: s.dispatches, (53, 52, 65, 63)),
        ("Observations, those of the algorithm included", lambda s: s.observations, (7, 4, 8, 5)),
        ("State reads", lambda s: s.reads, (199, 38, 22, 22)),
        ("All issued requests", lambda s: s.issued, (104, 69, 93, 93)),
        ("Requests not issued after the end", lambda s: s.not_issued, (0, 31, 7, 7)),
        ("Model calls", lambda _: 0, (0, 0, 0, 0)),
    ):
        table.add(name, total(by, pick), paper)
    return table


def by_condition(by: By) -> Table:
    """What came of each condition: the page's own table."""
    table = Table("Every condition", tuple(by))
    for index, first in enumerate(next(iter(by.values()))):
        table.add(first.condition.name, [_outcome(scored[index].score) for scored in by.values()])
    return table


def _outcome(score: Score) -> str:
    if score.qualified:
        how = "qualified"
    elif score.unqualified:
        how = "unqualified"
    elif score.false_completion:
        how = "FALSE"
    else:
        how = {"failed": "FAIL", "stopped": "stop"}.get(score.end, score.end)
    return how if not score.violations else f"{how}, {score.violations} violating"
