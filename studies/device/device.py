"""A device whose native state is a set of facts, with units that change them and a monitor that reads them.

The monitor publishes every fact periodically, and reads one when it is asked. Its readings are the only way
to know the state; what the units answer says nothing of it. Between two requests of an agent some seconds
pass, more than a reading stays fresh: so a decision rests on what is true at its time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from studies.device import stopwatch
from studies.device.faults import Rule
from studies.device.log import Log
from studies.inputs import SECOND, Action, Fact, Library, Value

START = 10_000 * SECOND
PERIOD = 2 * SECOND
"""Between two publications of the monitor."""
PACE = 5.0
"""Seconds between two requests of an agent."""
TIMEOUT = 10.0
"""Seconds after which a unit that does not answer has not answered."""
LAG = 3600 * SECOND
"""How far the clock of a sensor with stale readings is behind: more than any contract's greatest age."""
ELSEWHERE = "another_object"


class Sample(NamedTuple):
    """One reading of the monitor."""

    id: str
    route: str  # "provider/route" on which it came
    source: str  # who published it
    subject: str
    path: str
    value: Value
    stamp: int  # by the sensor's clock, ns
    received: int
    fields: tuple[tuple[str, Value], ...]


class Reply(NamedTuple):
    """What comes back from a call: the unit's answer, and the first readings of its facts that followed."""

    response: str  # ok, error (refused: nothing was done), timeout, unavailable
    ended: int  # when that was known, ns
    records: tuple[Sample, ...]


