"""The kill matrix: each process, killed at each point of the protocol, many times.

python -m benchmarks.soak.matrix [--seeds 10] [--seed 1] [--point NAME] [--victim NAME] [--keep FOLDER]
    python -m benchmarks.soak.matrix --show FOLDER...      the table of runs that were kept
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from adf_ea_ros.testing.waiting import TimedOut
from benchmarks.soak.judge import Verdict, judge, verify
from benchmarks.soak.planner import HEATERS
from benchmarks.soak.points import POINTS, Point, Run
from benchmarks.soak.stage import PLANNER, VICTIMS, Stage

FACTORS = (2.0, 4.0, 8.0)
"""Logical seconds per second, by seed: restarts take seconds, so this decides which promises have run out.

With an even seed the heaters promise no bound after which nothing comes any more: what nobody can tell stays
unknown."""
END = 120.0
TRIALS = "trials.jsonl"


class Trial(msgspec.Struct):
    """One kill and what came of it."""

    point: str
    victim: str
    seed: int
    phase: str  # at the kill, by ledger and rig; empty: not reached
    hit: bool
    sent: bool  # the goal reached a heater, by its count
    verdict: Verdict
    seconds: float = 0.0


def trial(stage: Stage, point: Point, victim: str, sample: str, seed: int) -> Trial:
    """Run one sample, kill the victim at the point, start it again, and see how it ends."""
    begun = time.monotonic()
    chance = random.Random(f"{seed} {point.name} {victim}")
    run = Run(stage, sample, chance.choice(HEATERS), chance)
    for heater in HEATERS:
        stage.delay_effects(heater, point.delay)
    stage.tell(f"{sample} {run.heater}")
    run.until(lambda: stage.said("proposed", sample), "proposal")
    run.episode = stage.word("episode", sample)
    try:
        point.reach(run)
        reached = True
    except TimedOut as error:
        print(f"{point.name}, {victim}, seed {seed}: not reached: {error}", file=sys.stderr)
        reached = False
    stage.kill(victim)
    phase = run.phase()
    if victim in run.held:
        run.held.remove(victim)
    run.release()
    more = ("--sample", sample, "--episode", run.episode, "--first", run.heater) if victim == PLANNER else ()
    over = stage.said("done", sample)
    if not (over and victim == PLANNER):
        stage.start(victim, *more)
    else:
        stage.start(victim)
    stage.watcher.until(lambda: stage.said("done", sample), END, f"end of {run.episode}")
    verdict = judge(stage.view, run.episode, sample)
    return Trial(
        point.name,
        victim,
        seed,
        phase if reached else "",
        reached and (not point.phases or phase in point.phases),
        stage.view.requests() > run.requests,
        verdict,
        time.monotonic() - begun,
    )


def trials(cells: Sequence[tuple[Point, str]], seed: int, folder: Path) -> Iterator[Trial]:
    """One kill in each cell, on one rig."""
    with Stage(folder, len(cells), FACTORS[seed % len(FACTORS)], bounded=seed % 2 == 1) as stage:
        for sample, (point, victim) in zip(stage.samples, cells, strict=True):
            done = trial(stage, point, victim, sample, seed)
            done.verdict.faults += verify(stage.ledger)
            yield done


def table(done: Sequence[Trial]) -> str:
    """Hits and ends of each cell."""
    head = (
        f"{'point':18}{'killed':12}{'runs':>5}{'hit':>5}{'evidenced':>11}{'retried':>9}{'unknown':>9}"
        f"{'none':>6}{'max. heatings':>15}{'faults':>8}"
    )
    lines = [head, "-" * len(head)]
    for point in POINTS:
        for victim in VICTIMS:
            of = [t for t in done if (t.point, t.victim) == (point.name, victim)]
            if not of:
                continue
            ended = Counter(t.verdict.ended for t in of)
            lines.append(
                f"{point.name:18}{victim:12}{len(of):5}{sum(t.hit for t in of):5}{ended['evidenced']:11}"
                f"{ended['retried']:9}{ended['unknown']:9}{ended['never started']:6}"
                f"{max(t.verdict.heatings for t in of):15}{sum(bool(t.verdict.faults) for t in of):8}"
            )
    at = Counter((t.victim, t.phase) for t in done if t.point == "any time")
    for victim in VICTIMS:
        found = ", ".join(f"{phase} {count}" for (v, phase), count in sorted(at.items()) if v == victim)
        if found:
            lines.append(f"any time, {victim}: {found}")
    return "\n".join(lines)


def summary(done: Sequence[Trial]) -> dict[str, int]:
    """Sums over all cells."""
    ended = Counter(t.verdict.ended for t in done)
    return {
        "runs": len(done),
        "hit": sum(t.hit for t in done),
        **ended,
        "executions": sum(t.verdict.heatings for t in done),
        "dispatches": sum(t.verdict.dispatches for t in done),
        "faults": sum(len(t.verdict.faults) for t in done),
    }


def show(number: int, total: int, last: Trial) -> None:
    """Progress."""
    bar = "#" * (30 * number // total)
    said = f"{last.point}, {last.victim}: {last.phase}, {last.verdict.ended} ({last.seconds:.0f} s)"
    text = f"[{bar:30}] {number}/{total} {said}"
    print(
        f"\r{text:100}" if sys.stderr.isatty() else text,
        end="" if sys.stderr.isatty() else "\n",
        file=sys.stderr,
        flush=True,
    )


def run(seeds: int, first: int, cells: Sequence[tuple[Point, str]], folder: Path) -> list[Trial]:
    """All cells for each seed."""
    done: list[Trial] = []
    total = seeds * len(cells)
    for seed in range(first, first + seeds):
        left = list(cells)
        while left:
            try:
                for each in trials(left, seed, folder / f"seed_{seed}_{len(left)}"):
                    left = left[1:]
                    done.append(each)
                    with (folder / TRIALS).open("ab") as file:
                        file.write(msgspec.json.encode(each) + b"\n")
                    show(len(done), total, each)
                    for fault in each.verdict.faults:
                        print(f"\n{each.point}, {each.victim}, seed {seed}: {fault}", file=sys.stderr)
            except TimedOut as error:  # the rest goes on with new processes
                point, victim = left.pop(0)
                print(f"\n{point.name}, {victim}, seed {seed}: failed: {error}", file=sys.stderr)
    return done


def kept(folder: Path) -> list[Trial]:
    """The trials of an earlier run."""
    return [msgspec.json.decode(line, type=Trial) for line in (folder / TRIALS).read_bytes().splitlines()]


def tell(done: Sequence[Trial], wanted: int) -> int:
    """Table and JSON line; 1 where a promise was broken or a run is missing."""
    print(table(done))
    found = summary(done)
    seeds = sorted({t.seed for t in done})
    print(json.dumps({"benchmark": "kill matrix", "seeds": seeds, **found}))
    return int(found["faults"] > 0 or len(done) < wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and a JSON line; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each cell")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--point", choices=[p.name for p in POINTS], help="only this one")
    parser.add_argument("--victim", choices=VICTIMS, help="only this one")
    parser.add_argument("--keep", type=Path, help="folder for ledgers, reports and logs; default: dropped")
    parser.add_argument("--show", type=Path, nargs="+", help="run nothing: the table of these folders")
    options = parser.parse_args(arguments)
    if options.show:
        return tell([t for folder in options.show for t in kept(folder)], 0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the processes must be ended either way
    cells = [
        (point, victim)
        for point in POINTS
        for victim in VICTIMS
        if options.point in (None, point.name) and options.victim in (None, victim)
    ]
    folder = Path(tempfile.mkdtemp(prefix="kill_matrix_"))
    try:
        done = run(options.seeds, options.seed, cells, options.keep or folder)
    finally:
        shutil.rmtree(folder)
    return tell(done, options.seeds * len(cells))


if __name__ == "__main__":
    sys.exit(main())
