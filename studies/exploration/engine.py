"""The search: every place of a model once, every transition judged, the first bad ones told with their
path.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field

from adf_ea_ros.authority.state import State, fact_name
from studies.checker.books import Books, effect_name
from studies.exploration.canonical import name
from studies.exploration.models import Model
from studies.exploration.moves import Place, Step, opening, steps

DEEP = 0.5
"""Share of the search that follows the newest places."""
TOLD = 3
"""How many violations are told with their paths."""


@dataclass
class Result:
    """What exploring one model found."""

    model: str
    states: int = 0
    transitions: int = 0
    decisions: int = 0
    completions: int = 0
    complete: bool = False  # nothing was left out
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    stories: list[str] = field(default_factory=list)


def explore(model: Model, *, limit: int = 0, check: float = 0.0, seed: int = 1) -> Result:
    """Explore ``model``; ``limit`` bounds the states (0: none), ``check`` is the share of names that are
    verified.
    """
    began, result, dice = time.perf_counter(), Result(model.name), random.Random(seed)
    first = opening(model)
    key = name(first)
    trace: dict[bytes, tuple[bytes, str]] = {key: (b"", "begin")}
    twins: dict[bytes, Place] = {}
    ahead = [(key, first)]
    while ahead:
        here, place = _next(ahead, dice)
        result.states += 1
        if limit and result.states > limit:
            ahead.append((here, place))
            break
        for step in steps(model, place):
            result.transitions += 1
            _count(result, step)
            if step.nothing and step.place.world is place.world:
                continue
            problems = [*step.violations, *disagreements(step.place)] if step.decision is not None else []
            if problems:
                _tell(result, trace, here, step, [str(p) for p in problems])
                continue  # what follows from a breach says nothing
            there = name(step.place)
            if there not in trace:
                trace[there] = (here, step.move)
                ahead.append((there, step.place))
                if check and dice.random() < check:
                    twins[there] = step.place
            elif there in twins:
                _compare(result, model, twins.pop(there), step.place)
    result.complete = not ahead
    result.seconds = time.perf_counter() - began
    return result


def _next(ahead: list[tuple[bytes, Place]], dice: random.Random) -> tuple[bytes, Place]:
    """Deep half of the time, anywhere otherwise: a limit then cuts no kind of history off."""
    first = max(0, len(ahead) - 20) if dice.random() < DEEP else 0
    pick = dice.randrange(first, len(ahead))
    ahead[-1], ahead[pick] = ahead[pick], ahead[-1]
    return ahead.pop()


def _count(result: Result, step: Step) -> None:
    decision = step.decision
    if decision is None:
        return
    result.decisions += 1
    result.reasons.update(decision.reasons)
    if decision.authorized:
        result.rules.update(decision.rules)
        result.completions += decision.after.phase == "completed"


def _tell(
    result: Result, trace: dict[bytes, tuple[bytes, str]], here: bytes, step: Step, problems: list[str]
) -> None:
    fresh = any(p.partition(":")[0] not in result.violations for p in problems)
    result.violations.update(p.partition(":")[0] for p in problems)
    if fresh or len(result.stories) < TOLD:
        path, at = [step.move], here
        while at:
            at, move = trace[at]
            path.append(move)
        why = step.decision.sentence if step.decision is not None else ""
        result.stories.append("\n    ".join(["; ".join(problems), f"({why})", *reversed(path)]))


def disagreements(place: Place) -> list[str]:
    """Where the state that decisions rest on differs from the checker's own books of the same events."""
    state, books, now = place.state, place.judge.books, place.world.now
    pairs = {
        "physical": (state.physical, books.physical),
        "observation": (state.observation, books.observation),
        "generation": (state.generation, books.generation),
        "phase": (state.phase, books.phase),
        "U_exec": (_unresolved(state), {t.id: set(t.owed) for t in books.unsettled()}),
        "U_state": (len(state.owed), len(books.owed)),
        "approvals": (
            {g.id: (g.attempt, bool(g.withdrawn)) for g in state.approvals.values()},
            {n: (books.granted[n].used, books.granted[n].withdrawn) for n in books.newest.values()},
        ),
        "revoked": ({c.id for c in state.certificates.values() if c.revoked}, set(books.revoked)),
        "live": (
            {c.id for c in state.certificates.values() if state.live(c, now)},
            {n for n, c in books.certificates.items() if books.live(c, now)},
        ),
        "broken": (set(state.broken), set(books.broken)),
        "touched": (dict(state.touched), {fact_name(f): time for f, time in books.touched.items()}),
        "who did it last": (
            {k: state.executor(k) for k, r in state.keys.items() if r.attempts},
            {k: books.trials[a.latest].provider for k, a in books.accounts.items()},
        ),
        "retries": (
            {k: r.retries for k, r in state.keys.items() if r.attempts},
            {k: a.retries for k, a in books.accounts.items()},
        ),
        "established": (
            {k for k, r in state.keys.items() if r.established and r.attempts and not state.pending(k)},
            _established(books),
        ),
    }
    return [
        f"agreement: {what}: {mine} is {theirs} by the books"
        for what, (mine, theirs) in pairs.items()
        if mine != theirs
    ]


def _unresolved(state: State) -> dict[str, set[str]]:
    found = {}
    for owed in state.execution.values():
        operation = state.keys[owed.key].operation
        assert operation is not None
        by_id = {e.id: e for e in operation.effects}
        found[owed.attempt] = {
            effect_name(by_id[name].kind.value, _plain(by_id[name].condition)) for name in owed.effects
        }
    return found


def _plain(condition: object) -> dict[str, object]:
    import msgspec  # noqa: PLC0415

    plain: dict[str, object] = msgspec.json.decode(msgspec.json.encode(condition))
    return plain


def _established(books: Books) -> set[str]:
    return {k for k, a in books.accounts.items() if books.established_now(k, a.operation)}


def _compare(result: Result, model: Model, one: Place, two: Place) -> None:
    """Two places of one name must decide alike whatever comes to both.

    A superseded attempt may still have late answers to come in one of them: they concern nothing any more.
    """

    def behaviour(place: Place) -> dict[str, object]:
        return {
            s.move: (s.decision.authorized, s.decision.reasons) if s.decision is not None else None
            for s in steps(model, place)
        }

    mine, theirs = behaviour(one), behaviour(two)
    apart = [
        (move, mine[move], theirs[move]) for move in mine.keys() & theirs.keys() if mine[move] != theirs[move]
    ]
    if apart:
        result.violations["name"] += 1
        result.stories.append(f"name: two places of one name decide differently: {apart[:3]}")
