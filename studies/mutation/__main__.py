"""``python -m studies.mutation``: every mutant, the test that noticed it, and how many nothing noticed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from studies.mutation.mutants import MUTANTS
from studies.mutation.run import STAGES, baseline, judge


def main() -> int:
    """Print the table; 1 where a mutant survived, 2 where the tests fail on the unbroken package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose file or description contains this")
    parser.add_argument(
        "--stages", type=int, default=len(STAGES), help="only the first stages (1: unit tests)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    failing = baseline(STAGES[: options.stages])
    if failing:
        print(f"the tests fail without any mutant: {failing}")
        return 2
    chosen = [m for m in MUTANTS if options.only in f"{m.file} {m.what}"]
    print(f"{'file':24} {'broken':52} noticed by", flush=True)
    survivors = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for fate in pool.map(partial(judge, stages=STAGES[: options.stages]), chosen):
            survivors += not fate.by
            print(f"{fate.mutant.file:24} {fate.mutant.what:52} {fate.by or 'NOTHING'}", flush=True)
    print(json.dumps({"mutants": len(chosen), "survivors": survivors}))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
