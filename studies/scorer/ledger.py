"""What a log adds up to at each moment: native state, readings, calls, budgets, who is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from studies.inputs import Action, Fact, Library, Task, Value, Wanted

Event = dict[str, Any]


class Inconsistent(ValueError):
    """The log contradicts itself: no score can be given."""


@dataclass
class Call:
    """One dispatch as the log tells of it."""

    number: int
    request: int
    action: Action
    provider: str
    sent: int
    ended: int = -1
    response: str = ""
    retry_of: int = 0


@dataclass
class Account:
    """The books of one run, entered event by event."""

    library: Library
    task: Task
    now: int = 0
    native: dict[Fact, Value] = field(default_factory=dict)
    touched: dict[Fact, int] = field(default_factory=dict)  # when a call that sets the fact ended
    samples: list[Event] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    retries: dict[Any, int] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # preserved facts that were otherwise at some time

    def enter(self, event: Event) -> None:
        """Take in one event."""
        if event["t"] < self.now:
            raise Inconsistent(f"time goes back at {event}")
        self.now = event["t"]
        handler = getattr(self, f"_{event['kind']}", None)
        if handler is not None:
            handler(event)

    def _initial(self, event: Event) -> None:
        self.native = {_fact(name): value for name, value in event["state"].items()}

    def _effect(self, event: Event) -> None:
        fact = _fact(event["fact"])
        if fact not in self.native:
            raise Inconsistent(f"an effect on {fact}, which the device does not have")
        cause = str(event["cause"])
        if cause.startswith("call ") and not any(c.number == int(cause[5:]) for c in self.calls):
            raise Inconsistent(f"an effect of {cause}, which was never made")
        self.native[fact] = event["value"]
        self.broken |= {
            goal.name
            for goal in self.task.goals
            if goal.kind == "preserve" and goal.wanted.fact == fact and goal.wanted.value != event["value"]
        }

    def _call(self, event: Event) -> None:
        action = self.library.action(event["capability"], event["arguments"])
        self.calls.append(Call(event["call"], event["request"], action, event["provider"], self.now))
        self.touched |= {wanted.fact: self.now for wanted in action.sets}

    def _response(self, event: Event) -> None:
        call = next(c for c in self.calls if c.number == event["call"])
        call.ended, call.response = self.now, event["response"]
        self.touched |= {wanted.fact: self.now for wanted in call.action.sets}

    def _sample(self, event: Event) -> None:
        self.samples.append(event)

    def _availability(self, event: Event) -> None:
        (self.gone.discard if event["available"] else self.gone.add)(event["provider"])

    def _final(self, event: Event) -> None:
        stated = {_fact(name): value for name, value in event["state"].items()}
        if stated != self.native:
            raise Inconsistent("the native events do not lead to the native state")

    # -- evidence --------------------------------------------------------------------------------------

    def eligible(self, wanted: Wanted, after: int, actor: str = "") -> Iterator[Event]:
        """The readings that may show a fact: from its route and source, of its subject, type and job, in
        time.
        """
        for sample in self.samples:
            owner = sample["route"].partition("/")[0]
            if (
                sample["route"] in wanted.routes
                and sample["source"] == owner
                and (not wanted.independent or owner != actor)
                and (sample["subject"], sample["path"]) == wanted.fact
                and type(sample["value"]) is type(wanted.value)
                and after < sample["stamp"] <= sample["received"] <= self.now
                and self.now - sample["stamp"] <= wanted.max_age
                and all(sample["fields"].get(name) == value for name, value in wanted.match)
            ):
                yield sample

    def known(self, wanted: Wanted) -> bool | None:
        """Whether a fact has the wanted value now, by the newest qualified reading; None: nothing says."""
        return self.latest(wanted, self.touched.get(wanted.fact, -1))

    def latest(self, wanted: Wanted, after: int, actor: str = "") -> bool | None:
        """What the newest ``wanted.needed`` readings after a time agree on."""
        found = sorted(self.eligible(wanted, after, actor), key=lambda s: s["stamp"])[-wanted.needed :]
        values = {sample["value"] == wanted.value for sample in found}
        return values.pop() if len(found) == wanted.needed and len(values) == 1 else None

    def outcome(self, call: Call) -> bool | None:
        """What evidence has ever shown of a call's effects: all there, some absent and none seen, or
        nothing.
        """
        shown = [self._ever(call, wanted) for wanted in call.action.sets]
        if all(each is True for each in shown):
            return True
        if any(each is False for each in shown) and all(each is not True for each in shown):
            return False
        return None

    def _ever(self, call: Call, wanted: Wanted) -> bool | None:
        later = (c for c in self.calls if c.number > call.number and c.action.key == call.action.key)
        until = min((c.sent for c in later), default=self.now + 1)
        after = call.ended if call.ended >= 0 else call.sent
        values = [
            s["value"] == wanted.value
            for s in self.eligible(wanted._replace(max_age=self.now), after, call.provider)
            if s["stamp"] < until
        ]
        if not values:
            return None
        return any(values)

    def previous(self, action: Action) -> Call | None:
        """The latest call with the same meaning that reached a unit: one to an absent unit left nothing in
        doubt.
        """
        return next((c for c in reversed(self.reached()) if c.action.key == action.key), None)

    def reached(self) -> list[Call]:
        """The calls that got to a unit."""
        return [call for call in self.calls if call.response != "unavailable"]

    def unresolved(self) -> list[Call]:
        """The latest call of each meaning, where evidence has not shown its effects."""
        latest = {call.action.key: call for call in self.reached()}.values()
        return [call for call in latest if self.outcome(call) is not True]


def _fact(name: str) -> Fact:
    subject, _, path = name.rpartition(".")
    return Fact(subject, path)
