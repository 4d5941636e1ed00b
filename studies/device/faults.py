"""External fault rules: what goes wrong, and when, in terms of what a method actually does to its own
device.

A rule looks at one call or one observation: the ``nth`` of a capability (or of a fact), counted over the
run; calls that a unit refuses are not counted. It never knows which method is running, and no method knows
the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

RESPONSES = ("ok", "error", "timeout")
EVIDENCE = (
    "normal",
    "missing",
    "once",
    "stale",
    "replay",
    "wrong_object",
    "wrong_source",
    "wrong_correlation",
)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fault. ``nth`` 0: every time."""

    call: str = ""  # capability
    observe: str = ""  # fact, "subject.path"
    nth: int = 1
    suppressed: bool = False  # acknowledged, but nothing happens
    response: str = "ok"
    evidence: str = "normal"  # of the facts' readings from the call on, until they are asked for or set again
    fact: str = ""  # this fact's readings, instead of those of the facts that the call sets
    sets: dict[str, Any] = {}  # afterwards, somebody else changes these facts ("subject.path")
    unavailable: str = ""  # afterwards, this provider is gone

    def __post_init__(self) -> None:
        if self.response not in RESPONSES or self.evidence not in EVIDENCE:
            raise ValueError(f"no such fault: {self.response}, {self.evidence}")


def rules(raw: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """The rules of a condition file."""
    return tuple(msgspec.convert(dict(each), Rule) for each in raw)
