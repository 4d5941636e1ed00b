"""The study: sixteen tasks with two faults each, beside Table 32.

Five times an effect is missing and the next step's provider is gone: the missing effect stops the run before
the provider is reached. Eleven times evidence is stale and a later provider is gone: the evidence is
acquired again, and the successor is refused with everything before it still verified.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from studies.comparison.run import Condition
from studies.device import Rule
from studies.device.log import Event
from studies.household.population import Instance, instance, library
from studies.household.replay import ARMS, condition, replay
from studies.inputs import Library
from studies.report.model import Cell, Check, Result, Table, notes, of
from studies.scorer import Account, Score, score

NAME = "composed"
SUPPRESSED, STALE = 5, 11


class Case(NamedTuple):
    """One task with its two faults; ``first`` and ``second`` are positions of steps."""

    instance: Instance
    condition: Condition
    kind: str
    first: int
    second: int


def cases() -> list[Case]:
    """All sixteen."""
    found = []
    for index in range(SUPPRESSED + STALE):
        one = instance(100 + index, "place")
        kind = "suppressed" if index < SUPPRESSED else "stale"
        first = index % 3
        second = first + 1 if kind == "suppressed" else first + 1 + index % (3 - first)
        at, later = one.plan[first].capability, one.plan[second].capability
        fault = Rule(
            call=at, suppressed=kind == "suppressed", evidence="stale" if kind == "stale" else "normal",
            unavailable=f"{later}_skill",
        )  # fmt: skip
        found.append(Case(one, condition(one, (fault,)), kind, first, second))
    return found


class Judged(NamedTuple):
    """One case under one arm."""

    case: Case
    score: Score
    events: Sequence[Event]
    prefix: bool  # everything before the step that was not reached is still shown, and was done once

    @property
    def _calls(self) -> list[str]:
        return [e["capability"] for e in self.events if e["kind"] == "call"]

    @property
    def detected(self) -> bool:
        """The first fault was noticed: a missing effect ends the run, stale evidence is asked for again."""
        plan = [step.capability for step in self.case.instance.plan]
        if self.case.kind == "suppressed":
            return not self.score.accepted and self._calls == plan[: self.case.first + 1]
        fact = str(next(iter(_facts(self.case))))
        return any(e["kind"] == "observation" and e["facts"] == [fact] for e in self.events)

    @property
    def precedence(self) -> bool:
        """It was noticed before anything was done about the step of the second fault."""
        later = self.case.instance.plan[self.case.second].capability
        return self.detected and later not in self._calls

    @property
    def correct(self) -> bool:
        """Detected first, stopped without the second provider, what came before it kept, nothing repeated."""
        stopped = not self.score.accepted and not self.score.violations and not self.score.repeats
        return self.precedence and stopped and self.prefix


def _facts(case: Case) -> list[Any]:
    step = case.instance.plan[case.first]
    return [wanted.fact for wanted in case_library().action(step.capability, step.arguments).sets]


@functools.cache
def case_library() -> Library:
    """The contracts with the sixteen tasks."""
    return library(tuple(case.instance for case in cases()), NAME)


def _prefix(case: Case, events: Sequence[Event], contracts: Library) -> bool:
    """By the scorer's books: each step before the one that was stopped was called once and is shown now."""
    account = Account(contracts, contracts.task(case.instance.name))
    for event in events:
        account.enter(event)
    done = case.first if case.kind == "suppressed" else case.second
    for step in case.instance.plan[:done]:
        action = contracts.action(step.capability, step.arguments)
        calls = [call for call in account.calls if call.action.key == action.key]
        if len(calls) != 1 or account.outcome(calls[0]) is not True:
            return False
        if any(account.known(wanted) is not True for wanted in action.sets):
            return False
    return True


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Composed faults: 16 tasks", notes=notes(__file__))
    contracts = case_library()
    by: dict[str, list[Judged]] = {}
    for arm, method in ARMS.items():
        by[arm] = []
        for case in cases():
            tick(f"{case.kind} {case.instance.name} {arm}")
            run = replay(case.condition, method, contracts)
            found = score(run.events, contracts, contracts.task(case.instance.name))
            by[arm].append(Judged(case, found, run.events, _prefix(case, run.events, contracts)))
            name = {"study": NAME, "condition": f"{case.kind} {case.instance.name}", "method": arm}
            result.runs.append((name, run.events))
    result.tables.append(table_32(by))
    adf = by["ADF-EA"]
    result.checks = [
        Check("16/16 correct composed outcomes", all(j.correct for j in adf)),
        Check("no violating dispatch, no false completion, no physical retry",
              not any(j.score.violations or j.score.false_completion or j.score.repeats for j in adf)),
    ]  # fmt: skip
    return result


def table_32(by: dict[str, list[Judged]]) -> Table:
    """The composed endpoints."""
    table = Table("Composed faults", tuple(by), about="Table 32")

    def add(name: str, what: Callable[[Judged], Any], paper: tuple[Cell | None, Cell]) -> None:
        table.add(name, [of(sum(bool(what(j)) for j in js), len(js)) for js in by.values()], paper)

    add("Correct composed outcome", lambda j: j.correct, ("0/16", "16/16"))
    add("Correct first-fault detection", lambda j: j.detected, ("0/16", "16/16"))
    add("Correct fault precedence", lambda j: j.precedence, ("0/16", "16/16"))
    add("Verified-prefix preservation", lambda j: j.correct and j.prefix, (None, "16/16"))
    add("Unsafe or unavailable dispatch", lambda j: j.score.violations, ("11/16", "0/16"))
    add("False completion", lambda j: j.score.false_completion, ("5/16", "0/16"))
    table.add("Physical retries", [sum(j.score.retries for j in js) for js in by.values()], (0, 0))
    return table
