"""A planner that pushes: it asks again and again, on one heater and the other, until it may claim.

    python -m benchmarks.soak.planner COMMANDS [--sample S --episode E --first HEATER]

``COMMANDS`` is a pipe with lines: a sample and the heater to begin with; then ``go``. With arguments it goes
on with an episode that an earlier process had begun. It prints what it does, line by line.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Any

from adf_ea_ros.action import Execute

from adf_ea_ros.nodes.client import Planner, PlannerError, step

PATIENCE = 25.0
"""Real seconds for one sample; then it stops without a claim."""
HEATERS = ("heater_a", "heater_b")


def say(*words: object) -> None:
    """One line, at once: the outside watches for it."""
    print(*words, flush=True)


def begin(planner: Planner, sample: str) -> str:
    """Take up the task of a sample."""
    while True:
        try:
            return str(planner.start(f"heat_{sample}"))
        except PlannerError as error:
            say("no episode:", error)


def push(planner: Planner, sample: str, first: str, decided: threading.Event) -> str:
    """Ask for the heating until completion may be claimed; how it ended."""
    end = time.monotonic() + PATIENCE
    number, asked = HEATERS.index(first), False
    while time.monotonic() < end:
        try:
            episode = planner.episode() if asked else None  # the first request is the goal itself
            if episode is not None and not episode.steps:
                planner.propose([step("heat", "heat_to", sample=sample, target=80)])
            asked = True
            provider = HEATERS[number % 2]
            say("asking", sample, provider)
            result = planner.run("heat", provider, evidence_timeout=6.0, timeout=8.0)
            say("outcome", sample, result.outcome, *result.decision.reasons)
            if result.outcome in (Execute.Result.VERIFIED, Execute.Result.REFUSED):
                say("claiming", sample)
                decision = planner.claim()
                if decision.authorized:
                    return "completed"
            number += 1
        except PlannerError as error:
            say("error", error)
        decided.wait(0.3)
        decided.clear()
    try:
        planner.stop("its time is up")
    except PlannerError as error:
        say("error", error)
    return "stopped"


def main() -> int:
    """Work until the pipe ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", type=Path)
    parser.add_argument("--sample", default="")
    parser.add_argument("--episode", default="")
    parser.add_argument("--first", default=HEATERS[0])
    options = parser.parse_args()
    decided = threading.Event()

    def on_decision(_: Any) -> None:
        decided.set()

    with (
        Planner("planner", on_decision=on_decision, timeout=6.0) as planner,
        options.commands.open() as lines,
    ):
        say("ready")
        if options.sample:
            # An authority that is down must not be taken for an episode that is gone.
            found = None
            while found is None:
                try:
                    found = planner.episode(options.episode)
                except PlannerError as error:
                    say("error", error)
            say("done", options.sample, push(planner, options.sample, options.first, decided))
        for line in lines:
            sample, first = line.split()
            say("episode", sample, begin(planner, sample))
            planner.propose([step("heat", "heat_to", sample=sample, target=80)])
            say("proposed", sample)
            if lines.readline().strip() != "go":
                break
            say("done", sample, push(planner, sample, first, decided))
    return 0


if __name__ == "__main__":
    sys.exit(main())
