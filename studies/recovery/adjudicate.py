"""The judge of recovery: replays an episode from the task file, without any code of the product.

One world is played from its beginning with a single agenda of effects and a journal of what came of them; the
public support is every assignment whose replay shows the recorded observations. So neither a belief, nor an
update of one, nor the product's own goal test is trusted (section 6.3 of the recovery paper).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Raw = dict[str, Any]
Assignment = tuple[int, ...]
PROMISES: Raw = {
    "key_lifetime": 0, "undo_key_lifetime": 0, "query": False, "authoritative": True, "final": False,
    "authorization": "acceptance", "enforced": False, "reversible": False,
}  # fmt: skip


@dataclass
class Effect:
    """An effect on the agenda. ``at`` of None: nobody knows when."""

    at: int | None
    operation: int
    number: int
    kind: str
    copies: int
    accepted: int


@dataclass
class Play:
    """One world, played with one list of actions."""

    task: Raw
    chosen: Assignment
    time: int = 0
    fees: int = 0
    agenda: list[Effect] = field(default_factory=list)
    journal: list[tuple[int, int, int]] = field(default_factory=list)  # time, operation, amount after it
    amounts: list[int] = field(default_factory=list)
    breaches: Counter[str] = field(default_factory=Counter)
    accepted: dict[tuple[int, str], int] = field(default_factory=dict)  # what keys are remembered from
    tried: Counter[tuple[int, str]] = field(default_factory=Counter)
    observations: list[Raw] = field(default_factory=list)

    # -- the task, with what its file leaves out -------------------------------------------------------

    def op(self, i: int) -> Raw:
        """One operation."""
        found: Raw = self.task["operations"][i]
        return found

    def promise(self, i: int, name: str) -> Any:
        """What its provider promises."""
        return self.op(i).get("promises", {}).get(name, PROMISES[name])

    def alternative(self, i: int) -> Raw:
        """What really becomes of it."""
        found: Raw = self.op(i).get("alternatives", [{"id": "none"}])[self.chosen[i]]
        return found

    def goal(self, i: int) -> int:
        """Its goal value."""
        return int(self.op(i).get("goal", 1))

    def appends(self, i: int) -> bool:
        """Whether a second write adds a second effect."""
        return bool(self.op(i).get("effect", "append") == "append")

    def before(self, i: int) -> list[int]:
        """What must have its goal value first."""
        names = [o["id"] for o in self.task["operations"]]
        return [names.index(name) for name in self.op(i).get("after", ())]

    def depth(self, i: int) -> int:
        """Length of the longest chain before it."""
        return max((1 + self.depth(j) for j in self.before(i)), default=0)

    # -- playing ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """What lies before recovery."""
        self.amounts = [0] * len(self.task["operations"])
        for i in range(len(self.amounts)):
            for number, past in enumerate(self.alternative(i).get("past", ())):
                kind, at = past.get("kind", "write"), past["commit_at"]
                copies, accepted = past.get("copies", 1), past.get("accepted_at", 0)
                self.agenda.append(Effect(at, i, number, kind, copies, accepted))
                if past.get("keyed", True):
                    self.accepted[i, kind] = max(accepted, self.accepted.get((i, kind), accepted))
        self.run(0)

    def next(self, until: float) -> Effect | None:
        """The next effect that comes by ``until``."""
        due = [e for e in self.agenda if e.at is not None and e.at <= until]
        return min(due, key=self._turn) if due else None

    def _turn(self, e: Effect) -> tuple[Any, ...]:
        return (e.at, self.depth(e.operation), self.op(e.operation)["id"], e.number)

    def run(self, until: float) -> None:
        """Let effects come."""
        while (effect := self.next(until)) is not None:
            self.come(effect)

    def come(self, effect: Effect) -> None:
        """One effect comes."""
        assert effect.at is not None
        i = effect.operation
        self.agenda.remove(effect)
        late = self.too_late(i, effect.accepted, effect.at)
        if late and self.promise(i, "enforced"):
            return
        self.breaches["unauthorized"] += late
        ready = all(self.amounts[j] == self.goal(j) for j in self.before(i))
        there = self.amounts[i]
        if effect.kind == "write":
            self.breaches["dependency"] += not ready
            if self.appends(i):
                self.breaches["duplicate"] += max(0, there + effect.copies - max(1, there))
                self.amounts[i] += effect.copies
            else:
                self.amounts[i] = 1
        else:
            self.breaches["dependency"] += not ready and self.goal(i) == 0
            self.breaches["compensation"] += any(self.present(j) for j in self.behind(i))
            if self.appends(i):
                self.breaches["compensation"] += max(0, effect.copies - there)
                self.amounts[i] = max(0, there - effect.copies)
            else:
                self.amounts[i] = 0
        self.journal.append((effect.at, i, self.amounts[i]))

    def behind(self, i: int) -> list[int]:
        """What comes after it."""
        return [j for j in range(len(self.amounts)) if i in self.before(j)]

    def present(self, i: int) -> bool:
        """Whether its effect is there or under way."""
        under_way = any(e.operation == i and e.kind == "write" for e in self.agenda)
        return self.amounts[i] > 0 or under_way

    def too_late(self, i: int, accepted: int, at: int) -> bool:
        """Whether an effect is not authorized any more."""
        until = self.op(i).get("authorized_until")
        moment = accepted if self.promise(i, "authorization") == "acceptance" else at
        return until is not None and moment >= until

    def visible(self, i: int, now: int) -> tuple[int, bool]:
        """What an answer says at ``now``, and whether that is the last word."""
        delay = self.alternative(i).get("visible_after", 0)
        changes = [(at + delay, amount) for at, which, amount in self.journal if which == i]
        shown = [amount for at, amount in changes if at <= now]
        under_way = any(e.operation == i for e in self.agenda)
        return (shown[-1] if shown else 0), not under_way and len(shown) == len(changes)

    def act(self, action: Raw) -> None:
        """One action of the controller."""
        kind = action["kind"]
        spent, i = self.expense(action), self.place(action)
        begun, self.time = self.time, self.time + spent["duration"]
        self.fees += spent["fee"]
        seen = {"kind": kind, "operation": "", "request": "", "time": self.time, "status": "elapsed",
                "amount": -1, "final": -1}  # fmt: skip
        if kind in ("write", "undo"):
            seen["status"] = self.attempt(i, kind, begun)
        self.run(self.time)
        if i >= 0:
            seen["operation"], seen["request"] = self.op(i)["id"], self.op(i).get("key") or self.op(i)["id"]
        if kind == "query":
            seen["status"] = "answered" if self.promise(i, "authoritative") else "unusable"
            if seen["status"] == "answered":
                seen["amount"], last = self.visible(i, self.time)
                seen["final"] = int(last) if self.promise(i, "final") else -1
        self.observations.append(seen)

    def attempt(self, i: int, kind: str, now: int) -> str:
        """A request reaches the provider; the reply."""
        life = self.promise(i, "key_lifetime" if kind == "write" else "undo_key_lifetime")
        kept = self.accepted.get((i, kind))
        if life and kept is not None and now - kept < life:
            return "known"
        if self.promise(i, "enforced") and self.too_late(i, now, now):
            return "failed"
        outcomes = self.alternative(i).get("writes" if kind == "write" else "undos", [{}])
        outcome = outcomes[min(self.tried[i, kind], len(outcomes) - 1)]
        self.tried[i, kind] += 1
        if outcome.get("ok", True):
            number = 1 + max((e.number for e in self.agenda if e.operation == i), default=-1)
            at = now + outcome.get("delay", 0)
            self.agenda.append(Effect(at, i, number, kind, outcome.get("copies", 1), now))
            self.accepted[i, kind] = now
        reply: str = outcome.get("reply", "done")
        return reply

    def place(self, action: Raw) -> int:
        """The operation of an action; -1 where it has none."""
        names = [o["id"] for o in self.task["operations"]]
        return names.index(action["operation"]) if action["kind"] in ("query", "write", "undo") else -1

    def expense(self, action: Raw) -> Raw:
        """Fee and duration of an action."""
        kind = action["kind"]
        if kind == "hand_over":
            given = self.task.get("hand_over", {"fee": 1, "duration": 0})
        elif kind == "wait":
            given = self.task.get("waits", [{"fee": 0, "duration": 1}])[action["which"]]
        else:
            given = self.op(self.place(action)).get(kind, {})
        return {"fee": 1, "duration": 1, **given}

    # -- judging ---------------------------------------------------------------------------------------

    def good(self) -> bool:
        """Whether every operation has its goal value."""
        return all(amount == self.goal(i) for i, amount in enumerate(self.amounts))

    def lasting(self) -> bool:
        """Whether the goal holds now and through everything still to come, with no breach and no unknown."""
        if any(e.at is None for e in self.agenda):
            return False
        while True:
            if not self.good() or any(self.breaches.values()):
                return False
            effect = self.next(math.inf)
            if effect is None:
                return True
            self.come(effect)


def play(task: Raw, chosen: Assignment, actions: list[Raw]) -> Play:
    """The world of one assignment after these actions."""
    world = Play(task, chosen)
    world.begin()
    for action in actions:
        world.act(action)
    return world


def support(task: Raw) -> list[tuple[Assignment, int]]:
    """Every assignment with its weight, from the file."""
    listed = [o.get("alternatives", [{"id": "none"}]) for o in task["operations"]]
    if task.get("support"):
        places = [{a["id"]: i for i, a in enumerate(each)} for each in listed]
        return [
            (tuple(p[n] for p, n in zip(places, m["alternatives"], strict=True)), m.get("weight", 1))
            for m in task["support"]
        ]
    return [
        (tuple(chosen), math.prod(each[i].get("weight", 1) for each, i in zip(listed, chosen, strict=True)))
        for chosen in itertools.product(*(range(len(each)) for each in listed))
    ]


@dataclass(frozen=True)
class Judgement:
    """What really came of an episode, and what its public history supports."""

    replayed: bool  # the recorded observations and costs are what the assignment gives
    certified: bool  # every assignment that explains them is complete for good
    goal: bool  # the goal really held at the deadline
    violations: int  # in the whole history, late effects included
    introduced: int  # of those, beyond what would have happened anyway
    unknown: bool  # an effect of unknown time is left
    fees: int
    actions: int
    time: int

    @property
    def safe_completion(self) -> bool:
        """Certified, and nothing was violated."""
        return self.certified and self.replayed and not self.violations


def judge(task: Raw, chosen: Assignment, actions: list[Raw], observations: list[Raw]) -> Judgement:
    """The judgement of one recorded episode."""
    real = play(task, chosen, actions)
    alike = [play(task, c, actions) for c, _ in support(task)]
    alike = [world for world in alike if world.observations == observations]
    over = any(action["kind"] == "hand_over" for action in actions) or not within_numbers(task, actions)
    within = (
        real.time <= task["deadline"] and real.fees <= task["fees"] and len(actions) <= task["actions"]
    )  # fmt: skip
    at_deadline = play(task, chosen, actions)
    at_deadline.run(max(task["deadline"], at_deadline.time))
    time, fees = real.time, real.fees
    anyway = settled(play(task, chosen, [])).breaches
    breaches = settled(real).breaches
    return Judgement(
        replayed=real.observations == observations,
        certified=bool(alike) and within and not over and all(world.lasting() for world in alike),
        goal=at_deadline.good(),
        violations=sum(breaches.values()),
        introduced=sum(max(0, breaches[kind] - anyway[kind]) for kind in breaches),
        unknown=any(e.at is None for e in real.agenda),
        fees=fees,
        actions=len(actions),
        time=time,
    )


def within_numbers(task: Raw, actions: list[Raw]) -> bool:
    """Whether no kind of action, and no operation's writes, were more than the task approves."""
    kinds = Counter(action["kind"] for action in actions)
    writes = Counter(action["operation"] for action in actions if action["kind"] == "write")
    listed = [("write", task.get("writes")), ("query", task.get("queries"))]
    return all(most is None or kinds[kind] <= most for kind, most in listed) and all(
        op.get("attempts") is None or writes[op["id"]] <= op["attempts"] for op in task["operations"]
    )


def settled(world: Play) -> Play:
    """The same world, once everything has come that has a time."""
    world.run(math.inf)
    return world
