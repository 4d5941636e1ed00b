"""A study's ADF-EA runs through the real nodes: the same answers to the same requests.

Each condition runs twice, on the service in this process, and on the authority node and the capability node
over actions, services and topics. Every request must have the same outcome with the same reason codes, and
the independent scores must be equal.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from studies.comparison.run import Condition, Run, execute
from studies.device.device import START
from studies.inputs import SECOND, Library
from studies.methods import Adf
from studies.methods.desk import MEMORY
from studies.report.model import Check, Result, Table, Tick
from studies.ros.adf import through
from studies.ros.link import Link
from studies.scorer import score

GAP = 10_000 * SECOND
"""Between two runs: whatever was read or begun before is long over."""


class Item(NamedTuple):
    """One run that is to be made both ways, by ``execute``."""

    group: str
    library: Library
    condition: Condition
    arm: type[Adf]
    execute: Callable[..., Run] = execute


def both(link: Link, item: Item, number: int) -> tuple[Run, Run]:
    """An item in this process, and through the nodes."""
    link.restore(item.condition.gone)
    name = f"here-{item.group}-{item.condition.name}"
    here = item.execute(item.condition, item.arm, link.library, name)
    later = item.condition._replace(start=START + (number + 1) * GAP)
    return here, item.execute(later, through(item.arm, link), link.library)


def answers(run: Run) -> list[tuple[Any, ...]]:
    """What was asked and answered, in order."""
    return [
        (e["n"], e["request"], e.get("step", ""), e.get("outcome", ""), tuple(e.get("codes", ())))
        for e in run.events
        if e["kind"] == "request"
    ]


def scores(item: Item, runs: Iterable[Run]) -> list[dict[str, Any]]:
    """The independent scores, without how often buffers were looked at: that is no decision."""
    task = item.library.task(item.condition.task)
    found = [asdict(score(run.events, item.library, task)) for run in runs]
    for each in found:
        del each["reads"]
    return found


def compare(name: str, title: str, items: Sequence[Item], tick: Tick) -> Result:
    """Run all items, with one set of nodes for each set of contracts."""
    result = Result(f"{name}-ros", f"{title}, through the nodes")
    by_library: defaultdict[Path, list[Item]] = defaultdict(list)
    for item in items:
        by_library[item.library.folder].append(item)
    counts: dict[str, list[int]] = {}
    for listed in by_library.values():
        with (
            tempfile.TemporaryDirectory(prefix="adf_ea_ros_", dir=MEMORY) as folder,
            Link(listed[0].library, Path(folder)) as link,
        ):
            for number, item in enumerate(listed):
                tick(f"{item.group}: {item.condition.name} through the nodes", total=len(items))
                here, there = both(link, item, number)
                same = answers(here) == answers(there)
                first, second = scores(item, (here, there))
                count = counts.setdefault(item.group, [0, 0, 0, 0])
                for index, found in enumerate((1, len(answers(here)), same, first == second)):
                    count[index] += found
                if not same or first != second:
                    result.notes.append(
                        f"{item.group} {item.condition.name}: {answers(here)} and {answers(there)}"
                    )
                names = {"study": result.name, "group": item.group, "condition": item.condition.name}
                result.runs.append((names, there.events))
    table = Table("The same requests", ("runs", "requests", "same answers", "equal scores"))
    for group, count in counts.items():
        table.add(group, count)
    result.tables.append(table)
    runs = sum(count[0] for count in counts.values())
    for index, what in ((2, "the same answers, with the same reasons"), (3, "equal scores")):
        found = sum(count[index] for count in counts.values())
        result.checks.append(Check(f"{runs} of {runs} runs: {what}", found == runs))
    return result
