"""YAML text to plain data, with the line of everything, and nothing that a contract does not need.

The subset is deliberate. Contracts are reviewed by people and decide what a robot may do, so a file must mean
what it shows: no anchors, aliases, merge keys or tags (what is written is what is there, and no alias can
grow into gigabytes), no duplicate keys, no nulls, no numbers that readers of YAML 1.1 and 1.2 read
differently.
The text is walked as a stream of events with a stack of our own, so nesting cannot exhaust Python's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec
import yaml
from yaml import events as ev

from adf_ea_ros.contracts.faults import Loc

MAX_BYTES = 1_000_000
MAX_DEPTH = 24
MAX_NODES = 50_000

Marks = tuple[int, Any]
"""Line (from 1) of a node, and the marks of its children: a dict, a list, or None for a scalar."""
Report = Callable[[int, Loc, str], None]
"""Takes a line, a place and a message: one fault."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_AMBIGUOUS = re.compile(  # what YAML 1.1 takes for a boolean, an octal, a grouped or a sexagesimal number
    r"(yes|no|on|off|[-+]?0[0-9_]+|[-+]?0[xob][0-9a-f_]+|[-+]?[0-9][0-9_]*_[0-9_.]*"
    r"|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9]*)?)",
    re.IGNORECASE,
)
_TWO_READINGS = (
    "reads differently in different YAML versions: put it in quotes if it is text, "
    "else write true, false or a plain number"
)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOT_FINITE = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
_FIRST = frozenset("-+.0123456789yYnNoOtTfF~")  # what a plain scalar that is not text can start with


class Raw(msgspec.Struct):
    """One YAML document."""

    data: Any
    marks: Marks
    spoiled: set[Loc]  # places that are already reported: what is said about them next is a consequence
    complete: bool = False  # false where reading stopped inside the document


class _Frame:
    """A mapping or list that is being filled."""

    __slots__ = ("container", "key", "key_line", "marks")

    def __init__(self, container: Any, marks: Any) -> None:
        self.container = container
        self.marks = marks
        self.key: str | None = None  # of a mapping: the key whose value comes next
        self.key_line = 0


class _Stop(Exception):
    """The rest of the file cannot be read; the fault is already reported."""


def parse_documents(text: str, report: Report) -> list[Raw]:
    """The documents of ``text``; what is wrong is told to ``report``. Never raises for any text."""
    builder = _Builder(report)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _Stop:
        pass
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        report(line, (), f"not YAML: {error.problem or error.context}")
    except yaml.YAMLError as error:
        report(_line_of_reader_error(text, error), (), f"not YAML: {getattr(error, 'reason', error)}")
    except (
        ValueError,
        UnicodeError,
    ) as error:  # pragma: no cover - a reader that misses one of its own checks
        report(0, (), f"not YAML: {error}")
    return builder.documents


def _line_of_reader_error(text: str, error: yaml.YAMLError) -> int:
    position = getattr(error, "position", None)
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else 0


