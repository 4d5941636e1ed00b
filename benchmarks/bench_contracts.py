"""Speed of contract files: reading and checking many, the command line, and what each request pays.

    python benchmarks/bench_contracts.py [--contracts 1000] [--repeat 5]

- *load 1000*: 500 capabilities and 500 providers, one file each, read, checked alone and against each other.
- *check 100*: the whole process ``adf-ea check`` on 100 contracts, from start to end, without and with the
  comparison with installed interfaces.
- *python*: starting Python and importing typer and pydantic, which every command pays.
- *arguments*: one check of the arguments of a request, JSON text to values.
- *canonical*: the content of one contract, as fingerprints need it, once each. *view*: the planner's view of
the whole catalog.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adf_ea_ros.contracts.arguments import check_arguments
from adf_ea_ros.contracts.canonical import canonical
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.view import planner_view

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config"


def many(folder: Path, count: int) -> None:
    """Write ``count`` contracts: pairs of a capability and a provider of it, and the probe that proves
    them."""
    capability = (CONFIG / "contracts" / "heat_to.yaml").read_text()
    provider = (CONFIG / "providers" / "heater_a.yaml").read_text().partition("rebinding:")[0]
    for name in ("contracts/measure.yaml", "providers/probe.yaml"):
        (folder / Path(name).name).write_text((CONFIG / name).read_text())
    for number in range((count - 2) // 2):
        (folder / f"heat_{number}.yaml").write_text(capability.replace("id: heat_to", f"id: heat_{number}"))
        (folder / f"heater_{number}.yaml").write_text(
            provider.replace("id: heater_a", f"id: heater_{number}").replace(": heat_to", f": heat_{number}")
        )


def timed(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Median seconds of one call: on the clock, and of processor time, here and in processes started by
    it."""
    seconds, used = [], []
    for _ in range(repeat):
        start, before = time.perf_counter(), os.times()
        work()
        after = os.times()
        seconds.append(time.perf_counter() - start)
        used.append(sum(after[:4]) - sum(before[:4]))
    return statistics.median(seconds), statistics.median(used)


def command(*arguments: str) -> Callable[[], object]:
    """A run of ``adf-ea`` in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from adf_ea_ros.cli.main import main; main()"
    return lambda: subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)


def main() -> None:
    """Measure, print a table and one JSON line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contracts", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    figures: dict[str, tuple[float, float]] = {}
    bare = [sys.executable, "-c", "import typer, pydantic"]
    text = '{"sample": "s1", "target": 80}'
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large", Path(folder) / "small"
        for path, count in ((large, given.contracts), (small, 100)):
            path.mkdir()
            many(path, count)
        catalog = Catalog.load([large])
        heat = catalog.capability("heat_0")
        work: dict[str, Callable[[], object]] = {
            f"load {given.contracts}": lambda: Catalog.load([large]),
            "check 100, without interfaces": command("check", "--no-interfaces", str(small)),
            "check 100": command("check", str(small)),
            "start python, typer, pydantic": lambda: subprocess.run(bare, check=True),
            "1000 x arguments": lambda: [check_arguments(heat, text) for _ in range(1000)],
            "1000 x canonical": lambda: [canonical(heat) for _ in range(1000)],
            "view of the whole": lambda: planner_view(catalog, 0),
        }
        for name, function in work.items():
            figures[name] = timed(function, given.repeat)
    print(f"{'seconds':32} {'clock':>10} {'processor':>10}")
    for name, (clock, processor) in figures.items():
        print(f"{name:32} {clock:10.4f} {processor:10.4f}")
    print(json.dumps({"bench": "contracts", "seconds": figures}))


if __name__ == "__main__":
    main()
