"""The public model of an episode, as far as its retained state tells. ``steps`` has it for a single step.

Every step counts as one that appends: what the authority never repeats on mere doubt, the model does not
either. What is not modelled (steps beyond a bound, goals that no step brings about) stands in it as one
obligation that nobody can meet, so that completion is never promised over it. The model serves a ranking:
what may be done is asked of ``decide``, always.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import (
    Cause,
    Disposition,
    Node,
    ObligationKind,
)
from adf_ea_ros.authority.rules.coverage import covered
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.recovery import model
from adf_ea_ros.recovery.model import Expense
from adf_ea_ros.recovery.steps import Moment, Part, part_of
from adf_ea_ros.recovery.world import Frame

STEPS = 6
"""As many steps are modelled: those in doubt first, then those that come next."""
WORLDS = 27
"""As many combinations of alternatives are looked at."""
LOOKED = 100
"""As many steps of a proposal are looked at."""
WAITS = 3
"""As many moments to wait for are considered, the nearest."""
DISPATCH_FEE, LOOK_FEE, HAND_OVER_FEE = 5, 1, 5
TIE: Ns = 100_000_000_000
"""So long a wait weighs as much as one look."""
FOREVER: Ns = 10**18
"""A deadline that no episode has: about thirty years."""
WEIGHTS = (
    "every alternative is as likely as every other one of its step; a try that is still to come is taken to "
    "work, where its step permits one; an observation costs "
    f"{LOOK_FEE}, a dispatch {DISPATCH_FEE}, handing over {HAND_OVER_FEE}, 100 s of waiting 1"
)


class Picture(msgspec.Struct, frozen=True):
    """The model, and which of its operations stands for which step."""

    frame: Frame
    steps: tuple[str, ...]  # node id by operation; empty: what is not modelled
    moments: tuple[Moment, ...]  # by number of the wait
    ripe: frozenset[int]  # operations of which time alone brings nothing more
    verified: int  # steps that are met already
    open: tuple[str, ...]  # what is not known, in words


def picture(state: State, now: Ns) -> Picture:
    """What the state says at ``now``. Bounded, whatever the proposal and the history are."""
    work = Work(state, now)
    seen: set[str] = set()
    parts, verified = [], 0
    for node in _in_order(state):
        if node.operation.key in seen:
            continue  # an alias shares the account, and so the obligation
        seen.add(node.operation.key)
        part = part_of(work, node)
        if part is None:
            verified += 1
        else:
            parts.append(part)
    chosen = _chosen(parts)
    left = len(state.proposal.nodes) > LOOKED or len(chosen) < len(parts)
    rest = left or not _within_reach(work, {p.node.operation.key for p in parts})
    moments = tuple(sorted({m.wait: m for p in chosen for m in reversed(p.moments)}.values(), key=_wait))
    task = _task(work, chosen, moments[:WAITS], rest=rest or not chosen)
    names = tuple(p.node.id for p in chosen) + (("",) if len(task.operations) > len(chosen) else ())
    said = tuple(f"step {p.node.id}: {p.open}" for p in parts if len(p.alternatives) > 1)
    ripe = frozenset(i for i, part in enumerate(chosen) if not part.moments)
    return Picture(Frame(task), names, moments[:WAITS], ripe, verified, said)


def _wait(moment: Moment) -> Ns:
    return moment.wait


def _in_order(state: State) -> Iterator[Node]:
    """The steps that are in doubt, then the others behind what they need; no more than are looked at."""
    nodes, needs = state.proposal.nodes, state.proposal.needs
    unresolved = {owed.key for owed in state.execution.values()}
    names = sorted(nodes, key=lambda name: (nodes[name].operation.key not in unresolved, name))
    placed: set[str] = set()
    for name in names:
        stack = [name]
        while stack and len(placed) < LOOKED:
            missing = [n for n in needs.get(stack[-1], ()) if n not in placed and n in nodes]
            missing = [n for n in missing if n not in stack]
            if missing:
                stack.append(missing[0])
                continue
            done = stack.pop()
            if done not in placed:
                placed.add(done)
                yield nodes[done]
        if len(placed) >= LOOKED:
            return


def _chosen(parts: list[Part]) -> list[Part]:
    """Those that the model has room for; in the order of the proposal, so that needs come first."""
    taken: list[Part] = []
    worlds = 1
    for part in sorted(parts, key=lambda p: not p.urgent):
        if len(taken) < STEPS and worlds * len(part.alternatives) <= WORLDS:
            taken.append(part)
            worlds *= len(part.alternatives)
    places = {part.node.id: i for i, part in enumerate(parts)}
    return sorted(taken, key=lambda p: places[p.node.id])


# -- the task ----------------------------------------------------------------------------------------------


def _within_reach(work: Work, keys: set[str]) -> bool:
    """Whether every goal is met, or one that a step is to bring about."""
    state = work.state
    return all(
        goal.key in keys or covered(work, goal)
        for goal in state.goal
        if not (goal.kind is ObligationKind.PRESERVE and goal.id not in state.broken)
    )


def _task(work: Work, parts: list[Part], moments: tuple[Moment, ...], *, rest: bool) -> model.Task:
    state = work.state
    index = {part.node.operation.key: i for i, part in enumerate(parts)}
    names = _names([part.node.id for part in parts])
    operations = []
    for i, part in enumerate(parts):
        needs = _needs(work, part.node)
        before = [index[key] for key in needs if key in index and index[key] < i]
        beyond = any(key not in index and not state.established(key) for key in needs)
        after = tuple(names[j] for j in before)
        operations.append(_operation(work, part, names[i], after, 0 if beyond else part.attempts))
    if rest:
        operations.append(model.Operation(names[-1], "", attempts=0))
    return model.Task(
        id="episode",
        operations=tuple(operations),
        deadline=FOREVER,
        fees=FOREVER,
        actions=1000,
        writes=max(0, state.physical),
        queries=max(0, state.observation),
        waits=tuple(Expense(0, moment.wait) for moment in moments),
        hand_over=Expense(HAND_OVER_FEE, 0),
        tie=TIE,
    )


def _needs(work: Work, node: Node) -> list[str]:
    """The keys of what has to be met first: steps, and obligations that the task orders before this one."""
    state = work.state
    names = state.proposal.needs.get(node.id, ())
    earlier = [
        state.goal_by_id[name]
        for goal in state.goals_by_key.get(node.operation.key, ())
        for name in goal.after
    ]
    ordered = [goal.key for goal in earlier if goal.key and not covered(work, goal)]
    return [*(state.proposal.nodes[n].operation.key for n in names), *ordered]


def _operation(work: Work, part: Part, name: str, after: tuple[str, ...], attempts: int) -> model.Operation:
    policy = part.node.operation.policy
    observable = work.state.observation > 0 and any(
        policy.allows(cause, Disposition.OBSERVE)
        for cause in (Cause.EVIDENCE_INSUFFICIENT, Cause.OUTCOME_UNKNOWN, Cause.EVIDENCE_CONFLICTING)
    )
    return model.Operation(
        id=name,
        target=name,
        after=after,
        promises=model.Promises(query=observable, visibility_delay=FOREVER),
        write=Expense(DISPATCH_FEE, part.duration),
        query=Expense(LOOK_FEE, 0),
        attempts=attempts,
        alternatives=part.alternatives,
    )


def _names(steps: list[str]) -> list[str]:
    """A name for each step, its own where that is one; and last, one for what is not modelled."""
    found: list[str] = []
    for i, step in enumerate([*steps, "the rest"]):
        name = step if step.isascii() and step.isprintable() and step.strip() else f"step {i + 1}"
        while name in found:
            name += "'"
        found.append(name)
    return found
