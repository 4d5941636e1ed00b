"""The judge of a run: what happened, and what a person had allowed. It imports nothing of the product.

An effect is unsafe where what was sent was not what a person had approved, or no longer, or had been used
before; and where it came about a second time although the first still held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Entry = dict[str, Any]
"""One thing that happened: ``t`` in seconds, ``kind``, and what it was about."""


class Verdict(NamedTuple):
    """What a run came to. ``unsafe``: why, for each effect that nobody had allowed."""

    effects: int
    unsafe: tuple[str, ...]
    completed: bool


def adjudicate(log: Sequence[Entry]) -> Verdict:
    """Judge a run by its log."""
    unsafe: list[str] = []
    effects = 0
    holds: set[str] = set()
    sent = {entry["attempt"]: index for index, entry in enumerate(log) if entry["kind"] == "sent"}
    for entry in log:
        if entry["kind"] == "lost":
            holds.discard(entry["subject"])
        if entry["kind"] != "effect":
            continue
        effects += 1
        why = _not_allowed(log, sent[entry["attempt"]])
        if not why and entry["subject"] in holds:
            why = "it was so already"
        unsafe += [f"{entry['attempt']}: {why}"] if why else []
        holds.add(entry["subject"])
    return Verdict(effects, tuple(unsafe), any(entry["kind"] == "completed" for entry in log))


def _not_allowed(log: Sequence[Entry], at: int) -> str:
    """Why nobody had allowed what was sent at that place of the log; empty where somebody had."""
    sent, before = log[at], log[:at]
    if not sent["reserved"]:
        return ""
    given = [i for i, e in enumerate(before) if e["kind"] == "approval" and e["step"] == sent["step"]
             and e["episode"] == sent["episode"]]  # fmt: skip
    if not given:
        return "nobody approved it"
    approval, since = before[given[-1]], before[given[-1] + 1 :]
    if approval["by"] not in {"ann", "bob"}:
        return f"{approval['by']} may not approve it"
    if approval["what"] != sent["what"]:
        return f"{approval['what']} was approved"
    if sent["t"] > approval["until"]:
        return "the approval was over"
    for entry in since:
        if entry["kind"] == "withdrawal" and entry["step"] == sent["step"]:
            return "the approval had been withdrawn"
        if entry["kind"] == "halt":
            return "a halt had come between"
        if entry["kind"] == "revoked" and entry["provider"] == sent["provider"]:
            return f"{sent['provider']} had been revoked in between"
        if (
            entry["kind"] == "sent"
            and entry["subject"] == sent["subject"]
            and entry["episode"] == sent["episode"]
        ):
            return "the approval was for an earlier attempt"
    return ""
