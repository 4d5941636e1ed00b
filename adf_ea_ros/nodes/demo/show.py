"""What the demo prints: in colour and with a status line into a terminal, plain into anything else."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.status import Status
from rich.text import Text

from adf_ea_ros.cli.ledger import TONES
from adf_ea_ros.cli.watch_view import DecisionView, Row, decision_row
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.timeline import describe
from adf_ea_ros.nodes.demo.story import Check

_PLAIN_WIDTH = 100
TOLD = {
    "EpisodeStarted",
    "ProposalAdmitted",
    "Dispatched",
    "Reported",
    "Certified",
    "Revoked",
    "StateOwed",
    "ObservationSpent",
    "CancelRequested",
    "Restarted",
    "AvailabilityChanged",
    "Completed",
    "Stopped",
}
"""Kinds of records that the demo's timeline shows: what happened, not what was weighed."""

_BASIS = re.compile(r" \([\w/]+\|[^()]*\)")  # the names of single samples
_SILENCE = 2.0  # seconds after which something is said


def make_console() -> Console:
    """The console of this process: as wide as the terminal, or a fixed width into a file or pipe."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PLAIN_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False)


class Screen:
    """Everything that the demo shows, in order."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._status: Status | None = None
        self._spoke = time.monotonic()

    def head(self, text: str) -> None:
        """The start of a part."""
        self._print(Rule(Text(text, style="bold"), align="left", style="dim"))

    def note(self, text: str, style: str = "dim") -> None:
        """A remark of the demo itself."""
        self._print(Text(text, style=style))

    def said(self, who: str, text: str, now: Ns = 0) -> None:
        """Something that a client did, at a time on the rig's clock where there is one."""
        self._print(Row(now, Text(who, style="cyan"), [Text(text, style="cyan")]))

    def decision(self, decision: DecisionView) -> None:
        """A decision of the authority."""
        self._print(decision_row(decision))

    def checks(self, checks: Iterable[Check]) -> None:
        """What the story must end like, and whether it did."""
        for check in checks:
            mark = Text("  ok    ", style="green") if check.holds else Text("  WRONG ", style="bold red")
            self._print(mark + Text(check.text))

    def timeline(self, episode: str, records: Sequence[Record]) -> None:
        """What counts of an episode's records, in the words of ``adf-ea ledger show``, which shows all."""
        generation, shown = 0, 0
        for record in records:
            if generation and record.generation != generation:
                self._print(Rule(f"generation {record.generation}", align="left", style="yellow"))
            generation = record.generation
            entry = describe(record)
            absent = record.kind == "Assessed" and "qualified negative" in entry.text
            if record.kind not in TOLD and not absent:
                continue
            shown += 1
            text = entry.text.replace(f"{episode}.", "#").replace(f"{episode}/", "")
            text = _BASIS.sub("", text)
            word = Text(record.kind, style="bold")
            self._print(Row(record.time, word, [Text(text, style=TONES[entry.tone])], indent=30))
        self.note(f"{shown} of {len(records)} records")

    def status(self, text: str) -> None:
        """What is going on: on a line that is redrawn, or, into a file, after a while of silence."""
        if self.console.is_terminal:
            if self._status is None:
                self._status = self.console.status(Text(text), spinner_style="cyan")
                self._status.start()
            self._status.update(Text(text))
        elif time.monotonic() - self._spoke > _SILENCE:
            self._print(Text(f"... {text}", style="dim"))

    def quiet(self) -> None:
        """Take the status line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def command(self, text: str) -> None:
        """A line to be copied: never wrapped."""
        self.console.print(Text(f"  {text}", style="dim"), soft_wrap=True)

    def _print(self, what: RenderableType) -> None:
        self.console.print(what)
        self._spoke = time.monotonic()
