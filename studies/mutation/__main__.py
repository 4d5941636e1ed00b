"""``python -m studies.mutation``: every mutant, the test that noticed it, and how many nothing noticed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from studies.mutation.mutants import MUTANTS, Mutant
from studies.mutation.run import STAGES, baseline, judge
from studies.written import PROOFS, Row, update

HEAD = ("file", "what is broken", "noticed by")


def name_of(mutant: Mutant) -> Row:
    """The first cells of a mutant's row on the page."""
    return f"`{mutant.file}`", mutant.what


def main() -> int:
    """Print the table; 1 where a mutant survived, 2 where the tests fail on the unbroken package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose file or description contains this")
    parser.add_argument(
        "--stages", type=int, default=len(STAGES), help="only the first stages (1: unit tests)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="write what was found into doc/proofs.md")
    options = parser.parse_args()
    failing = baseline(STAGES[: options.stages])
    if failing:
        print(f"the tests fail without any mutant: {failing}")
        return 2
    chosen = [m for m in MUTANTS if options.only in f"{m.file} {m.what}"]
    print(f"{'file':24} {'broken':52} noticed by", flush=True)
    survivors, found = 0, {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for fate in pool.map(partial(judge, stages=STAGES[: options.stages]), chosen):
            survivors += not fate.by
            print(f"{fate.mutant.file:24} {fate.mutant.what:52} {fate.by or 'NOTHING'}", flush=True)
            found[name_of(fate.mutant)] = (
                *name_of(fate.mutant),
                f"`{fate.by}`" if fate.by else "**nothing**",
            )
            if options.page:
                update(PROOFS, "mutants", HEAD, found, [name_of(m) for m in MUTANTS])
    print(json.dumps({"mutants": len(chosen), "survivors": survivors}))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
