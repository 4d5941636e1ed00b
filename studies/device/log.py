"""The raw events of one run: what was asked, what was done, what was seen. Nothing in it is a judgement."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Log:
    """Events in the order in which they happened. ``clock`` is set by the device."""

    def __init__(self) -> None:
        """An empty log at time zero."""
        self.events: list[Event] = []
        self.clock = 0

    def add(self, kind: str, **what: Any) -> Event:
        """Append an event; ``t`` is the logical time in nanoseconds."""
        event = {"t": self.clock, "kind": kind, **what}
        self.events.append(event)
        return event


def write(path: Path, runs: Iterable[tuple[dict[str, Any], list[Event]]]) -> int:
    """Runs as JSON lines: each event with the names of its run. The number of lines."""
    count = 0
    with path.open("w") as file:
        for run, events in runs:
            for event in events:
                file.write(json.dumps({**run, **event}, separators=(",", ":")) + "\n")
                count += 1
    return count
