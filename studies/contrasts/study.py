"""The study: 12 pairs, 3 arms, 72 executions, beside Table 27."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from studies.comparison.run import execute
from studies.contrasts.pairs import ARMS, PAIRS, History, Pair
from studies.device.log import Event
from studies.inputs import Library
from studies.methods import Adf
from studies.methods.adf import Options
from studies.report.model import Check, Plot, Result, Table, notes, of
from studies.variants import variant

NAME = "contrasts"
GRANTS = {"dispatched", "admitted", "accepted", "observed"}
BLOCKS = ("Invocation", "Effect", "Evidence", "Interruption")


class PlainAdf(Adf):
    """The authority without the retry hook: the question is about what was asked, not about what helps."""

    options = Options(retry=False)


class Answer(NamedTuple):
    """What one arm answers to a pair."""

    pair: Pair
    granted: bool  # what the first history must be granted
    also: bool  # what the second history must not be granted

    @property
    def kept(self) -> bool:
        """The distinction is made."""
        return self.granted and not self.also


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Paired contrasts: 72 executions", notes=notes(__file__))
    by: dict[str, list[Answer]] = {}
    for arm, edit in ARMS.items():
        by[arm] = []
        for pair in PAIRS:
            library = variant(pair.library, edit(pair))
            answers = []
            for which, history in (("granted", pair.granted), ("refused", pair.refused)):
                tick(f"{pair.name} {arm} {which}")
                answer, events = _ask(pair, history, library, f"{arm}-{which}")
                answers.append(answer)
                name = {"study": NAME, "condition": f"{pair.name} {which}", "method": arm}
                result.runs.append((name, events))
            by[arm].append(Answer(pair, *answers))
    result.tables = [table_27(by), by_pair(by)]
    executions = len(result.runs)
    result.checks = [
        Check("12/12 distinctions with intact contracts", all(a.kept for a in by["Intact"])),
        Check("12/12 lost where the tested part is weakened", not any(a.kept for a in by["Target weakened"])),
        Check("... because the second history is granted too",
              all(a.granted and a.also for a in by["Target weakened"])),
        Check("12/12 kept under a sham mutation", all(a.kept for a in by["Sham mutation"])),
        Check("72 executions", executions == 72),
    ]  # fmt: skip
    counts = {arm: tuple(float(_kept(answers, block)) for block in BLOCKS) for arm, answers in by.items()}
    result.plots.append(Plot(NAME, "Distinctions kept, of three in each block", BLOCKS, counts, "pairs"))
    return result


def _ask(pair: Pair, history: History, library: Library, name: str) -> tuple[bool, list[Event]]:
    events = execute(pair.condition(history, name), PlainAdf, library).events
    last = [e for e in events if e["kind"] == "request" and e["n"] == len(history.stream)]
    return bool(last) and last[0]["outcome"] in GRANTS, events


def _kept(answers: list[Answer], block: str) -> int:
    return sum(a.kept for a in answers if a.pair.block == block)


def table_27(by: dict[str, list[Answer]]) -> Table:
    """Distinctions kept, by block."""
    table = Table("Decision separation", tuple(by), about="Table 27")
    for block in BLOCKS:
        table.add(block, [of(_kept(answers, block), 3) for answers in by.values()], ("3/3", "0/3", "3/3"))
    whole = [of(sum(a.kept for a in answers), len(answers)) for answers in by.values()]
    table.add("Overall", whole, ("12/12", "0/12", "12/12"))
    return table


def by_pair(by: dict[str, list[Answer]]) -> Table:
    """Each pair: is the second history granted what it must not be?"""
    table = Table("Every pair: what the second history is answered", tuple(by))
    for index, pair in enumerate(PAIRS):
        told = [
            ("granted" if answers[index].also else "refused") + ("" if answers[index].granted else " (both)")
            for answers in by.values()
        ]
        table.add(f"{pair.name}: {pair.question}", told)
    return table
