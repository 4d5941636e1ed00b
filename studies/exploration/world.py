"""A small world in discrete time: commands that act or do not, an environment that interferes, honest
sensors.

At most one thing changes at each tick, so that what a fact was at a time is well defined. The sensors obey
the assumptions of section 3.5 and no more: what they show was true when it was sampled (A2), and what the
environment changed is shown to the next decision that asks about it (A3). Everything else may be lost, old,
contradictory, or about something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from adf_ea_ros.authority.model import Attempt, EffectKind, Operation
from adf_ea_ros.authority.questions import Question
from adf_ea_ros.contracts.conditions import Condition, Ns, Value
from adf_ea_ros.evidence.types import Finding, Verdict

Fact = tuple[str, str]
REMEMBERED = 4
"""How many past ticks the world can be asked about; more than any evidence in the models may be old."""


@dataclass(frozen=True)
class Command:
    """What a provider was told. ``left``: effects that may still take place, before ``until``."""

    attempt: str
    left: tuple[tuple[Fact, Value], ...]
    until: Ns
    final: bool  # an answer ends it
    accepted: bool = False
    ended: bool = False


@dataclass(frozen=True)
class TinyWorld:
    """The physical side of a model. Moves return a new world."""

    now: Ns
    facts: tuple[tuple[Fact, Value], ...]
    past: tuple[tuple[tuple[Fact, Value], ...], ...] = ()  # facts at now-1, now-2, ...
    commands: tuple[Command, ...] = ()
    events: tuple[tuple[str, Fact, Ns], ...] = ()  # attempt, fact, when
    unseen: frozenset[Fact] = frozenset()  # changed by the environment, and not yet shown to any decision
    sampled: frozenset[Fact] = (
        frozenset()
    )  # shown as they are now: an older sample cannot be the newest any more
    watched: tuple[Condition, ...] = ()  # preserved conditions
    happenings: frozenset[Fact] = frozenset()  # facts of events: when they happened is remembered
    broken: frozenset[Condition] = frozenset()
    interference: int = 0  # how often the environment may still interfere

    # -- what the checker asks -------------------------------------------------------------------------

    def value(self, fact: Fact, time: Ns) -> Any:
        """The value of a fact at ``time``."""
        ago = min(self.now - time, len(self.past))
        facts = self.facts if ago <= 0 else self.past[ago - 1]
        return dict(facts).get(fact)

    def happened(self, attempt: str, fact: Fact, time: Ns) -> bool:
        """Whether the attempt changed the fact by ``time``."""
        return any(a == attempt and f == fact and t <= time for a, f, t in self.events)

    def to_come(self, attempt: str, _: Ns) -> tuple[tuple[Fact, object], ...]:
        """What the attempt may still do: the future is open."""
        return next((c.left for c in self.commands if c.attempt == attempt), ())

    def broke(self, condition: Any, since: Ns, until: Ns) -> bool:  # noqa: ARG002
        """Whether a watched condition was ever false."""
        return any(c.subject == condition["subject"] and c.path == condition["path"] for c in self.broken)

    # -- moves -----------------------------------------------------------------------------------------

    def tick(self, fact: Fact | None = None, value: Value = False, by: str = "") -> TinyWorld:
        """One tick, with at most one change: by an attempt, or by the environment."""
        facts, events, unseen, commands = self.facts, self.events, self.unseen, self.commands
        now = self.now + 1
        if fact is not None:
            facts = tuple((f, value if f == fact else v) for f, v in facts)
            if by:
                events = (*events, (by, fact, now))
                commands = tuple(
                    replace(c, left=tuple(e for e in c.left if e[0] != fact)) if c.attempt == by else c
                    for c in commands
                )
            else:
                unseen |= {fact}
        known = dict(facts)
        return replace(
            self,
            now=now,
            facts=facts,
            sampled=frozenset(),
            past=(self.facts, *self.past[: REMEMBERED - 1]),
            events=events,
            unseen=unseen,
            commands=tuple(replace(c, left=()) if now + 1 > c.until and c.left else c for c in commands),
            broken=self.broken | {c for c in self.watched if c.test(known[c.fact]) is not True},
            interference=self.interference - (fact is not None and not by),
        )

    def send(self, attempt: Attempt, operation: Operation) -> TinyWorld:
        """Hand a dispatched attempt to its provider."""
        effects = tuple((e.condition.fact, e.condition.clauses[0].bound) for e in operation.effects)
        until = attempt.dispatched + attempt.promises.commit_bound
        final = attempt.promises.final_on_result
        return replace(self, commands=(*self.commands, Command(attempt.id, effects, until, final)))

    def forgotten(self) -> TinyWorld:
        """Nobody asks after the commands of an episode that ended with all of them done: their answers say
        nothing to the next one. What they did stays.
        """
        return replace(self, commands=())

    def command(self, attempt: str) -> Command:
        """The command of an attempt."""
        return next(c for c in self.commands if c.attempt == attempt)

    def answered(
        self, attempt: str, *, dead: bool = False, accepted: bool = False, ended: bool = False
    ) -> TinyWorld:
        """The provider's side of an answer: ``dead`` means that it never executes anything of it."""

        def change(c: Command) -> Command:
            over = dead or (ended and c.final)
            return replace(
                c,
                left=() if over else c.left,
                accepted=c.accepted or accepted,
                ended=c.ended or ended or dead,
            )

        return replace(self, commands=tuple(change(c) if c.attempt == attempt else c for c in self.commands))

    # -- sensors ---------------------------------------------------------------------------------------

    def answer(
        self, question: Question, kind: EffectKind, key: tuple[str, ...], max_age: Ns, mode: str
    ) -> Finding:
        """A finding on one question. ``mode`` says what the sensors are up to; A2 and A3 overrule it.

        ``key`` holds the attempts whose doing counts, where the question is about an event.
        """
        condition, name = question.requirement.condition, question.requirement.id
        if condition.fact in self.unseen or (mode == "old" and condition.fact in self.sampled):
            mode = "fresh"
        if mode == "old" and not self.past:
            mode = "none"
        if mode in {"fresh", "old"}:
            captured = self.now - (mode == "old")
            if kind is EffectKind.EVENT:
                true = any(self.happened(attempt, condition.fact, captured) for attempt in key)
            else:
                true = condition.test(self.value(condition.fact, captured)) is True
            return Finding(
                name,
                condition,
                Verdict.SATISFIED if true else Verdict.UNSATISFIED,
                self.now,
                not true,
                captured,
                captured + max_age,
                (f"o{captured}",),
                support=int(true),
                against=int(not true),
            )
        if mode == "doubt":
            return Finding(name, condition, Verdict.UNKNOWN, self.now, False, self.now, -1, ("o1", "o2"))
        if (
            mode == "wrong"
        ):  # a sample of something else: it fails a required match and says nothing of the effect
            valid = self.now + max_age
            return Finding(name, condition, Verdict.UNSATISFIED, self.now, False, self.now, valid, ("o3",))
        if mode == "hollow":  # satisfied on nothing
            valid = self.now + max_age
            return Finding(name, condition, Verdict.SATISFIED, self.now, False, self.now, valid, ())
        if mode == "broken":
            return Finding(
                name,
                condition,
                Verdict.SATISFIED,
                self.now,
                False,
                self.now,
                self.now + max_age,
                ("o4",),
                integrity="E.identity: one id, two contents",
            )
        return Finding(name, condition, Verdict.INSUFFICIENT_EVIDENCE, self.now, reasons=("E.none",))

    def shown(self, facts: set[Fact], *, fresh: bool) -> TinyWorld:
        """A decision was told of these facts: of the environment's changes in any case, ``fresh`` of all."""
        news = (facts if fresh else facts & self.unseen) - self.sampled
        if not news and not self.unseen & facts:
            return self
        return replace(self, unseen=self.unseen - facts, sampled=self.sampled | news)
