"""One possible world, and how it goes on: pending effects in order of time, and one action.

    events are taken in the order (time, dependency order of the operation, number of the event)
    write    violates  authorization  iff it is accepted, or takes effect, too late (and nobody enforces it)
                       dependency     iff an earlier operation does not have its goal value at that moment
                       duplicate      for each effect of an append beyond the first
    undo     violates  compensation   iff an operation that comes after has its effect, or has it under way,
                                      or there is nothing to take back of what appends
                       dependency     as a write does, where the goal is that the effect be absent

A world holds small integers only: it is a key of caches, and there are thousands of them (sections 3.3, 3.4).
"""

from __future__ import annotations

from functools import lru_cache
from graphlib import TopologicalSorter
from typing import NamedTuple

from adf_ea_ros.recovery.model import (
    LIMIT,
    Action,
    ActionKind,
    Alternative,
    Authorization,
    EffectClass,
    EventKind,
    Operation,
    Reply,
    Task,
    expense,
)

NEVER = LIMIT
"""The time of an effect of which no time is known: later than any that can be waited for."""
FORGOTTEN = -LIMIT
"""The time of a key that the provider does not remember."""
WRITE, UNDO = 0, 1
BREACHES = ("unauthorized", "duplicate", "dependency", "compensation")
Counts = tuple[int, int, int, int]
"""Violations, or hazards of one, by kind."""
NONE: Counts = (0, 0, 0, 0)


class Event(NamedTuple):
    """An accepted request whose effect is still to come."""

    at: int
    number: int  # of the requests under way on one target
    kind: int
    copies: int
    accepted: int


class Thing(NamedTuple):
    """One operation's target in one world."""

    alternative: int
    amount: int = 0  # of the effect
    shown: int = 0  # what an answer says
    showing: tuple[tuple[int, int], ...] = ()  # (time, amount) that answers will say
    key: int = FORGOTTEN
    undo_key: int = FORGOTTEN
    writes: int = 0  # position in the sequence of outcomes
    undos: int = 0
    tried: int = 0  # writes that were sent, where the operation approves only so many
    pending: tuple[Event, ...] = ()


class World(NamedTuple):
    """Everything that is hidden: the targets, and the violations so far."""

    things: tuple[Thing, ...]
    breaches: Counts = NONE


class Observation(NamedTuple):
    """The complete public observation of an action. Two of them match in everything or not at all."""

    kind: str
    operation: str
    request: str  # key, or the operation's name: what the answer is bound to
    time: int
    status: str
    amount: int = -1  # -1: not told
    final: int = -1  # 1: nothing is still to come; -1: not told