class Device:
    """One device in one run. Time only passes in its methods."""

    def __init__(
        self,
        library: Library,
        log: Log,
        *,
        initial: Mapping[Fact, Value],
        rules: Iterable[Rule] = (),
        fields: Mapping[str, Value] | None = None,
        gone: Iterable[str] = (),
        start: int = START,
    ) -> None:
        """``initial`` names every fact that can be read; ``fields`` are the readings' correlation."""
        self.library, self.log = library, log
        self.state = dict(initial)
        self.rules = tuple(rules)
        self.fields = dict(fields or {})
        self.unavailable: set[str] = set()
        self.news: list[Sample] = []  # readings since the last look
        self.spent = stopwatch.Spent()  # inside the device
        self._faulty: dict[Fact, tuple[str, str]] = {}  # fact: kind of fault, provider that acted
        self._calls: Counter[str] = Counter()
        self._observed: Counter[Fact] = Counter()
        self._routes = {fact: library.route(fact.path) for fact in self.state}
        self._samples = self._count = self._answered = 0
        log.clock = self._next = start
        log.add("initial", state={str(fact): value for fact, value in self.state.items()})
        for provider in gone:
            self._leave(provider)
        self.wait(0)

    @property
    def now(self) -> int:
        """Logical time, ns."""
        return self.log.clock

    def wait(self, seconds: float) -> None:
        """Let time pass; the monitor publishes."""
        begun = stopwatch.read()
        until = self.now + round(seconds * SECOND)
        while self._next <= until:
            self.log.clock = self._next
            self._next += PERIOD
            for fact in self.state:
                self._read(fact, "period")
        self.log.clock = until
        self.spent = self.spent.plus(stopwatch.read().minus(begun))

    def call(self, action: Action, provider: str, request: int, key: str = "") -> Reply:
        """Send an action to a provider. ``request`` is the stream's number, 0 for a method's own idea."""
        begun, before = stopwatch.read(), self.spent
        self._count += 1
        self.log.add(
            "call", call=self._count, request=request, capability=action.capability,
            arguments=dict(action.arguments), provider=provider, key=key,
        )  # fmt: skip
        rule = self._rule(action, provider)
        self._answered = self.now + 10**18  # not yet
        response = self._carry_out(action, provider, rule)
        self.log.add("response", call=self._count, response=response)
        ended = self._answered = self.now
        self.wait((self._next - self.now) / SECOND)
        self._afterwards(rule)
        wanted = {w.fact.path for w in action.sets} if response != "unavailable" else set()
        records = tuple(
            s for s in self.news if s.received > ended and s.path in wanted and self._told(s, action)
        )
        self.spent = before.plus(stopwatch.read().minus(begun))
        return Reply(response, ended, records)

    def _rule(self, action: Action, provider: str) -> Rule | None:
        """The fault of this call. Only calls that a unit can carry out are counted and can go wrong."""
        if provider in self.unavailable or self._unready(action):
            return None
        self._calls[action.capability] += 1
        nth = self._calls[action.capability]
        return next((r for r in self.rules if r.call == action.capability and r.nth in {0, nth}), None)

    def _unready(self, action: Action) -> bool:
        return any(self.state.get(need.fact) != need.value for need in action.needs)

    def _carry_out(self, action: Action, provider: str, rule: Rule | None) -> str:
        self.wait(1)
        if provider in self.unavailable:
            return "unavailable"
        for wanted in action.sets:
            self._faulty.pop(wanted.fact, None)
        if rule is not None and rule.evidence != "normal":
            named = [Fact(*rule.fact.rsplit(".", 1))] if rule.fact else [w.fact for w in action.sets]
            self._faulty |= dict.fromkeys(named, (rule.evidence, provider))
        response = rule.response if rule is not None else "ok"
        if response == "error" or self._unready(action):
            return "error"  # the unit refuses what it cannot do, and says so
        if rule is None or not rule.suppressed:
            for wanted in action.sets:
                self._set(wanted.fact, wanted.value, f"call {self._count}")
        if response == "timeout":
            self.wait(TIMEOUT)
        return response

    def observe(self, facts: Iterable[Fact], by: str, request: int = 0) -> tuple[Sample, ...]:
        """Ask the monitor. ``by`` is "agent" for a request of the stream, else the method's own name.

        A fault of the readings ends when the monitor is asked, unless a rule about observations says
        otherwise.
        """
        self.wait(1)
        begun = stopwatch.read()
        facts = tuple(dict.fromkeys(facts))
        self.log.add("observation", by=by, request=request, facts=[str(fact) for fact in facts])
        records = tuple(s for fact in facts for s in self._observe(fact))
        self.spent = self.spent.plus(stopwatch.read().minus(begun))
        return records

    def _observe(self, fact: Fact) -> list[Sample]:
        self._observed[fact] += 1
        nth = self._observed[fact]
        rule = next((r for r in self.rules if r.observe == str(fact) and r.nth in {0, nth}), None)
        if rule is None or rule.evidence == "normal":
            self._faulty.pop(fact, None)
        found = self._read(fact, "observation")
        self._afterwards(rule)
        return found

    def _afterwards(self, rule: Rule | None) -> None:
        if rule is None:
            return
        for name, value in rule.sets.items():
            self._set(Fact(*name.rsplit(".", 1)), value, "external")
        if rule.unavailable:
            self._leave(rule.unavailable)

    def _leave(self, provider: str) -> None:
        self.unavailable.add(provider)
        self.log.add("availability", provider=provider, available=False)

    def _set(self, fact: Fact, value: Value, cause: str) -> None:
        self.state[fact] = value
        self.log.add("effect", fact=str(fact), value=value, cause=cause)

    def _read(self, fact: Fact, why: str) -> list[Sample]:
        fault, provider = self._faulty.get(fact, ("normal", ""))
        if fault == "missing" or fact not in self.state:
            return []
        self._samples += 1
        route = self._routes[fact]
        value, stamp, fields = self.state[fact], self.now, self.fields
        if fault == "once" and stamp > self._answered:
            self._faulty[fact] = ("missing", provider)
        if fault in {"stale", "replay"}:
            stamp -= LAG
        if fault == "replay" and isinstance(value, bool):  # what was read before the call, sent again
            value = not value
        if fault == "wrong_correlation":
            fields = dict.fromkeys(fields, "another_job")
        sample = Sample(
            f"r{self._samples}", route, provider if fault == "wrong_source" else route.partition("/")[0],
            ELSEWHERE if fault == "wrong_object" else fact.subject, fact.path, value, stamp, self.now,
            tuple(sorted(fields.items())),
        )  # fmt: skip
        self.log.add("sample", why=why, **{**sample._asdict(), "fields": dict(fields)})
        self.news.append(sample)
        return [sample]

    def _told(self, sample: Sample, action: Action) -> bool:
        """Whether a reading comes back as the record of a call: by its subject, or as a mislabelled one."""
        return sample.subject in {*(w.fact.subject for w in action.sets), ELSEWHERE}

    def take_news(self) -> list[Sample]:
        """The readings since the last look, in their order."""
        found, self.news = self.news, []
        return found

    def close(self) -> None:
        """Note the native state at the end, against which the log can be checked."""
        self.log.add("final", state={str(fact): value for fact, value in self.state.items()})
