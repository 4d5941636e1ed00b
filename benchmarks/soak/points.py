"""The points of the protocol, and how each is reached from outside: the product has no switch for it.

Processes are held (SIGSTOP) and freed around a condition that anybody can see: rows of the ledger file over
a read-only connection, the action status topics, the rig's report file, the planner's output. While its
neighbour is held, the protocol stands exactly there, as long as it takes to kill the victim. Where a point
cannot be seen, the kill comes a random while after the last thing that can be, and the table says what the
ledger and the rig showed then.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import msgspec

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.events import AnyEvent
from adf_ea_ros.authority.model import ANSWERED, Interaction
from adf_ea_ros.testing.waiting import TimedOut
from benchmarks.soak.judge import has, phase, reported
from benchmarks.soak.stage import AUTHORITY, CAPABILITY, DEVICE, PLANNER, Stage

LOOK = 20.0
"""Real seconds for a condition to come true."""


class Run:
    """One sample: the episode, and what is looked at on the way to the kill."""

    def __init__(self, stage: Stage, sample: str, heater: str, chance: random.Random) -> None:
        self.stage, self.sample, self.heater, self.chance = stage, sample, heater, chance
        self.episode = ""
        self.requests = 0
        self.held: list[str] = []

    @property
    def events(self) -> list[AnyEvent]:
        """What the ledger has of it."""
        return self.stage.view.events(self.episode)

    @property
    def attempt(self) -> str:
        """The first attempt; empty before there is one."""
        return next((e.attempt.id for e in self.events if isinstance(e, ev.Dispatched)), "")

    def phase(self) -> str:
        """How far it has come."""
        return phase(self.events, self.stage.view.heatings(self.sample))

    def until(self, condition: Callable[[], object], what: str, timeout: float = LOOK) -> None:
        """Wait for what can be seen."""
        self.stage.watcher.until(condition, timeout, what)

    def hold(self, name: str) -> None:
        """Let a process stand still until ``release``."""
        self.stage.hold(name)
        self.held.append(name)

    def free(self, name: str) -> None:
        """Let it go on."""
        self.stage.free(name)
        self.held.remove(name)

    def release(self) -> None:
        """Let everything go on."""
        for name in list(self.held):
            self.free(name)

    def pause(self, most: float) -> None:
        """A random while, for what cannot be seen; the run goes on meanwhile."""

        until = time.monotonic() + self.chance.uniform(0, most)
        self.until(lambda: time.monotonic() >= until, "a while")

    def go(self) -> None:
        """Let the planner ask."""
        self.requests = self.stage.view.requests()
        self.stage.tell("go")


def _asked(run: Run) -> None:
    """The capability node has the goal, and its request waits for an authority that stands still."""
    before = set(run.stage.asked)
    run.hold(AUTHORITY)
    run.go()
    run.until(lambda: run.stage.asked - before, "goal of the planner")


def before_intent(run: Run) -> None:
    """The authority has been asked, and has written nothing."""
    _asked(run)
    run.pause(0.1)


def after_intent(run: Run) -> None:
    """The attempt is in the ledger; the capability node, which stands still, cannot have sent it."""
    _asked(run)
    # Its request leaves it a moment after the status. Held too early, it is let go on for a moment.
    run.pause(0.1)
    run.hold(CAPABILITY)
    run.free(AUTHORITY)
    for _ in range(5):
        try:
            run.until(lambda: run.attempt, "intent", 2.0)
        except TimedOut:
            run.free(CAPABILITY)
            run.pause(0.02)
            run.hold(CAPABILITY)
        else:
            return
    run.until(lambda: run.attempt, "intent", 2.0)


def after_send(run: Run) -> None:
    """The goal is on its way to a device that stands still."""
    run.hold(DEVICE)
    run.go()
    run.until(lambda: run.attempt, "intent")
    run.pause(0.3)


def after_accept(run: Run) -> None:
    """The ledger has the acceptance; the device, whose effect comes a second later, stands still."""
    run.go()
    run.until(lambda: reported(run.events, frozenset({Interaction.ACCEPTED})), "acceptance")
    run.hold(DEVICE)


def after_effect(run: Run) -> None:
    """The rig has counted the heating; its answer is seconds away."""
    run.go()
    run.until(lambda: run.stage.view.heatings(run.sample), "heating")
    run.pause(0.3)


def before_result(run: Run) -> None:
    """The device has ended the goal; the capability node, which stands still, has not heard it."""
    run.go()
    run.until(lambda: run.stage.view.heatings(run.sample), "heating")
    run.hold(CAPABILITY)
    run.until(lambda: run.attempt and run.stage.ended(run.attempt), "end of the goal")


def qualification(run: Run) -> None:
    """The answer is in the ledger, and the evidence is not complete."""
    run.go()
    run.until(lambda: reported(run.events, ANSWERED), "answer")
    run.pause(0.05)


def terminal(run: Run) -> None:
    """The effect is certified and completion is claimed, of an authority that stands still."""
    run.go()
    run.until(lambda: run.attempt, "intent")
    run.hold(PLANNER)
    run.until(lambda: has(run.events, ev.Certified), "certificate")
    run.hold(AUTHORITY)
    run.free(PLANNER)
    run.until(lambda: run.stage.said("claiming", run.sample), "claim")
    run.pause(0.1)


def any_time(run: Run) -> None:
    """At a random moment, from the planner's request to about the usual end."""
    run.go()
    run.pause(8.0 / run.stage.factor)


class Point(msgspec.Struct, frozen=True):
    """``phases``: what ledger and rig show at the kill where the point was really hit; empty: whatever."""

    name: str
    reach: Callable[[Run], None]
    phases: tuple[str, ...]
    delay: float = 0.0  # logical seconds from acceptance to effect


POINTS = (
    Point("before intent", before_intent, ("no intent",)),
    Point("after intent", after_intent, ("intent",)),
    Point("after send", after_send, ("intent",)),
    Point("after accept", after_accept, ("accepted",), delay=1.0),
    Point("after effect", after_effect, ("effect",)),
    Point("before result", before_result, ("effect",)),
    Point("in qualification", qualification, ("answered",)),
    Point("before completion", terminal, ("certified",)),
    Point("any time", any_time, ()),
)
