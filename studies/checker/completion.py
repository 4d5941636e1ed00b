"""Theorem 1: what a granted completion must be true of (C1 and C2)."""

from __future__ import annotations

from studies.checker.books import Books
from studies.checker.conditions import Json, fact, holds, implies
from studies.checker.properties import Violation
from studies.checker.world import World


def check_completion(books: Books, event: Json, world: World, now: int) -> list[Violation]:
    """Judge a granted claim by the world (C1) and by the books (C2)."""
    found = [v for goal in books.goals for v in _true(books, goal, world, now)]
    found += [
        Violation("C2", f"{goal['id']} is not covered")
        for goal in books.goals
        if not books.covered(goal, now)
    ]
    found += [Violation("C2", f"the outcome of {trial.id} is unresolved") for trial in books.unsettled()]
    found += [Violation("C2", f"{name} is owed") for name in books.owed]
    found += [
        Violation("C2", f"{name} was revoked") for name in event["certificates"] if name in books.revoked
    ]
    if books.start.get("standing"):
        found.append(Violation("C2", "a standing task is never complete"))
    for trial in books.trials.values():
        for effect in trial.operation["effects"] if trial.may_act(now) else ():
            for goal in books.goals:
                if (
                    goal["kind"] != "event"
                    and fact(goal["condition"]) == fact(effect["condition"])
                    and not implies(effect["condition"], goal["condition"])
                ):
                    found.append(Violation("C2", f"{trial.id} could still undo {goal['id']}"))
        for name, value in world.to_come(trial.id, now):
            for goal in books.goals:
                if (
                    goal["kind"] != "event"
                    and fact(goal["condition"]) == name
                    and not holds(goal["condition"], value)
                ):
                    found.append(Violation("C1", f"{trial.id} undoes {goal['id']} after the completion"))
    return found


def _true(books: Books, goal: Json, world: World, now: int) -> list[Violation]:
    condition = goal["condition"]
    if goal["kind"] == "event":
        mine = [t.id for t in books.trials.values() if t.key == goal["key"]]
        true = any(world.happened(name, fact(condition), now) for name in mine)
    else:
        true = holds(condition, world.value(fact(condition), now))
    if goal["kind"] == "preserve":
        true = true and not world.broke(condition, books.start["time"], now)
    return [] if true else [Violation("C1", f"{goal['id']} is not true of the world at completion")]
