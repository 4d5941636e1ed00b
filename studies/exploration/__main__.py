"""``python -m studies.exploration``: the quick models; ``--full``: all of them; ``--complete``: small ones
to the end.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter
from functools import partial

from studies.exploration import models
from studies.exploration.batch import run_one
from studies.exploration.engine import Result
from studies.written import PROOFS, Row, update

HEAD = ("model", "states", "transitions", "decisions", "completions", "violations", "to its end")
_LIMITS = {"quick": 400, "full": 2000, "complete": 0}


def row(result: Result) -> Row:
    """What the page says of one model."""
    counts = (result.states, result.transitions, result.decisions, result.completions)
    numbers = [f"{count:,}" for count in (*counts, sum(result.violations.values()))]
    return (result.model, *numbers, "yes" if result.complete else "no")


def main() -> int:
    """Print one line for each model, then the sums; 1 where anything was violated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all models, each to its limit (minutes)")
    parser.add_argument("--complete", action="store_true", help="the smallest forms, to their ends")
    parser.add_argument(
        "--limit", type=int, default=-1, help="stop each model after this many states (0: never)"
    )
    parser.add_argument("--check", type=float, default=0.01, help="share of state names to verify")
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="write the counts into doc/proofs.md")
    options = parser.parse_args()
    which = "complete" if options.complete else "full" if options.full else "quick"
    limit = options.limit if options.limit >= 0 else _LIMITS[which]
    names = [m.name for m in models.SETS[which]()]
    chosen = [i for i, n in enumerate(names) if options.only in n]
    run = partial(run_one, which=which, limit=limit, check=options.check)
    print(f"{'model':44} {'states':>8} {'transitions':>11} {'decisions':>9} {'done':>6} {'bad':>4} {'s':>6}")
    results = []
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for result in pool.imap(run, chosen):
            results.append(result)
            bad = sum(result.violations.values())
            print(
                f"{result.model:44} {result.states:8} {result.transitions:11} {result.decisions:9} "
                f"{result.completions:6} {bad:4} {result.seconds:6.1f}"
                f"{'' if result.complete else ' cut'}",
                flush=True,
            )
            if options.page:
                update(PROOFS, which, HEAD, {(r.model,): row(r) for r in results}, [(n,) for n in names])
            for story in result.stories:
                print(f"  {story}")
    rules, reasons, violations = Counter[str](), Counter[str](), Counter[str]()
    for result in results:
        rules += result.rules
        reasons += result.reasons
        violations += result.violations
    print("grants:", dict(rules.most_common()))
    print("reasons:", dict(reasons.most_common()))
    print("violations:", dict(violations) or "none")
    print(
        json.dumps(
            {
                "states": sum(r.states for r in results),
                "transitions": sum(r.transitions for r in results),
                "decisions": sum(r.decisions for r in results),
                "violations": sum(violations.values()),
                "complete": all(r.complete for r in results),
            }
        )
    )
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
