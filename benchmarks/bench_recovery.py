"""What a choice costs: the search at horizons 1 to 6 beside the rules, one check by the size of the support.

``python benchmarks/bench_recovery.py`` prints tables with times and, since those are this machine's, their
ratios to the first row of each table; then one JSON line. Times are of the processor, medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from adf_ea_ros.recovery.admit import permitted
from adf_ea_ros.recovery.belief import initial
from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.policies import BUDGET, rules, searching
from adf_ea_ros.recovery.world import Frame

HORIZONS = (1, 2, 3, 4, 5, 6)
DOUBTS = (0, 2, 4, 6, 8, 10, 12)
"""Operations in doubt, with two alternatives each: a support of 1 to 4,096 members."""


DONE_OR_NOT: list[dict[str, Any]] = [{"id": "done", "past": [{"commit_at": 0}]}, {"id": "not"}]
QUICK_OR_SLOW: list[dict[str, Any]] = [
    {"id": "quick"},
    {"id": "slow", "writes": [{"delay": 2, "reply": "lost"}]},
]
"""Harmless in every world: no check ends before it has looked at all of them."""


def task(doubts: int, operations: int, either: list[dict[str, Any]]) -> dict[str, Any]:
    """So many operations, of which so many have two alternatives; each can be asked for."""
    return {
        "id": "bench",
        "deadline": 1000,
        "fees": 1000,
        "actions": 100,
        "operations": [
            {
                "id": f"o{i:02}",
                "target": f"t{i:02}",
                "after": [f"o{i - 1:02}"] if i == doubts == 2 else [],
                "promises": {"query": True},
                "alternatives": either if i < doubts else [{"id": "none"}],
            }
            for i in range(operations)
        ],
    }


def measure(make: Callable[[], Callable[[], object]], count: int) -> float:
    """The median in milliseconds; each time with caches of its own."""
    spent = []
    for _ in range(count):
        work = make()
        begun = time.thread_time_ns()
        work()
        spent.append((time.thread_time_ns() - begun) / 1e6)
    return statistics.median(spent)


def table(title: str, rows: dict[str, float]) -> None:
    """Print times and ratios to the first row."""
    first = next(iter(rows.values()))
    print(f"\n{title:44} {'ms':>10} {'ratio':>10}")
    for name, value in rows.items():
        print(f"{name:44} {value:10.3f} {value / first:10.1f}", flush=True)


def horizons(count: int) -> dict[str, float]:
    """One choice on a task of four operations, two of them in doubt, by the rules and by searches."""
    frame = Frame(load(task(2, 4, DONE_OR_NOT)))

    def fresh(policy: Callable[..., object]) -> Callable[[], Callable[[], object]]:
        def make() -> Callable[[], object]:
            own = Frame(frame.task)
            belief = initial(own)
            return lambda: policy(own, belief)

        return make

    rows = {"rules": measure(fresh(rules), count)}
    for horizon in HORIZONS:
        rows[f"search, {horizon} decisions, no budget"] = measure(
            fresh(searching(horizon, 10**9)), max(count // 5, 3)
        )
    for horizon in HORIZONS:
        rows[f"search, {horizon} decisions, {BUDGET} expansions"] = measure(fresh(searching(horizon)), count)
    return rows


def supports(count: int) -> dict[str, float]:
    """Every action of a task of twelve operations checked on the whole support."""
    rows = {}
    for doubts in DOUBTS:
        checked = load(task(doubts, 12, QUICK_OR_SLOW))

        def make(checked: Any = checked) -> Callable[[], object]:
            own = Frame(checked)
            belief = initial(own)
            return lambda: permitted(own, belief)

        rows[f"all actions checked, {2**doubts} members"] = measure(make, count if doubts < 8 else 3)
    return rows


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    count = 5 if parser.parse_args().quick else 25
    results = {"horizons": horizons(count), "supports": supports(count)}
    table("one choice", results["horizons"])
    table("one check", results["supports"])
    rounded = {name: {k: round(v, 3) for k, v in rows.items()} for name, rows in results.items()}
    print(json.dumps({"benchmark": "recovery", "milliseconds": rounded}))


if __name__ == "__main__":
    main()
