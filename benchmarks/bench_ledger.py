"""Speed and memory of the ledger.

    python benchmarks/bench_ledger.py [--postgres CONNINFO] [--events 1000000] [--appends 3000]

- *append*: one durable append of one event, beside a bare SQLite commit of the same bytes. The two take
turns, so
  that whatever else the machine does falls on both; what counts is the ratio of the medians.
- *rate*: appends per second to 1, 8 and 64 episodes in turn.
- *restart*: open a ledger with many past events in one episode, become its writer, and have the state: from a
  checkpoint near the end, and by reading everything. Measured in a process of its own, with its peak memory.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.record import Record, canonical
from adf_ea_ros.ledger.sql import SqlLedger

BATCH = 1000
TAIL = 100  # events behind the checkpoint


def payload(number: int) -> bytes:
    """About what a decision with one finding takes."""
    return canonical(
        {
            "type": "Decided",
            "rule": "R2",
            "authorized": True,
            "reasons": ["R2.first_dispatch"],
            "request": {
                "operation": f"heat_{number}",
                "capability": "heat_to",
                "arguments": {"target": 60.0},
            },
            "sentence": "The first dispatch of this operation is admissible.",
            "key": f"{number:064x}",
            "findings": [
                {"requirement": "warm", "verdict": "SATISFIED", "basis": [f"probe/temperature/{number}"]}
            ],
        }
    )


class BareCommit:
    """The least that makes the same bytes durable: one table, one insert, one commit."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute(
            "CREATE TABLE event (position INTEGER PRIMARY KEY, episode TEXT, version INTEGER, "
            "generation INTEGER, time INTEGER, kind TEXT, payload BLOB, previous BLOB, hash BLOB, link BLOB)"
        )

    def write(self, r: Record) -> None:
        """Insert and commit the bytes of one record."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute(
            "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                r.position,
                r.episode,
                r.version,
                r.generation,
                r.time,
                r.kind,
                r.payload,
                r.previous,
                r.hash,
                r.link,
            ),
        )
        self.connection.execute("COMMIT")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def one_append(ledger: SqlLedger, number: int, episode: str, version: int) -> Record:
    """One durable append."""
    items = [("Decided", payload(number))]
    return ledger.append(episode, version, items, time=number, generation=ledger.generation)[0]


def bench_append(ledger: SqlLedger, directory: Path, appends: int) -> dict[str, float]:
    """Append and bare commit in turn."""
    bare = BareCommit(directory / "bare.sqlite")
    ours, theirs = [], []
    for number in range(appends):
        seconds, record = timed(partial(one_append, ledger, number, "append", number))
        ours.append(seconds)
        theirs.append(timed(partial(bare.write, record))[0])
    return {
        "append p50 us": _us(statistics.median(ours)),
        "append p99 us": _us(statistics.quantiles(ours, n=100)[98]),
        "bare commit p50 us": _us(statistics.median(theirs)),
        "bare commit p99 us": _us(statistics.quantiles(theirs, n=100)[98]),
        "append / bare commit at the median": round(statistics.median(ours) / statistics.median(theirs), 3),
    }


def bench_rate(ledger: SqlLedger, appends: int) -> dict[str, float]:
    """Appends per second to several episodes in turn."""
    result: dict[str, float] = {}
    for episodes in (1, 8, 64):
        versions = [0] * episodes

        def work(episodes: int = episodes, versions: list[int] = versions) -> None:
            for number in range(appends):
                index = number % episodes
                one_append(ledger, number, f"rate {episodes}/{index}", versions[index])
                versions[index] += 1

        result[f"appends/s with {episodes} episodes"] = round(appends / timed(work)[0])
    return result


def fill(ledger: SqlLedger, episode: str, events: int) -> float:
    """Write the past of the restart measurement; events per second, a thousand to a commit."""

    def work() -> None:
        for start in range(0, events, BATCH):
            items = [("Decided", payload(number)) for number in range(start, start + BATCH)]
            ledger.append(episode, start, items, time=start, generation=ledger.generation)

    seconds, _ = timed(work)
    ledger.save_checkpoint(episode, events - TAIL, b"x" * 10_000)
    return events / seconds


def restart(where: str, mark: str, how: str, episode: str) -> dict[str, float]:
    """In a process of its own: open, become the writer, and have the state."""
    before, cpu = _peak(), time.process_time()

    def work() -> int:
        ledger = open_ledger(where, mark=Path(mark) if mark else None)
        if how == "verify":
            result = ledger.verify()
            assert result.ok
            return result.records
        ledger.open_writer("a benchmark")
        checkpoint = ledger.load_checkpoint(episode) if how == "checkpoint" else None
        count = sum(1 for _ in ledger.read(episode, checkpoint.version if checkpoint else 0))
        ledger.close()
        return count

    seconds, count = timed(work)
    return {
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "events": count,
        "MB": (_peak() - before) / 1024,
    }


def _peak() -> int:
    """Peak memory of this program in kB. (``ru_maxrss`` would count the parent's, from before the exec.)"""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 1)


def in_process(where: str, mark: str, how: str, episode: str) -> dict[str, float]:
    """``restart`` in a new process."""
    command = [
        sys.executable,
        __file__,
        "--restart",
        how,
        "--where",
        where,
        "--mark",
        mark,
        "--episode",
        episode,
    ]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def bench_restart(where: str, mark: str, episodes: dict[str, int]) -> dict[str, float]:
    """Restart with and without the checkpoint at each age, and a complete verification."""
    result: dict[str, float] = {}
    runs = [(how, episode) for episode in episodes for how in ("checkpoint", "zero")]
    for how, episode in [*runs, ("verify", "")]:
        run = in_process(where, mark, how, episode)
        words = "verification" if how == "verify" else f"restart of {episodes[episode]} events from {how}"
        result[f"{words}: s"] = round(run["seconds"], 3)
        result[f"{words}: CPU s"] = round(run["cpu"], 3)
        result[f"{words}: MB"] = round(run["MB"], 1)
        if how != "checkpoint":
            result[f"{words}: events per CPU s"] = round(run["events"] / run["cpu"])
    return result


def main() -> None:
    """Print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--postgres", default="", help="URL of a database to measure instead of SQLite")
    parser.add_argument(
        "--directory", type=Path, help="where the files are made; it decides which disk is measured"
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--appends", type=int, default=3000)
    for name in ("--restart", "--where", "--mark", "--episode"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.restart:
        print(json.dumps(restart(options.where, options.mark, options.restart, options.episode)))
        return
    directory = Path(tempfile.mkdtemp(prefix="bench_ledger", dir=options.directory))
    try:
        where = options.postgres or str(directory / "ledger.sqlite")
        mark = str(directory / "mark")
        result: dict[str, Any] = {"store": "postgres" if options.postgres else "sqlite"}
        with open_ledger(where, mark=Path(mark)) as ledger:
            ledger.open_writer("a benchmark")
            result |= bench_append(ledger, directory, options.appends)
            result |= bench_rate(ledger, options.appends)
            episodes = {
                f"past {events}": events for events in (options.events // 10, options.events) if events
            }
            for episode, events in episodes.items():
                result["bulk append events/s"] = round(fill(ledger, episode, events))
        if episodes:
            result |= bench_restart(where, mark, episodes)
    finally:
        shutil.rmtree(directory)
    for name, value in result.items():
        print(f"{name:52}{value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
