"""``python -m studies [NAME ...]``: run the studies, print their tables, keep the results.

In the folder of the results: ``NAME.md`` and ``NAME.json`` (tables), ``NAME.jsonl`` (raw events), plots as
PNG and SVG, ``manifest.json`` (the inputs by hash). ``--page`` also writes ``doc/studies.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from studies.catalog import MODULES, find
from studies.device.log import write
from studies.report.manifest import ROOT, freeze, write_manifest
from studies.report.model import Result
from studies.report.page import PAGE, page
from studies.report.render import draw, markdown, section, show

RESULTS = ROOT / "build" / "studies"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 where a claim about ADF-EA does not hold."""
    parser = argparse.ArgumentParser(
        prog="studies", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*MODULES, []], help="studies; default: all")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help=f"folder of the results (default: {RESULTS})"
    )
    parser.add_argument("--page", action="store_true", help="write doc/studies.md (all studies)")
    parser.add_argument("--quiet", action="store_true", help="print the claims only")
    parser.add_argument(
        "--ros", action="store_true", help="through real nodes, compared with the same in one process"
    )
    parser.add_argument(
        "--freeze", action="store_true", help="take contracts, conditions and baselines as frozen"
    )
    chosen = parser.parse_args(arguments)
    if chosen.freeze:
        freeze()
    names = list(MODULES) if chosen.page or not chosen.names else list(chosen.names)
    return run(names, chosen.out, write_page=chosen.page, quiet=chosen.quiet, ros=chosen.ros)


def run(
    names: Sequence[str], out: Path, *, write_page: bool = False, quiet: bool = False, ros: bool = False
) -> int:
    """Run these studies and keep their results in ``out``."""
    console = Console()
    out.mkdir(parents=True, exist_ok=True)
    manifest = write_manifest(out)
    results, begun = [], time.perf_counter()
    for name in names:
        result, seconds = _one(name, console, ros)
        _keep(result, out)
        results.append(result)
        if not quiet:
            show(console, result)
        console.print(f"{name}: {sum(c.holds for c in result.checks)} of {len(result.checks)} claims hold, "
                      f"{len(result.runs)} runs, {seconds:.1f} s")  # fmt: skip
    if write_page:
        PAGE.write_text(page(results))
        console.print(f"written: {PAGE}")
    failed = [f"{r.name}: {c.claim}" for r in results for c in r.checks if not c.holds]
    spent = time.perf_counter() - begun
    console.print(f"{len(names)} studies in {spent:.1f} s, results in {out}, inputs {manifest[:12]}")
    for claim in failed:
        console.print(f"[red]does not hold[/] {claim}")
    return 1 if failed else 0


def _one(name: str, console: Console, ros: bool) -> tuple[Result, float]:
    begun = time.perf_counter()
    counter = TextColumn("{task.completed} runs, {task.fields[now]}")
    columns = (TextColumn("{task.description}"), BarColumn(), counter, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=None, now="")

        def tick(now: str, total: int | None = None) -> None:
            progress.update(task, advance=1, now=now, total=total)

        result = find(name, ros=ros)(tick)
    return result, time.perf_counter() - begun


def _keep(result: Result, out: Path) -> None:
    write(out / f"{result.name}.jsonl", result.runs)
    measured = "\n".join(markdown(table) for table in result.measured)
    (out / f"{result.name}.md").write_text(f"{section(result)}\n{measured}")
    kept = {
        "study": result.name,
        "tables": [asdict(table) for table in (*result.tables, *result.measured)],
        "checks": [asdict(check) for check in result.checks],
    }
    (out / f"{result.name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    draw([*result.plots, *result.measured_plots], out)


if __name__ == "__main__":
    sys.exit(main())