class Frame:
    """A checked task with what follows from it once: order, neighbours, and the caches of its worlds."""

    def __init__(self, task: Task) -> None:
        """``task`` has passed ``check.check``."""
        self.task = task
        self.operations = task.operations
        self.index = {op.id: i for i, op in enumerate(task.operations)}
        self.before = tuple(tuple(self.index[n] for n in op.after) for op in task.operations)
        self.behind = tuple(
            tuple(j for j, names in enumerate(self.before) if i in names)
            for i in range(len(task.operations))
        )  # fmt: skip
        self.order = self._order()
        self.rank = {i: rank for rank, i in enumerate(self.order)}
        self.settled = lru_cache(maxsize=1 << 16)(self._settle)
        self.stable = lru_cache(maxsize=1 << 16)(self._stable)
        self.met_in_time = lru_cache(maxsize=1 << 16)(self._met_in_time)

    def _order(self) -> tuple[int, ...]:
        """Dependency order; what is free in it goes by name."""
        sorter = TopologicalSorter(dict(enumerate(self.before)))
        sorter.prepare()
        order: list[int] = []
        while sorter.is_active():
            ready = sorted(sorter.get_ready(), key=lambda i: self.operations[i].id)
            order += ready
            sorter.done(*ready)
        return tuple(order)

    def alternative(self, i: int, thing: Thing) -> Alternative:
        """What the world has in store for an operation."""
        return self.operations[i].alternatives[thing.alternative]

    # -- time ------------------------------------------------------------------------------------------

    def due(self, world: World, until: int) -> tuple[int, Event] | None:
        """The next effect that comes by ``until``, with its operation."""
        found = [
            (event.at, self.rank[i], event.number, i, event)
            for i, thing in enumerate(world.things)
            for event in thing.pending
            if event.at <= until
        ]
        return min(found)[3:] if found else None

    def advance(self, world: World, until: int) -> World:
        """The world at ``until``, without anybody acting."""
        while (found := self.due(world, until)) is not None:
            world = self.commit(world, *found)
        things = tuple(
            _shown(self.operations[i], t, until)
            if t.showing or t.key != FORGOTTEN or t.undo_key != FORGOTTEN
            else t
            for i, t in enumerate(world.things)
        )
        return World(things, world.breaches)

    def _settle(self, world: World) -> World:
        """After every effect that has a time."""
        while (found := self.due(world, NEVER - 1)) is not None:
            world = self.commit(world, *found)
        return world

    def _stable(self, world: World) -> bool:
        """Whether the goal holds now and after each effect to come, no violation ever, no sentinel."""
        while True:
            if world.breaches != NONE or not self.met(world) or _unknown(world):
                return False
            found = self.due(world, NEVER - 1)
            if found is None:
                return True
            world = self.commit(world, *found)

    def met(self, world: World) -> bool:
        """G(s): every operation has its goal value."""
        return all(t.amount == op.goal for t, op in zip(world.things, self.operations, strict=True))

    def _met_in_time(self, world: World) -> int:
        """How many operations have their goal value at the deadline, by what is under way already."""
        then = self.advance(world, self.task.deadline).things
        return sum(t.amount == op.goal for t, op in zip(then, self.operations, strict=True))

    # -- effects ---------------------------------------------------------------------------------------

    def commit(self, world: World, i: int, event: Event) -> World:
        """The world after one effect that was under way."""
        things, op = list(world.things), self.operations[i]
        thing = things[i]
        left = tuple(e for e in thing.pending if e.number != event.number)
        late = _late(op, event.accepted, event.at)
        if late and op.promises.enforced:
            things[i] = thing._replace(pending=left)
            return World(tuple(things), world.breaches)
        unmet = any(things[j].amount != self.operations[j].goal for j in self.before[i])
        appends = op.effect is EffectClass.APPEND
        duplicate = compensation = dependency = 0
        if event.kind == WRITE:
            dependency = int(unmet)
            if appends:
                duplicate = event.copies - (thing.amount == 0)
            amount = thing.amount + event.copies if appends else 1
        else:
            dependency = int(unmet and op.goal == 0)
            compensation = int(any(_there(things[j]) for j in self.behind[i]))
            compensation += max(0, event.copies - thing.amount) if appends else 0
            amount = max(0, thing.amount - event.copies) if appends else 0
        showing = (*thing.showing, (event.at + self.alternative(i, thing).visible_after, amount))
        things[i] = thing._replace(amount=amount, pending=left, showing=showing)
        added = (int(late), duplicate, dependency, compensation)
        return World(tuple(things), _sum(world.breaches, added))

    # -- actions ---------------------------------------------------------------------------------------

    def step(self, world: World, action: Action, now: int) -> tuple[World, Observation]:
        """The world after an action that begins at ``now``, and what is seen of it."""
        after = now + expense(self.task, action).duration
        if action.kind in (ActionKind.WAIT, ActionKind.HAND_OVER):
            seen = Observation(action.kind.value, "", "", after, "elapsed")
            return self.advance(world, after), seen
        op, i = self.operations[action.subject], action.subject
        if action.kind is ActionKind.QUERY:
            world = self.advance(world, after)
            return world, _answer(op, world.things[i], after)
        kind = WRITE if action.kind is ActionKind.WRITE else UNDO
        thing, reply = self._attempt(i, world.things[i], kind, now)
        things = (*world.things[:i], thing, *world.things[i + 1 :])
        seen = Observation(action.kind.value, op.id, op.key or op.id, after, reply.value)
        return self.advance(World(things, world.breaches), after), seen

    def _attempt(self, i: int, thing: Thing, kind: int, now: int) -> tuple[Thing, Reply]:
        """A request that reaches the provider at ``now``, or does not."""
        op, alternative = self.operations[i], self.alternative(i, thing)
        if kind == WRITE:
            thing = thing._replace(tried=thing.tried + 1) if op.attempts is not None else thing
            kept, life = thing.key, op.promises.key_lifetime
            outcomes, position = alternative.writes, thing.writes
        else:
            kept, life = thing.undo_key, op.promises.undo_key_lifetime
            outcomes, position = alternative.undos, thing.undos
        if kept != FORGOTTEN:  # ``_shown`` lets it be forgotten in time
            return thing, Reply.KNOWN
        if op.promises.enforced and _late(op, now, now):
            return thing, Reply.FAILED
        outcome = outcomes[position]
        then = min(position + 1, len(outcomes) - 1)
        pending, key = thing.pending, kept
        if outcome.ok:
            number = 1 + max((event.number for event in pending), default=-1)
            pending = (*pending, Event(now + outcome.delay, number, kind, outcome.copies, now))
            key = now if life else FORGOTTEN
        if kind == WRITE:
            return thing._replace(writes=then, key=key, pending=pending), outcome.reply
        return thing._replace(undos=then, undo_key=key, pending=pending), outcome.reply


