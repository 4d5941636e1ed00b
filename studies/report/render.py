"""Tables as Markdown and for a terminal, plots as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from rich.console import Console
from rich.table import Table as RichTable

from studies.report.model import Cell, Plot, Result, Row, Table, differs

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "adf_ea_ros"  # the same picture is the same file

LEGEND = "Where the paper has another figure it follows in brackets, marked ≠."


def _cell(mine: Cell, theirs: Cell | None) -> str:
    return f"{mine} ≠ ({theirs})" if differs(mine, theirs) else str(mine)


def _cells(row: Row) -> list[str]:
    papers = (*row.paper, *[None] * (len(row.measured) - len(row.paper)))
    return [_cell(mine, theirs) for mine, theirs in zip(row.measured, papers, strict=True)]


def markdown(table: Table, level: int = 3) -> str:
    """One table, with its heading."""
    where = f" ({table.about} of the paper)" if table.about else ""
    lines = [f"{'#' * level} {table.title}{where}", ""]
    lines += ["| | " + " | ".join(table.columns) + " |", "|---" * (len(table.columns) + 1) + "|"]
    lines += [f"| {row.metric} | " + " | ".join(_cells(row)) + " |" for row in table.rows]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def section(result: Result) -> str:
    """A study's part of the page: what does not change from run to run."""
    lines = [f"## {result.title}", "", f"`adf-ea study {result.name}`", ""]
    lines += [
        f"- {'holds' if check.holds else '**does not hold**'}: {check.claim}" for check in result.checks
    ]
    lines += [""]
    for table in result.tables:
        lines += [markdown(table)]
    if result.notes:
        lines += ["What differs, and why:" if any(t.about for t in result.tables) else "Notes:", ""]
        lines += [f"- {note}" for note in result.notes]
    return "\n".join(lines).rstrip() + "\n"


def show(console: Console, result: Result) -> None:
    """A study for a person at a terminal."""
    console.rule(result.title)
    for table in (*result.tables, *result.measured):
        shown = RichTable(
            title=f"{table.title}{f' ({table.about})' if table.about else ''}", title_justify="left"
        )
        shown.add_column("")
        for column in table.columns:
            shown.add_column(column)
        for row in table.rows:
            shown.add_row(row.metric, *_cells(row))
        console.print(shown)
    for check in result.checks:
        console.print(f"{'[green]holds[/]' if check.holds else '[red]does not hold[/]'}: {check.claim}")
    for note in result.notes:
        console.print(f"- {note}", style="dim", highlight=False)


def draw(plots: Iterable[Plot], folder: Path) -> list[Path]:
    """Each plot as PNG and SVG; the files."""
    files = []
    for plot in plots:
        figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
        _bars(axes, plot) if not plot.line else _lines(axes, plot)
        axes.set_title(plot.title)
        axes.set_ylabel(plot.unit)
        if plot.log:
            axes.set_yscale("log")
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
        if len(plot.series) > 1:
            axes.legend()
        for suffix in ("png", "svg"):
            files.append(folder / f"{plot.name}.{suffix}")
            figure.savefig(files[-1], dpi=130, metadata={"Date": None} if suffix == "svg" else None)
        plt.close(figure)
    return files


def _bars(axes: object, plot: Plot) -> None:
    width = 0.8 / len(plot.series)
    for index, (name, values) in enumerate(plot.series.items()):
        places = [group + (index - (len(plot.series) - 1) / 2) * width for group in range(len(plot.groups))]
        bars = axes.bar(places, values, width, label=name)  # type: ignore[attr-defined]
        axes.bar_label(bars, fmt=_short, fontsize=8)  # type: ignore[attr-defined]
    axes.set_xticks(range(len(plot.groups)), plot.groups)  # type: ignore[attr-defined]


def _lines(axes: object, plot: Plot) -> None:
    for name, values in plot.series.items():
        axes.plot(plot.groups, values, marker="o", label=name)  # type: ignore[attr-defined]


def _short(value: float) -> str:
    """Three digits, and no power of ten."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