class _Builder:
    """Turns events into documents."""

    def __init__(self, report: Report) -> None:
        self.documents: list[Raw] = []
        self._report = report
        self._stack: list[_Frame] = []
        self._nodes = 0
        self._aliases: set[str] = set()

    def take(self, event: Any) -> None:
        """Use one event of the parser."""
        kind = type(event)
        if kind is ev.ScalarEvent:
            self._scalar(event)
        elif kind is ev.MappingStartEvent:
            self._open(event, {}, {})
        elif kind is ev.SequenceStartEvent:
            self._open(event, [], [])
        elif kind is ev.MappingEndEvent or kind is ev.SequenceEndEvent:
            self._stack.pop()
            if self._stack:
                self._stack[-1].key = None
        elif kind is ev.AliasEvent:
            self._alias(event)
            if self._expects_key():
                raise _Stop
            self._put(event, None, None)
        elif kind is ev.DocumentEndEvent:
            self.documents[-1].complete = True
        elif kind is ev.DocumentStartEvent and event.tags:
            self._fault(event, "tag directives are not used in contracts")

    def _loc(self) -> Loc:
        """Where the next node goes: each open mapping's key, each open list's index."""
        loc: list[str | int] = []
        for frame in self._stack:
            if frame.key is not None:
                loc.append(frame.key)
            elif isinstance(frame.container, list):
                loc.append(len(frame.container) - (frame is not self._stack[-1]))
        return tuple(loc)

    def _expects_key(self) -> bool:
        frame = self._stack[-1] if self._stack else None
        return frame is not None and frame.key is None and isinstance(frame.container, dict)

    def _fault(self, event: Any, message: str) -> None:
        self._say(event, self._loc(), message)

    def _say(self, event: Any, loc: Loc, message: str) -> None:
        if self._stack:
            self.documents[-1].spoiled.add(loc)
        self._report(event.start_mark.line + 1, loc, message)

    def _alias(self, event: Any) -> None:
        """An alias: reported once for each name, for a file may hold thousands."""
        if self._stack:
            self.documents[-1].spoiled.add(self._loc())
        if event.anchor not in self._aliases:
            self._aliases.add(event.anchor)
            self._fault(event, f"aliases (*{event.anchor}) are not used in contracts: write the value out")

    def _open(self, event: Any, container: Any, marks: Any) -> None:
        self._decorations(event)
        if len(self._stack) >= MAX_DEPTH:
            self._fault(event, f"nested deeper than {MAX_DEPTH} levels")
            raise _Stop
        if self._expects_key():
            self._fault(event, "a key must be text, not a mapping or list")
            raise _Stop
        self._put(event, container, marks)
        self._stack.append(_Frame(container, marks))

    def _decorations(self, event: Any) -> None:
        if event.anchor:
            self._fault(event, f"anchors (&{event.anchor}) are not used in contracts: write the value out")
        if event.tag:
            self._fault(event, f"tags ({event.tag}) are not used in contracts")

    def _scalar(self, event: Any) -> None:
        if event.anchor or event.tag:
            self._decorations(event)
        value, complaint = _resolve(event.value, plain=not event.style)
        if self._expects_key():
            self._key(event, self._stack[-1], value, complaint)
            return
        if complaint:
            self._fault(event, complaint)
        self._put(event, value, None)

    def _key(self, event: Any, frame: _Frame, value: Any, complaint: str) -> None:
        text: str = event.value
        at = (*self._loc(), text)
        if text == "<<" and not event.style:
            self._say(event, at, "merge keys (<<) are not used in contracts: write the fields out")
        elif complaint or not isinstance(value, str):
            self._say(event, at, f"the key {text[:80]!r} must be text: put it in quotes")
        elif text in frame.container:
            first = frame.marks[text][0]
            self._say(event, at, f"duplicate key {text[:80]!r}: it is already on line {first}")
        frame.key = text
        frame.key_line = event.start_mark.line + 1

    def _put(self, event: Any, value: Any, marks: Any) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._fault(event, f"more than {MAX_NODES} values in one file")
            raise _Stop
        if not self._stack:
            self.documents.append(Raw(value, (event.start_mark.line + 1, marks), set()))
            return
        frame = self._stack[-1]
        if isinstance(frame.container, list):
            frame.container.append(value)
            frame.marks.append((event.start_mark.line + 1, marks))
        else:
            frame.container[frame.key] = value
            frame.marks[frame.key] = (frame.key_line, marks)
            if type(event) is ev.ScalarEvent or type(event) is ev.AliasEvent:
                frame.key = None


def _resolve(text: str, *, plain: bool) -> tuple[Any, str]:
    """The value of a scalar, and what is wrong with it, if anything."""
    if plain and (not text or text[0] in _FIRST):
        value, complaint = _plain(text)
        if not isinstance(value, str):
            return value, complaint
    else:
        complaint = ""
    return text, "text must not contain control characters" if _CONTROL.search(text) else complaint


def _plain(text: str) -> tuple[Any, str]:
    """The value of an unquoted scalar: what YAML 1.2 says, where YAML 1.1 says the same."""
    if text in _NULLS:
        return None, "is empty: write a value, or leave the line out"
    if text in _BOOLEANS:
        return _BOOLEANS[text], ""
    if _INT.fullmatch(text):
        value = int(text) if len(text) < 25 else 1 << 63
        fits = -(1 << 63) <= value < 1 << 63
        return (value, "") if fits else (0, f"the number {text[:40]} does not fit 64 bits")
    if _FLOAT.fullmatch(text):
        number = float(text)
        return (number, "") if math.isfinite(number) else (0.0, f"the number {text[:40]} is not finite")
    if _NOT_FINITE.fullmatch(text):
        return 0.0, f"{text} is not a number that can be compared: leave the bound out"
    if _AMBIGUOUS.fullmatch(text):
        return text, f"{text[:40]} {_TWO_READINGS}"
    return text, ""


def line_at(marks: Marks, loc: Loc) -> int:
    """The line of the place ``loc``, or of the innermost part of it that exists."""
    line, children = marks
    for part in loc:
        try:
            line, children = children[part]
        except (KeyError, IndexError, TypeError):
            break
    return line
