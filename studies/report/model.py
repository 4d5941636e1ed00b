"""What a study hands over: tables beside the paper's figures, plots, raw events, and what was claimed of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from studies.device.log import Event

Cell = str | int | float


class Tick(Protocol):
    """Told before each run what comes now, for the progress bar; ``total``: how many there will be."""

    def __call__(self, now: str, /, total: int | None = None) -> Any:
        """One more."""
        ...


@dataclass(frozen=True)
class Row:
    """One metric: what was measured for each column, and what the paper reports (None: nothing)."""

    metric: str
    measured: tuple[Cell, ...]
    paper: tuple[Cell | None, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether a cell is not the paper's."""
        return any(differs(mine, theirs) for mine, theirs in zip(self.measured, self.paper, strict=False))


@dataclass
class Table:
    """A table. ``about`` says what the paper's table is called."""

    title: str
    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    about: str = ""
    notes: tuple[str, ...] = ()

    def add(self, metric: str, measured: Sequence[Cell], paper: Sequence[Cell | None] = ()) -> None:
        """Append a row."""
        self.rows.append(Row(metric, tuple(measured), tuple(paper)))


@dataclass(frozen=True)
class Plot:
    """Bars by group and series; a line for each series where ``line`` is set."""

    name: str
    title: str
    groups: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    unit: str = ""
    line: bool = False
    log: bool = False


@dataclass(frozen=True)
class Check:
    """One claim about ADF-EA that this study bears out or not."""

    claim: str
    holds: bool


@dataclass
class Result:
    """Everything that came of a study. ``measured`` holds times: they differ from run to run."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    runs: list[tuple[dict[str, Any], list[Event]]] = field(default_factory=list)
    measured: list[Table] = field(default_factory=list)
    measured_plots: list[Plot] = field(default_factory=list)


def notes(module: str) -> list[str]:
    """The notes beside a study's module, ``notes.md``: one to a line that begins with a dash."""
    text = Path(module).with_name("notes.md").read_text()
    return [" ".join(each.split()) for each in text.removeprefix("- ").split("\n- ")]


def differs(mine: Cell, theirs: Cell | None) -> bool:
    """Whether a measured cell is not the paper's."""
    return theirs is not None and str(mine) != str(theirs)


def of(count: int, total: int) -> str:
    """A fraction as the tables show it."""
    return f"{count}/{total}"
