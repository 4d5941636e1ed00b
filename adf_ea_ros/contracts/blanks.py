"""Blanks: what no source could know when a draft was made, left open for a person to fill.

A blank is text that begins with ``??``; the rest is the question. A file with a blank is never executable.
"""

from __future__ import annotations

from typing import Any

from adf_ea_ros.contracts.faults import Loc

MARK = "??"


def blank(question: str) -> str:
    """The text that stands for an answer not yet given."""
    return f"{MARK} {question}"


def is_blank(value: object) -> bool:
    """Whether a value of a file is still open."""
    return isinstance(value, str) and value.startswith(MARK)


def find(data: Any, loc: Loc = ()) -> list[tuple[Loc, str]]:
    """Place and question of every blank, also in keys."""
    found: list[tuple[Loc, str]] = []
    if isinstance(data, dict):
        for key, value in data.items():
            if is_blank(key):
                found.append(((*loc, key), key[len(MARK) :].strip() or "a name"))
            found += find(value, (*loc, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found += find(value, (*loc, index))
    elif isinstance(data, str) and data.startswith(MARK):
        found.append((loc, data[len(MARK) :].strip() or "a value"))
    return found
