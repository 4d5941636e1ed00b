"""Two interfaces to the same method: a text loop as ReAct agents use it, and tool calls in JSON.

A scripted client writes what an agent would write; the interface reads it, calls the method, and writes back
what came of it. Nothing is passed around the text.
"""

from __future__ import annotations

import json
import re
from typing import Protocol

from studies.methods import Outcome, Request

_ACTION = re.compile(r"^Action:\s*(\w+)(?:\[(\w+)\])?\s*$", re.MULTILINE)
_KINDS = {"claim": "finish", "stop": "give_up", "observe": "look"}
_NAMES = {name: kind for kind, name in _KINDS.items()}


class Interface(Protocol):
    """What both have."""

    name: str

    def write(self, request: Request) -> str:
        """What the scripted agent says."""
        ...

    def read(self, text: str) -> Request:
        """What the interface understands. ValueError where it understands nothing."""
        ...

    def feedback(self, outcome: Outcome) -> str:
        """What it says back."""
        ...


class React:
    """Thought and action in lines of text."""

    name = "ReAct loop"

    def write(self, request: Request) -> str:
        """One turn."""
        target = f"[{request.step}]" if request.step else ""
        return f"Thought: the next thing to do.\nAction: {_KINDS.get(request.kind, 'do')}{target}\n"

    def read(self, text: str) -> Request:
        """The one action of a turn."""
        found = _ACTION.findall(text)
        if len(found) != 1:
            raise ValueError("a turn has exactly one action")
        name, step = found[0]
        return Request(_NAMES.get(name, "run"), step)

    def feedback(self, outcome: Outcome) -> str:
        """An observation, as the loop calls it."""
        return f"Observation: {outcome.what} {' '.join(outcome.codes)}".rstrip() + "\n"


class Tools:
    """Tool calls, as agent frameworks make them."""

    name = "tool calls"

    def write(self, request: Request) -> str:
        """One call."""
        arguments = {"step": request.step} if request.step else {}
        return json.dumps({"tool": _KINDS.get(request.kind, "do"), "arguments": arguments})

    def read(self, text: str) -> Request:
        """The call."""
        try:
            call = json.loads(text)
            return Request(_NAMES.get(call["tool"], "run"), call["arguments"].get("step", ""))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"no tool call: {text!r}") from error

    def feedback(self, outcome: Outcome) -> str:
        """A result object."""
        return json.dumps({"result": outcome.what, "codes": outcome.codes})


INTERFACES: tuple[type[React | Tools], ...] = (React, Tools)
