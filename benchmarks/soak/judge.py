"""What a killed run came to: by the ledger, read from outside, and by the rig's own count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.events import AnyEvent, decode_event
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.model import ANSWERED, Interaction, Mode
from adf_ea_ros.authority.state import State, decode_state
from adf_ea_ros.ledger.folding import fold_records
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.store import Checkpoint
from adf_ea_ros.sim.report import Report

PHYSICAL = 6
"""Physical budget of each task."""


class View:
    """The ledger file and the rig's report, as anybody may read them while everything runs."""

    def __init__(self, ledger: Path, report: Path) -> None:
        self._ledger, self._report = ledger, report
        self._connection: sqlite3.Connection | None = None

    def events(self, episode: str) -> list[AnyEvent]:
        """What is durable of an episode."""
        if self._connection is None:
            self._connection = sqlite3.connect(f"file:{self._ledger}?mode=ro", uri=True, isolation_level=None)
        rows = self._connection.execute(
            "SELECT payload FROM event WHERE episode = ? ORDER BY version", (episode,)
        ).fetchall()
        return [decode_event(bytes(row[0])) for row in rows]

    def report(self) -> Report:
        """The rig's counts: the file is replaced whole, so it is never half written."""
        return msgspec.json.decode(self._report.read_bytes(), type=Report)

    def heatings(self, sample: str) -> int:
        """Physical executions on a sample, by the rig's count."""
        return sum(counts.heatings.get(sample, 0) for counts in self.report().heaters.values())

    def requests(self) -> int:
        """Goals that reached a heater."""
        return sum(counts.requests for counts in self.report().heaters.values())

    def close(self) -> None:
        """Close the ledger."""
        if self._connection is not None:
            self._connection.close()


def reported(events: Sequence[AnyEvent], kinds: frozenset[Interaction]) -> bool:
    """Whether the ledger has an answer of these kinds."""
    return any(isinstance(e, ev.Reported) and e.interaction in kinds for e in events)


def has(events: Sequence[AnyEvent], kind: type[object]) -> bool:
    """Whether the ledger has an event of this kind."""
    return any(isinstance(e, kind) for e in events)


def phase(events: Sequence[AnyEvent], heatings: int) -> str:
    """How far the first attempt had come, as far as it can be told from outside."""
    if not has(events, ev.Dispatched):
        return "no intent"
    if has(events, ev.Completed):
        return "over"
    if has(events, ev.Certified):
        return "certified"
    if reported(events, ANSWERED):
        return "answered"
    if heatings:
        return "effect"
    return "accepted" if reported(events, frozenset({Interaction.ACCEPTED})) else "intent"


class Verdict(msgspec.Struct):
    """One run. ``faults`` is empty where everything that was promised held."""

    ended: str  # evidenced, retried, unknown, never started
    heatings: int
    dispatches: int
    faults: list[str] = []


def judge(view: View, episode: str, sample: str) -> Verdict:
    """Hold a run against what is promised of every run."""
    events, heatings = view.events(episode), view.heatings(sample)
    dispatches = [e.attempt for e in events if isinstance(e, ev.Dispatched)]
    again = [a for a in dispatches if a.mode is not Mode.FIRST]
    faults = []
    if heatings > 1 + len(again):
        faults.append(f"{heatings} executions with {len(again)} authorized repetitions")
    certified, completed = has(events, ev.Certified), has(events, ev.Completed)
    if (certified or completed) and not heatings:
        faults.append("an effect is certified that never happened")
    if completed and not certified:
        faults.append("completed without a certificate")
    if completed and not 79 <= view.report().temperatures[sample] <= 81:
        faults.append(f"completed at {view.report().temperatures[sample]} degC")
    state, budget = _replay(events, episode)
    faults += budget
    if state.physical != PHYSICAL - len(dispatches):
        faults.append(f"{len(dispatches)} dispatches, and {state.physical} of {PHYSICAL} are left")
    if not dispatches:
        ended = "never started"
    elif completed:
        ended = "retried" if again else "evidenced"
    elif state.execution:
        ended = "unknown"
    else:
        ended = "evidenced" if certified else "undetermined"
        if not certified:
            faults.append("an attempt is neither evidenced nor unknown")
    return Verdict(ended, heatings, len(dispatches), faults)


def _replay(events: Sequence[AnyEvent], episode: str) -> tuple[State, list[str]]:
    """The state, and where an allowance grew."""
    state, faults = State(episode=episode), []
    for event in events:
        before, state = state, fold(state, event)
        if before.phase and (state.physical > before.physical or state.observation > before.observation):
            faults.append(f"{type(event).__name__} replenished a budget")
        for key, record in before.keys.items():
            if record.attempts and state.keys[key].retries > record.retries:
                faults.append(f"{type(event).__name__} replenished a retry allowance")
    return state, faults


def verify(ledger: Path) -> list[str]:
    """Recompute the whole ledger and each checkpoint; what is wrong."""

    def replay(checkpoint: Checkpoint, records: Iterator[Record]) -> bool:
        return decode_state(checkpoint.state) == fold_records(checkpoint.episode, records)

    with open_ledger(str(ledger), read_only=True) as opened:
        return [str(finding) for finding in opened.verify(replay).findings]
