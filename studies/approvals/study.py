"""The study: each world under the product and under each removal, beside Table 5; and the interleavings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger
from studies.approvals.adjudicate import Entry, Verdict, adjudicate
from studies.approvals.bench import Bench, Service
from studies.approvals.interleavings import PAIRS, Change, Seen, before, beside, in_flight
from studies.approvals.variants import VARIANTS
from studies.approvals.worlds import WORLDS, World
from studies.report.model import Cell, Check, Result, Table, notes, of

NAME = "approvals"
FULL = "everything"
PAPER = {
    "everything": (0, 0),
    "no binding": (2, 0),
    "no generation": (1, 0),
    "no consumption": (2, 2),
    "no monotone answers": (1, 2),
    "no recovery of unknowns": (0, 1),
}
"""Of Table 5, its counts divided by its six captures: worlds with unsafe effects, and legal ones lost."""

Opener = Callable[[Path], SqlLedger]
"""Opens the ledger of one run, again and again; the folder is the run's own."""


class Judged(NamedTuple):
    """One world under one variant."""

    world: World
    verdict: Verdict
    log: Sequence[Entry]

    @property
    def correct(self) -> bool:
        """As many effects as there should be, none of them unsafe, and completion where it is legal."""
        done = self.verdict.completed or not self.world.legal
        return self.verdict.effects == self.world.effects and not self.verdict.unsafe and done


def in_file(folder: Path) -> SqlLedger:
    """The ledger of a run as an SQLite file."""
    return SqliteLedger(folder / "ledger.db")


def run(world: World, service: Service, opener: Opener) -> Judged:
    """One world, from its beginning to a claim."""
    with tempfile.TemporaryDirectory(prefix="adf_ea_approvals_") as folder:
        bench = Bench(service, lambda: opener(Path(folder)))
        try:
            world.run(bench)
            bench.finish()
        finally:
            bench.close()
    return Judged(world, adjudicate(bench.log), bench.log)


def everything(tick: Callable[[str], Any], opener: Opener = in_file) -> dict[str, list[Judged]]:
    """Every world under every variant."""
    found: dict[str, list[Judged]] = {}
    for name, service in VARIANTS.items():
        found[name] = []
        for world in WORLDS:
            tick(f"{world.name}, {name}")
            found[name].append(run(world, service, opener))
    return found


def interleaved(
    change: Change, moment: Callable[[Bench, Change], Seen], opener: Opener = in_file
) -> tuple[Seen, Verdict, Sequence[Entry]]:
    """One change at one moment, under the product."""
    with tempfile.TemporaryDirectory(prefix="adf_ea_approvals_") as folder:
        bench = Bench(VARIANTS[FULL], lambda: opener(Path(folder)))
        try:
            seen = moment(bench, change)
        finally:
            bench.close()
    return seen, adjudicate(bench.log), bench.log


def study(tick: Callable[[str], Any]) -> Result:
    """Run it, on SQLite ledgers."""
    result = Result(NAME, "Approvals: what each responsibility keeps", notes=notes(__file__))
    by = everything(tick)
    for name, judged in by.items():
        result.runs += [
            ({"study": NAME, "condition": one.world.name, "method": name}, list(one.log)) for one in judged
        ]
    result.tables = [removals(by), by_world(by)]
    table, blocked, spared, safe = interleavings(tick, result)
    result.tables.append(table)
    result.checks = [
        Check(f"with everything, all {len(WORLDS)} worlds come to what they should",
              all(j.correct for j in by[FULL])),
        Check("and no effect is unsafe", not any(j.verdict.unsafe for j in by[FULL])),
        Check("each removal but that of consumption alone costs safety or completions",
              not any(all(j.correct for j in by[name]) for name in by.keys() - {FULL, "no consumption"})),
        Check("no recovery of unknowns costs completions, and no safety",
              not any(j.verdict.unsafe for j in by["no recovery of unknowns"])),
        Check("every relevant change before a dispatch blocks it", blocked),
        Check("and no unrelated one does", spared),
        Check("no interleaving comes to an unsafe effect", safe),
    ]  # fmt: skip
    return result


def removals(by: dict[str, list[Judged]]) -> Table:
    """Unsafe effects and legal worlds, by variant."""
    table = Table("Responsibilities removed", tuple(by), about="Table 5")
    legal = sum(world.legal for world in WORLDS)

    def paper(which: int) -> list[Cell | None]:
        return [PAPER[name][which] if name in PAPER else None for name in by]

    table.add(
        "Worlds with an unsafe effect",
        [sum(bool(j.verdict.unsafe) for j in js) for js in by.values()],
        paper(0),
    )
    lost = [sum(j.world.legal and not j.correct for j in js) for js in by.values()]
    table.add("Legal worlds that are not as they should be", lost, paper(1))
    table.add("Unsafe effects", [sum(len(j.verdict.unsafe) for j in js) for js in by.values()])
    table.add("Legal-correct", [of(legal - each, legal) for each in lost])
    table.add("As it should be", [of(sum(j.correct for j in js), len(js)) for js in by.values()])
    return table


def by_world(by: dict[str, list[Judged]]) -> Table:
    """Which world shows which removal: those that come out otherwise somewhere."""
    table = Table("Where a removal shows", ("tries", *[name for name in by if name != FULL]))
    for index, world in enumerate(WORLDS):
        row = [js[index] for name, js in by.items() if name != FULL]
        if not all(j.correct for j in row):
            table.add(world.name, [world.about, *map(_cell, row)])
    return table


def _cell(judged: Judged) -> str:
    if judged.correct:
        return ""
    return "unsafe" if judged.verdict.unsafe else "lost"


def interleavings(tick: Callable[[str], Any], result: Result) -> tuple[Table, bool, bool, bool]:
    """The changes at each moment; and whether all relevant ones block, all others do not, and all is safe."""
    moments = {"before the dispatch": before, "beside another attempt": beside, "in flight": in_flight}
    columns = [f"{moment}: {kind}" for moment in moments for kind in ("relevant", "unrelated")]
    table = Table("Authority that changes", tuple(columns), about="Table 13")
    blocked, spared, safe = True, True, True
    for pair in PAIRS:
        cells: list[Cell] = []
        for moment, play in moments.items():
            for kind, change in (("relevant", pair.relevant), ("unrelated", pair.unrelated)):
                if change is None:
                    cells.append("-")
                    continue
                tick(f"{pair.name} {moment}")
                seen, verdict, log = interleaved(change, play)
                run_of = {"study": NAME, "condition": f"{pair.name}, {moment}, {kind}", "method": FULL}
                result.runs.append((run_of, list(log)))
                safe = safe and not verdict.unsafe
                if play is in_flight:
                    cells.append(_flight(seen))
                else:
                    cells.append("sent" if seen.sent else "blocked")
                    blocked = blocked and (kind != "relevant" or not seen.sent)
                    spared = spared and (kind != "unrelated" or (seen.sent and seen.proven))
        table.add(pair.name, cells)
    return table, blocked, spared, safe


def _flight(seen: Seen) -> str:
    stop = "asked to stop" if seen.stopped else "goes on"
    return f"{stop}, {'proven' if seen.proven else 'not proven'}"
