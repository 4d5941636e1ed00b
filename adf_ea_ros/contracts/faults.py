"""What is wrong with contract files, said so that an editor can jump to it: ``file:line: path: message``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

Loc = tuple[str | int, ...]
"""A place inside a document: keys of mappings and indices of lists, outermost first."""


class Fault(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong. ``line`` counts from 1; 0 where the file as a whole is meant."""

    file: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: {self.path}: {self.message}"
            if self.path
            else f"{self.file}:{self.line}: {self.message}"
        )


class ContractError(Exception):
    """The files cannot be used. Carries every fault that was found, in the order of files and lines."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(map(str, self.faults)))


def dotted(loc: Loc) -> str:
    """The spelling of a place for people: ``effects.heated.rests_on[0].path``."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name`` is most likely a misspelling of, if any."""
    close = difflib.get_close_matches(str(name)[:100], sorted(known), n=1)
    return close[0] if close else None


def suggestion(name: object, known: Iterable[str]) -> str:
    """A clause ``; did you mean 'x'?`` where ``name`` is close to one of ``known``, else nothing."""
    close = nearest(name, known)
    return f"; did you mean {close!r}?" if close else ""


def one_of(name: object, known: Iterable[str], what: str = "allowed") -> str:
    """A clause with the nearest of ``known`` and the list itself, or that there is none."""
    names = sorted(known)
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"{suggestion(name, names)} ({what}: {listed})" if names else f" ({what}: none)"


def has_no(owner: str, what: str, name: str, known: Iterable[str]) -> str:
    """The sentence that ``owner`` has no ``what`` of this name, with what it has instead."""
    return f"{owner} has no {what} {name!r}{one_of(name, known, 'it has')}"
