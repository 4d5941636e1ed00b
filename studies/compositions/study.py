"""The study: six compositions, four methods, and the freeze."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies.comparison.run import boolean, conditions, execute
from studies.comparison.tables import Scored
from studies.inputs import LIBRARIES
from studies.methods import METHODS
from studies.report.model import Check, Result, Table, notes, of
from studies.scorer import score

NAME = "compositions"
FILE = Path(__file__).with_name("conditions.yaml")
FREEZE = Path(__file__).with_name("freeze.json")
PAPER = {"F4": ("failed", "completed", "completed", "completed")}


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Compositions F1 to F6 of frozen contracts", notes=notes(__file__))
    library = boolean()
    table = Table("New compositions", tuple(METHODS), about="section 4.2")
    by: dict[str, list[Scored]] = {name: [] for name in METHODS}
    for condition in conditions(FILE):
        for name, method in METHODS.items():
            tick(f"{condition.name} {name}")
            run = execute(condition, method, library)
            result.runs.append(({"study": NAME, "condition": condition.name, "method": name}, run.events))
            found = score(run.events, library, library.task(condition.task))
            by[name].append(Scored(condition, found))
        ended = ["completed" if by[name][-1].score.violation_free else "failed" for name in METHODS]
        table.add(f"{condition.name}: {condition.says}", ended, PAPER.get(condition.name, ("completed",) * 4))
    passed = [of(sum(s.score.violation_free for s in scored), len(scored)) for scored in by.values()]
    table.add("Completed with qualified evidence and no violation", passed, ("5/6", "6/6", "6/6", "6/6"))
    result.tables.append(table)
    result.checks = [
        Check("6/6 (the paper: 5/6)", all(s.score.violation_free for s in by["ADF-EA"])),
        Check("contracts and providers are as they were frozen", frozen()),
    ]
    return result


def frozen() -> bool:
    """Whether the contracts are those that were there before the tasks."""
    folder = LIBRARIES / "boolean"
    files = [p for part in ("contracts", "providers") for p in (folder / part).glob("*.yaml")]
    now = {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    return bool(now == json.loads(FREEZE.read_text()))
