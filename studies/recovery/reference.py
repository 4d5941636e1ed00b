"""Exhaustive values of every action, by playing whole histories: the search is compared with them.

Nothing is cached, nothing is merged, fractions are exact; it shares the written definition with the search
and no code (section 6.4 of the recovery paper).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from studies.recovery.adjudicate import Assignment, Play, Raw, play, settled, within_numbers

Support = list[tuple[Assignment, int]]
Value = tuple[Fraction, Fraction, Fraction]


def root(task: Raw, support: Support, horizon: int) -> dict[str, Value]:
    """The value of each admissible action: completion, obligations met, negative cost."""
    return {_name(a): _value(task, support, [], a, horizon) for a in _admissible(task, support, [])}


def _name(action: Raw) -> str:
    return " ".join(str(part) for part in action.values())


def _value(task: Raw, support: Support, done: list[Raw], action: Raw, horizon: int) -> Value:
    then = [*done, action]
    groups: dict[str, Support] = {}
    for chosen, weight in support:
        seen = play(task, chosen, then).observations[-1]
        groups.setdefault(repr(seen), []).append((chosen, weight))
    mass = sum(weight for _, weight in support)
    spent = Play(task, support[0][0]).expense(action)
    tie = task.get("tie", 1000)
    total = [Fraction(0), Fraction(0), -Fraction(spent["fee"] * tie + spent["duration"])]
    for group in groups.values():
        share = Fraction(sum(weight for _, weight in group), mass)
        for i, part in enumerate(_best(task, group, then, horizon - 1)):
            total[i] += share * part
    return (total[0], total[1], total[2])


def _best(task: Raw, support: Support, done: list[Raw], horizon: int) -> Value:
    over = done[-1]["kind"] == "hand_over"
    now = _leaf(task, support, done, over)
    if horizon == 0 or over or now[0]:
        return now
    values = [_value(task, support, done, a, horizon) for a in _admissible(task, support, done)]
    return max(values, default=now)


def _leaf(task: Raw, support: Support, done: list[Raw], over: bool) -> Value:
    worlds = [(play(task, chosen, done), weight) for chosen, weight in support]
    certain = not over and all(play(task, chosen, done).lasting() for chosen, _ in support)
    met, mass = 0, 0
    for world, weight in worlds:
        world.run(max(task["deadline"], world.time))
        met += weight * sum(amount == world.goal(i) for i, amount in enumerate(world.amounts))
        mass += weight
    return (Fraction(int(certain)), Fraction(met, mass), Fraction(0))


def _actions(task: Raw) -> Iterator[Raw]:
    for op in task["operations"]:
        promises = op.get("promises", {})
        if promises.get("query", False):
            yield {"kind": "query", "operation": op["id"]}
        if op.get("goal", 1) == 1:
            yield {"kind": "write", "operation": op["id"]}
        if promises.get("reversible", False):
            yield {"kind": "undo", "operation": op["id"]}
    for which in range(len(task.get("waits", [{}]))):
        yield {"kind": "wait", "which": which}
    yield {"kind": "hand_over"}


def _admissible(task: Raw, support: Support, done: list[Raw]) -> list[Raw]:
    found = []
    for action in _actions(task):
        after = play(task, support[0][0], [*done, action])
        if after.time > task["deadline"] or after.fees > task["fees"] or len(done) >= task["actions"]:
            continue
        if not within_numbers(task, [*done, action]):
            continue
        if all(_no_worse(task, chosen, done, action) for chosen, _ in support):
            found.append(action)
    return found


def _no_worse(task: Raw, chosen: Assignment, done: list[Raw], action: Raw) -> bool:
    without, with_it = settled(play(task, chosen, done)), settled(play(task, chosen, [*done, action]))
    kinds = {*without.breaches, *with_it.breaches}
    if any(with_it.breaches[kind] > without.breaches[kind] for kind in kinds):
        return False
    return all(mine <= theirs for mine, theirs in zip(_hazards(with_it), _hazards(without), strict=True))


def _hazards(world: Play) -> tuple[int, int, int]:
    """Duplicates, unmet dependencies and bad compensations that effects of unknown time could still make."""
    duplicate = dependency = compensation = 0
    waiting = [e for e in world.agenda if e.at is None]
    for i, amount in enumerate(world.amounts):
        writes = [e for e in waiting if e.operation == i and e.kind == "write"]
        undos = [e for e in waiting if e.operation == i and e.kind == "undo"]
        if writes and world.appends(i):
            duplicate += max(0, amount + sum(e.copies for e in writes) - 1)
        if writes or (undos and world.goal(i) == 0):
            dependency += sum(
                world.amounts[j] != world.goal(j) or any(e.operation == j for e in waiting)
                for j in world.before(i)
            )
        if undos:
            compensation += sum(world.present(j) for j in world.behind(i))
            if world.appends(i):
                compensation += max(0, sum(e.copies for e in undos) - amount)
    return duplicate, dependency, compensation
