"""Whether a task can be represented: every fault with the place where it is (section 5.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec

from adf_ea_ros.recovery.model import (
    LIMIT,
    OPERATIONS,
    SUPPORT,
    Alternative,
    EventKind,
    Expense,
    ModelError,
    Operation,
    Outcome,
    Past,
    Reply,
    Task,
)


def load(raw: Any) -> Task:
    """A task from plain values, as JSON or YAML gives them.

    Raises:
        ModelError: it is not a task, or not one that this profile can represent.
    """
    try:
        task = msgspec.convert(raw, Task)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        raise ModelError(place.rstrip("`").lstrip(".") or "task", problem) from None
    return check(task)


def check(task: Task) -> Task:
    """The task itself.

    Raises:
        ModelError: naming the first field that is not as it must be.
    """
    for field, problem in _faults(task):
        raise ModelError(field, problem)
    return task


def _faults(task: Task) -> Iterator[tuple[str, str]]:
    if not task.id:
        yield "id", "is empty"
    if not 1 <= len(task.operations) <= OPERATIONS:
        yield "operations", f"there are {len(task.operations)}; a task has 1 to {OPERATIONS}"
    for name in ("deadline", "fees", "actions"):
        yield from _number(name, getattr(task, name), 0)
    for name in ("writes", "queries"):
        yield from _number(name, getattr(task, name) or 0, 0)
    yield from _number("tie", task.tie, 1)
    for place, wait in _each("waits", task.waits):
        yield from _expense(place, wait)
        yield from _number(f"{place}.duration", wait.duration, 1)
    yield from _expense("hand_over", task.hand_over)
    yield from _unique("operations[].id", [o.id for o in task.operations], "two operations are")
    yield from _unique("operations[].target", [o.target for o in task.operations], "two operations change")
    yield from _unique("operations[].key", [o.key for o in task.operations if o.key], "two operations use")
    for place, operation in _each("operations", task.operations):
        yield from _operation(place, operation, {o.id for o in task.operations})
    yield from _order(task)
    yield from _support(task)


def _each(name: str, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"{name}[{i}]", value) for i, value in enumerate(values))


def _number(field: str, value: int, least: int) -> Iterator[tuple[str, str]]:
    if not least <= value < LIMIT:
        yield field, f"{value} is not a number from {least} to below 2**62"


def _expense(place: str, spent: Expense) -> Iterator[tuple[str, str]]:
    yield from _number(f"{place}.fee", spent.fee, 0)
    yield from _number(f"{place}.duration", spent.duration, 0)


def _unique(field: str, values: Sequence[str], what: str) -> Iterator[tuple[str, str]]:
    for value in values:
        if values.count(value) > 1:
            yield field, f"{what} {value!r}"


def _operation(place: str, op: Operation, known: set[str]) -> Iterator[tuple[str, str]]:
    if not op.id or not op.id.isascii():
        yield f"{place}.id", f"{op.id!r} is not an ASCII name"
    if op.goal not in (0, 1):
        yield f"{place}.goal", f"{op.goal} is neither 0 nor 1"
    if op.goal == 0 and not op.promises.reversible:
        yield f"{place}.goal", "0 asks for something to be taken back that is not reversible"
    for name in op.after:
        if name not in known:
            yield f"{place}.after", f"there is no operation {name!r}"
    for name in ("write", "undo", "query"):
        yield from _expense(f"{place}.{name}", getattr(op, name))
    if op.authorized_until is not None:
        yield from _number(f"{place}.authorized_until", op.authorized_until, 1 - LIMIT)
    yield from _number(f"{place}.attempts", op.attempts or 0, 0)
    yield from _promises(f"{place}.promises", op)
    if not op.alternatives:
        yield f"{place}.alternatives", "there is none"
    yield from _unique(f"{place}.alternatives[].id", [a.id for a in op.alternatives], "two are called")
    for where, alternative in _each(f"{place}.alternatives", op.alternatives):
        yield from _alternative(where, op, alternative)


def _promises(place: str, op: Operation) -> Iterator[tuple[str, str]]:
    promises = op.promises
    for name in ("key_lifetime", "undo_key_lifetime", "visibility_delay"):
        yield from _number(f"{place}.{name}", getattr(promises, name), 0)
    if (promises.key_lifetime or promises.undo_key_lifetime) and not op.key:
        yield f"{place}.key_lifetime", "the operation has no key"
    if promises.commit_bound is not None:
        yield from _number(f"{place}.commit_bound", promises.commit_bound, 0)
    if promises.final and not promises.authoritative:
        yield f"{place}.final", "an answer that counts for nothing cannot be final"


def _alternative(place: str, op: Operation, one: Alternative) -> Iterator[tuple[str, str]]:
    yield from _number(f"{place}.weight", one.weight, 1)
    yield from _number(f"{place}.visible_after", one.visible_after, 0)
    if one.visible_after > op.promises.visibility_delay:
        yield f"{place}.visible_after", f"is later than the promised {op.promises.visibility_delay}"
    for name in ("writes", "undos"):
        outcomes = getattr(one, name)
        if not outcomes:
            yield f"{place}.{name}", "is empty: the last outcome repeats, so there is one"
        for where, outcome in _each(f"{place}.{name}", outcomes):
            yield from _outcome(where, op, outcome, op.write if name == "writes" else op.undo)
    for where, past in _each(f"{place}.past", one.past):
        yield from _past(where, op, past)


def _outcome(place: str, op: Operation, one: Outcome, spent: Expense) -> Iterator[tuple[str, str]]:
    yield from _number(f"{place}.delay", one.delay, 0)
    yield from _number(f"{place}.copies", one.copies, 1)
    bound = op.promises.commit_bound
    if one.reply is Reply.KNOWN:
        yield f"{place}.reply", "'known' is the answer to a recognized repeat, not an outcome"
    if not one.ok and one.reply is Reply.DONE:
        yield f"{place}.reply", "'done' of an attempt that has no effect"
    if one.copies > 1 and op.effect.value == "replace":
        yield f"{place}.copies", "what replaces has one"
    if bound is not None and one.ok and one.delay > bound:
        yield f"{place}.delay", f"is longer than the promised {bound}"
    if op.promises.final_on_result and one.ok and one.reply is not Reply.LOST and one.delay > spent.duration:
        yield f"{place}.delay", "the effect comes after the answer, which is promised to be final"


def _past(place: str, op: Operation, past: Past) -> Iterator[tuple[str, str]]:
    yield from _number(f"{place}.copies", past.copies, 1)
    if past.kind is EventKind.UNDO and not op.promises.reversible:
        yield f"{place}.kind", "the operation is not reversible"
    if past.copies > 1 and op.effect.value == "replace":
        yield f"{place}.copies", "what replaces has one"
    if not -LIMIT < past.accepted_at <= 0:
        yield f"{place}.accepted_at", "the past ends at 0"
    bound = op.promises.commit_bound
    if past.commit_at is None:
        if bound is not None:
            yield f"{place}.commit_at", "is unknown, but the provider promises a commit bound"
    elif not past.accepted_at <= past.commit_at < LIMIT:
        yield f"{place}.commit_at", f"{past.commit_at} is before its acceptance at {past.accepted_at}"
    elif bound is not None and past.commit_at > past.accepted_at + bound:
        yield f"{place}.commit_at", f"is later than the promised {bound} after acceptance"


def _order(task: Task) -> Iterator[tuple[str, str]]:
    try:
        TopologicalSorter({o.id: o.after for o in task.operations}).prepare()
    except CycleError as error:
        yield "operations[].after", f"a cycle: {' after '.join(error.args[1])}"


def _support(task: Task) -> Iterator[tuple[str, str]]:
    if not task.support:
        size = math.prod(len(o.alternatives) for o in task.operations)
        if size > SUPPORT:
            yield "operations[].alternatives", f"{size} combinations are more than {SUPPORT}"
        return
    if len(task.support) > SUPPORT:
        yield "support", f"{len(task.support)} members are more than {SUPPORT}"
    names = [{a.id for a in o.alternatives} for o in task.operations]
    for place, member in _each("support", task.support):
        yield from _number(f"{place}.weight", member.weight, 1)
        if len(member.alternatives) != len(names):
            yield f"{place}.alternatives", f"{len(member.alternatives)} for {len(names)} operations"
        elif unknown := _unknown(member.alternatives, names):
            yield f"{place}.alternatives", f"there is no alternative {unknown!r}"
    if len({m.alternatives for m in task.support}) < len(task.support):
        yield "support", "a member is there twice"


def _unknown(chosen: Iterable[str], names: Iterable[set[str]]) -> str:
    return next((name for name, known in zip(chosen, names, strict=True) if name not in known), "")
