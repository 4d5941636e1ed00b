"""The live view of ``adf-ea watch``, and what is not well with an authority. Pure, as ``watch_view``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from adf_ea_ros.cli.decision_log import runs
from adf_ea_ros.cli.watch_view import DecisionView, EpisodeView, decision_row, episode_panel

_TROUBLES = 4  # lines at most


class Trouble(msgspec.Struct, frozen=True):
    """A part of the authority that is not well, as /diagnostics says."""

    name: str
    level: int  # as in diagnostic_msgs/DiagnosticStatus: 1 warning, 2 error, 3 stale
    message: str


TROUBLES = {1: ("WARN", "yellow"), 2: ("ERROR", "bold red"), 3: ("STALE", "yellow")}


def troubles(message: Any, authority: str) -> tuple[Trouble, ...]:
    """What a DiagnosticArray says of an authority that is not well, the worst first."""
    order = {2: 0, 3: 1, 1: 2}
    found = []
    for status in message.status:
        level = status.level[0] if isinstance(status.level, (bytes, bytearray)) else int(status.level)
        if level and status.hardware_id == authority:
            found.append(Trouble(status.name.removeprefix(f"{authority}: "), level, status.message))
    return tuple(sorted(found, key=lambda trouble: order.get(trouble.level, 3)))


def trouble_row(trouble: Trouble) -> Text:
    """A trouble on one line."""
    word, style = TROUBLES.get(trouble.level, ("?", "yellow"))
    return Text.assemble((f"{word:<6}", style), f"{trouble.name}: {trouble.message}")


class Board:
    """The live view: episodes above, the latest decisions below, cut to the height of the terminal.

    At the foot: a few of the troubles there are, and one line about the view itself.
    """

    def __init__(
        self,
        episodes: Sequence[EpisodeView],
        decisions: Sequence[DecisionView],
        note: str = "",
        unwell: Sequence[Trouble] = (),
    ) -> None:
        """``note`` is the last line."""
        self._episodes = episodes
        self._decisions = decisions
        self._note = note
        self._unwell = unwell

    def _foot(self, height: int) -> list[Text]:
        most = min(height // 6, _TROUBLES)
        rows = [trouble_row(trouble) for trouble in self._unwell[:most]]
        if rows and len(self._unwell) > most:
            rows[-1].append(f"  (and {len(self._unwell) - most} more)", style="dim")
        return [*rows, Text(self._note, style="dim")]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        foot = self._foot(options.max_height)
        height = options.max_height - len(foot)
        lines: list[list[Any]] = []
        # Active episodes first; an ended one only while there is room for it.
        for episode in sorted(self._episodes, key=lambda e: (e.phase != "active", -e.time)):
            drawn = console.render_lines(episode_panel(episode), options, pad=False)
            if lines and len(lines) + len(drawn) > height // 2:
                break
            lines += drawn[: max(3, height - 3)]
        room = height - len(lines) - 1
        tail: list[list[Any]] = []
        for decision, times in reversed(runs(self._decisions)):
            drawn = console.render_lines(decision_row(decision, times), options, pad=False)
            if len(tail) + len(drawn) > room:
                break
            tail = drawn + tail
        ends: list[list[Any]] = []
        for row in foot:
            row.overflow, row.no_wrap = "ellipsis", True
            ends += console.render_lines(row, options, pad=False)[:1]
        for line in (*lines, *tail, *ends):
            yield from line
            yield Text("\n", end="")
