"""The long form of the crash tests: the kill matrix, then 2,000 kills of a process that appends to a ledger.

    python -m benchmarks.soak [--seeds 10] [--kills 2000] [--seed 1] [--keep FOLDER]

Each part alone: ``python -m benchmarks.soak.matrix`` and ``python test/ledger/kills.py``. Exit code 1
where anything that is promised did not hold.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.soak import matrix

KILLS = Path(__file__).parents[2] / "test" / "ledger" / "kills.py"


def main() -> int:
    """Both parts, each with its table and JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each cell of the matrix; 0: no matrix")
    parser.add_argument("--kills", type=int, default=2000, help="kills of the appending process; 0: none")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--keep", help="folder for the matrix's ledgers, reports and logs; default: dropped")
    options = parser.parse_args()
    failed = 0
    if options.seeds:
        print(f"==> kill matrix, {options.seeds} runs of each cell", flush=True)
        keep = ["--keep", options.keep] if options.keep else []
        failed |= matrix.main(["--seeds", str(options.seeds), "--seed", str(options.seed), *keep])
    if options.kills:
        print(f"==> {options.kills} kills of a process that appends", flush=True)
        command = [sys.executable, str(KILLS), "--runs", str(options.kills), "--seed", str(options.seed)]
        failed |= subprocess.run(command, check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
