"""What a restart of the authority costs: ``AuthorityService.recover`` on a ledger of a long life.

    python -m benchmarks.bench_restart [--events 1000000] [--episodes 2000]

The ledger has ``--episodes`` episodes that are over (each a few events) and one active episode with
``--events`` events. Each restart is a process of its own: it opens the ledger, becomes its writer and takes
over the active episodes. Once from the last checkpoint, once with no checkpoint there. *Memory* is what the
process grew by while it did; *kept* is the number of episodes that the service holds afterwards.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adf_ea_ros.authority.events import AnyEvent, Completed, Decided, EpisodeStarted, Stopped, encode_event
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.state import State, encode_state
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService

CONFIG = Path(__file__).resolve().parents[1] / "config"
BATCH = 1000
TAIL = 100  # events behind the checkpoint
SECOND = 1_000_000_000


def begun(episode: str) -> EpisodeStarted:
    """The first event of an episode."""
    return EpisodeStarted(
        episode=episode,
        task="bench@1",
        fingerprint="0" * 64,
        time=SECOND,
        obligations=(),
        physical=6,
        observation=8,
    )


def decided(episode: str, number: int) -> Decided:
    """One refusal: what a planner that pushes leaves behind."""
    return Decided(
        id=f"{episode}:{number}", time=SECOND + number, request="Dispatch", subject="heat", authorized=False,
        rules=("R6",), reasons=("R6.no_qualified_negative",),
        sentence="The outcome of the attempt before is open, and no evidence shows its effect absent.",
    )  # fmt: skip


def ended(number: int) -> list[AnyEvent]:
    """An episode that is over: completed, or one in four stopped."""
    name = f"past {number}"
    last = Stopped(SECOND, "bench", "enough") if number % 4 == 0 else Completed(SECOND, ())
    return [begun(name), *(decided(name, n) for n in range(8)), last]


def write(ledger: SqlLedger, episode: str, events: Sequence[AnyEvent], version: int) -> None:
    """Append."""
    items = [(type(event).__name__, encode_event(event)) for event in events]
    ledger.append(episode, version, items, time=SECOND, generation=ledger.generation)


def fill(path: Path, events: int, episodes: int) -> None:
    """Make the ledger, with a checkpoint near its end."""
    with SqliteLedger(path) as ledger:
        ledger.open_writer("bench", time=SECOND)
        for number in range(episodes):
            write(ledger, f"past {number}", ended(number), 0)
        state = State(episode="long")
        batch: list[AnyEvent] = [begun("long")]
        for number in range(1, events):
            batch.append(decided("long", number))
            if len(batch) == BATCH or number in (events - TAIL, events - 1):
                write(ledger, "long", batch, state.version)
                for event in batch:
                    state = fold(state, event)
                batch = []
                if number == events - TAIL:
                    ledger.save_checkpoint("long", state.version, encode_state(state))


def restart(path: Path) -> dict[str, Any]:
    """One restart, in this process."""
    catalog = Catalog.load([CONFIG / "contracts", CONFIG / "providers", CONFIG / "tasks"])
    before = _memory()
    wall, own = time.perf_counter(), time.process_time()
    with SqliteLedger(path) as ledger:
        service = AuthorityService(catalog, Book(ledger, ledger.open_writer("bench", time=2 * SECOND)))
        active = service.recover(2 * SECOND)
        result = {
            "seconds": round(time.perf_counter() - wall, 3),
            "processor_seconds": round(time.process_time() - own, 3),
            "memory_MB": round(_memory() - before, 1),
            "kept": len(service.book.active()),
        }
    if active != ["long"]:
        raise AssertionError(f"active are {active}")
    return result


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(path: Path) -> dict[str, Any]:
    """A restart in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--restart", str(path)], check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def without_checkpoints(path: Path) -> None:
    """Take the checkpoints off, and what vouches for them stays."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM checkpoint")
    connection.close()


def cases(events: int, episodes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each restart with its figures."""
    for number, past in ((events // 10, episodes // 10), (events, episodes)):
        folder = Path(tempfile.mkdtemp(prefix="restart"))
        try:
            path = folder / "ledger.db"
            fill(path, number, past)
            yield f"{number} events, {past} past episodes, checkpoint", measured(path)
            without_checkpoints(path)
            found = measured(path)
            found["events_per_second"] = round(number / found["seconds"])
            yield f"{number} events, {past} past episodes, no checkpoint", found
        finally:
            shutil.rmtree(folder)


def main() -> int:
    """Print a table and a JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--restart", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.restart:
        print(json.dumps(restart(options.restart)))
        return 0
    found = {}
    for name, figures in cases(options.events, options.episodes):
        found[name] = figures
        print(f"{name:55}", *(f"{key} {value}" for key, value in figures.items()), sep="  ", flush=True)
    print(json.dumps({"benchmark": "restart", **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