def begin(frame: Frame, chosen: tuple[int, ...]) -> World:
    """The world at 0 if these alternatives are the real ones: what lies before is played in its order."""
    things = []
    for op, which in zip(frame.operations, chosen, strict=True):
        past = op.alternatives[which].past
        pending = tuple(
            Event(
                NEVER if p.commit_at is None else p.commit_at,
                number,
                WRITE if p.kind is EventKind.WRITE else UNDO,
                p.copies,
                p.accepted_at,
            )
            for number, p in enumerate(past)
        )
        keys = {
            kind: max((p.accepted_at for p in past if p.keyed and p.kind is kind), default=FORGOTTEN)
            for kind in EventKind
        }
        key = keys[EventKind.WRITE] if op.promises.key_lifetime else FORGOTTEN
        undo_key = keys[EventKind.UNDO] if op.promises.undo_key_lifetime else FORGOTTEN
        things.append(Thing(which, key=key, undo_key=undo_key, pending=pending))
    return frame.advance(World(tuple(things)), 0)


def _answer(op: Operation, thing: Thing, now: int) -> Observation:
    about = (ActionKind.QUERY.value, op.id, op.key or op.id, now)
    if not op.promises.authoritative:
        return Observation(*about, "unusable")
    final = int(not thing.pending and not thing.showing) if op.promises.final else -1
    return Observation(*about, "answered", thing.shown, final)


def _shown(op: Operation, thing: Thing, now: int) -> Thing:
    """What answers say at ``now``, and which keys are remembered then."""
    changes: dict[str, object] = {}
    due = [amount for at, amount in thing.showing if at <= now]
    if due:
        changes = {"shown": due[-1], "showing": thing.showing[len(due) :]}
    if thing.key != FORGOTTEN and now >= thing.key + op.promises.key_lifetime:
        changes["key"] = FORGOTTEN
    if thing.undo_key != FORGOTTEN and now >= thing.undo_key + op.promises.undo_key_lifetime:
        changes["undo_key"] = FORGOTTEN
    return thing._replace(**changes) if changes else thing  # type: ignore[arg-type]


def _late(op: Operation, accepted: int, at: int) -> bool:
    moment = accepted if op.promises.authorization is Authorization.ACCEPTANCE else at
    return op.authorized_until is not None and moment >= op.authorized_until


def _there(thing: Thing) -> bool:
    return thing.amount > 0 or any(event.kind == WRITE for event in thing.pending)


def _unknown(world: World) -> bool:
    return any(event.at == NEVER for thing in world.things for event in thing.pending)


def _sum(one: Counts, other: Counts) -> Counts:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3])
