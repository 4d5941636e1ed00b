"""Kill a process that appends in a tight loop, at random moments, and see what its ledger then says.

    python test/ledger/kills.py --runs 2000 [--postgres] [--seed N]

Each run is a process of its own that opens the ledger (or makes it), becomes its writer, and appends one to
three records at a time as fast as it can, with a checkpoint now and then. After every append it reports what
was acknowledged through a pipe. A SIGKILL ends it at a random moment: for one in four
somewhere in its start, which may be before the ledger even exists, for the others somewhere in the loop.

Then the ledger must open, verify completely, and contain every acknowledged record with the hash that was
reported; each checkpoint must be what the records before it fold to; and the next process must become the
writer at once, under a greater generation. A ledger is used for many kills in a row before the next one is
begun.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

if __name__ == "__main__":  # run as a script: from the source tree, whatever is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adf_ea_ros.ledger import wal
from adf_ea_ros.ledger.errors import LedgerError, LedgerUnavailable
from adf_ea_ros.ledger.record import Record, canonical
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.ledger.store import Checkpoint

KILLS_PER_LEDGER = 50
START = 0.030  # seconds within which a process is killed while it starts
LOOP = 0.020  # seconds within which a process is killed once it appends
EPISODES = 4
_REPORT = struct.Struct(">BI32s")  # episode, version, hash
_DEADLINE = 30.0

Open = Callable[[], SqlLedger]


def work(opened: Open, report: int, seed: int) -> None:
    """The process that is killed."""
    wal.EVERY = 3  # moves of the log are killed as well
    chance = random.Random(seed)
    ledger = opened()
    generation = ledger.open_writer(f"appender {os.getpid()}")
    versions = {}
    sums = {}
    for number in range(EPISODES):
        records = list(ledger.read(f"episode {number}"))
        versions[number] = len(records)
        sums[number] = sum(len(r.payload) for r in records)
    while True:
        number = chance.randrange(EPISODES)
        payloads = [
            canonical({"type": "Counted", "pad": "x" * chance.randrange(900)})
            for _ in range(chance.randint(1, 3))
        ]
        records = ledger.append(
            f"episode {number}",
            versions[number],
            [("Counted", payload) for payload in payloads],
            time=time.time_ns(),
            generation=generation,
        )
        os.write(report, b"".join(_REPORT.pack(number, r.version, r.hash) for r in records))
        versions[number] += len(records)
        sums[number] += sum(map(len, payloads))
        if chance.random() < 0.05:
            ledger.save_checkpoint(f"episode {number}", versions[number], str(sums[number]).encode())


def kill_one(opened: Open, chance: random.Random) -> dict[tuple[int, int], bytes]:
    """Start such a process, kill it, and return what it acknowledged."""
    outlet, inlet = os.pipe()
    seed = chance.random()
    pid = os.fork()
    if pid == 0:
        os.close(outlet)
        try:
            work(opened, inlet, seed)
        finally:
            os._exit(1)  # it ends only by being killed, or because it failed
    os.close(inlet)
    starting = chance.random() < 0.25
    end = time.monotonic() + (chance.uniform(0, START) if starting else _DEADLINE)
    reports = bytearray()
    killed = False
    while True:
        left = end - time.monotonic()
        if left <= 0 and not killed:
            os.kill(pid, signal.SIGKILL)
            killed = True
        ready, _, _ = select.select([outlet], [], [], _DEADLINE if killed else max(left, 0))
        if ready:
            block = os.read(outlet, 1 << 16)
            if not block:
                break
            if not reports and not starting:
                end = time.monotonic() + chance.uniform(0, LOOP)
            reports += block
    os.close(outlet)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        raise AssertionError("the appending process failed by itself")
    whole = len(reports) - len(reports) % _REPORT.size
    return {(episode, version): value for episode, version, value in _REPORT.iter_unpack(reports[:whole])}


def fold(checkpoint: Checkpoint, records: Iterator[Record]) -> bool:
    """Whether a checkpoint is what the appending process keeps as its state."""
    return checkpoint.state == str(sum(len(record.payload) for record in records)).encode()


def inspect(opened: Open, acknowledged: dict[tuple[int, int], bytes], faults: Counter[str]) -> None:
    """Open the ledger after a kill, and count what is not as it must be."""
    try:
        with opened() as ledger:
            result = ledger.verify(fold)
            faults["unsound"] += not result.ok
            for finding in result.findings:
                print("finding:", finding, file=sys.stderr)
            there = {
                (number, record.version): record.hash
                for number in range(EPISODES)
                for record in ledger.read(f"episode {number}")
            }
            faults["acknowledged and missing"] += sum(
                there.get(key) != value for key, value in acknowledged.items()
            )
    except LedgerError as exc:
        print("does not open:", exc, file=sys.stderr)
        faults["does not open"] += 1


def run(runs: int, seed: int, ledgers: Callable[[int], Open]) -> dict[str, float]:
    """``ledgers`` gives for each number a way to open the ledger of that number."""
    chance = random.Random(seed)
    faults: Counter[str] = Counter({"does not open": 0, "unsound": 0, "acknowledged and missing": 0})
    total = idle = 0
    acknowledged: dict[tuple[int, int], bytes] = {}
    start = time.monotonic()
    for number in range(runs):
        opened = ledgers(number // KILLS_PER_LEDGER)
        if number % KILLS_PER_LEDGER == 0:
            acknowledged = {}
        new = kill_one(opened, chance)
        idle += not new
        total += len(new)
        acknowledged |= new
        inspect(opened, acknowledged, faults)
        if (number + 1) % KILLS_PER_LEDGER == 0 and runs > KILLS_PER_LEDGER:
            bar = "#" * (30 * (number + 1) // runs)
            end = "\r" if sys.stderr.isatty() and number + 1 < runs else "\n"
            print(f"[{bar:30}] {number + 1}/{runs} kills", end=end, file=sys.stderr, flush=True)
    return {
        "kills": runs,
        "killed before the first append": idle,
        "acknowledged": total,
        **faults,
        "seconds": round(time.monotonic() - start, 1),
    }


def sqlite_ledgers(directory: Path) -> Callable[[int], Open]:
    """Ledgers in files."""
    return lambda number: lambda: SqliteLedger(directory / f"{number}.sqlite")


def postgres_ledgers(directory: Path, conninfo: str, prefix: str) -> Callable[[int], Open]:
    """Ledgers in schemas of one database."""
    from adf_ea_ros.ledger.postgres import PostgresLedger

    def opener(number: int) -> Open:
        # The server may need a moment to see that the connection of a killed process has ended.
        return lambda: _patient(
            lambda: PostgresLedger(
                conninfo, schema_name=f"{prefix}_{number}", mark=directory / f"{prefix}_{number}.mark"
            )
        )

    return opener


def _patient(opened: Open) -> SqlLedger:
    deadline = time.monotonic() + _DEADLINE
    while True:
        try:
            return opened()
        except LedgerUnavailable:
            if time.monotonic() > deadline:
                raise


def main() -> int:
    """Print a table and a JSON line; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="kills"))
    server = None
    try:
        if options.postgres:
            from postgres_server import PostgresServer

            server = PostgresServer()
            ledgers = postgres_ledgers(directory, server.conninfo, "kills")
        else:
            ledgers = sqlite_ledgers(directory)
        result = {"store": "postgres" if server else "sqlite", "seed": options.seed}
        result |= run(options.runs, options.seed, ledgers)
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(directory)
    for name, value in result.items():
        print(f"{name:32}{value}")
    print(json.dumps(result))
    return int(any(result[name] for name in ("does not open", "unsound", "acknowledged and missing")))


if __name__ == "__main__":
    sys.exit(main())
