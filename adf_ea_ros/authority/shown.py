"""What of an episode is shown: its goals, its plan and its newest, so that a long one costs no more to show.

Attempts and certificates are numbered within their episode, so the newest are found from their ends. An
episode that holds no more than ``SHOWN`` of a kind is shown whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sized
from itertools import islice

from adf_ea_ros.authority.model import Approval, Certificate, Operation
from adf_ea_ros.authority.state import State, fact_key
from adf_ea_ros.evidence.types import Finding

SHOWN = 50
"""How many operations, facts, certificates, and approvals are shown beside those of goals and plan."""

BACK = 4 * SHOWN
"""How many attempts are gone through for the newest operations: one that is retried for ever has many."""


def shown_keys(state: State) -> list[str]:
    """The newest operations that were tried, those of the present plan first."""
    tried = (
        (_number(record.latest), key)
        for key in dict.fromkeys(node.operation.key for node in state.proposal.nodes.values())
        if (record := state.keys.get(key)) is not None and record.latest
    )
    planned = [key for _, key in heapq.nlargest(SHOWN, tried)]
    return list(islice(dict.fromkeys([*planned, *_newest_keys(state)]), SHOWN))


def _newest_keys(state: State) -> Iterator[str]:
    last = len(state.attempts)
    for number in range(last, max(last - BACK, 0), -1):
        attempt = state.attempts.get(f"{state.episode}.{number}")
        if attempt is not None:
            yield attempt.key


def _number(attempt: str) -> int:
    return int(attempt.rpartition(".")[2])


def _few(held: Sized) -> bool:
    return len(held) <= SHOWN


def shown_certificates(state: State) -> list[Certificate]:
    """The certificates of goals, plan and newest operations, and the newest ones."""
    if _few(state.certificates):
        return list(state.certificates.values())
    keys = dict.fromkeys(goal.key for goal in state.goal)
    keys |= dict.fromkeys(node.operation.key for node in state.proposal.nodes.values())
    names = list(certificate_names(state, [*keys, *shown_keys(state)]))
    last = len(state.certificates)
    names += [f"{state.episode}/c{number}" for number in range(last, max(last - SHOWN, 0), -1)]
    found = (state.certificates.get(name) for name in dict.fromkeys(names))
    return [certificate for certificate in found if certificate is not None]  # an heir's first are another's


def certificate_names(state: State, keys: Iterable[str]) -> Iterator[str]:
    """The latest certificates of these operations, as far as they were tried."""
    for key in dict.fromkeys(keys):
        record = state.keys.get(key)
        if record is not None:
            yield from record.certificates.values()


def shown_facts(state: State) -> list[Finding]:
    """What was found last about goals, plan and newest operations; the latest of it last."""
    found = state.facts.values() if _few(state.facts) else _concerned(state)
    return heapq.nlargest(SHOWN, found, key=lambda one: one.horizon)[::-1]


def _concerned(state: State) -> Iterator[Finding]:
    names = [fact_key(r.id, r.condition) for goal in state.goal for r in goal.requirements]
    operations = [node.operation for node in state.proposal.nodes.values()]
    records = (state.keys.get(key) for key in shown_keys(state))
    operations += [r.operation for r in records if r is not None and r.operation is not None]
    names += fact_names(operations)
    for name in dict.fromkeys(names):
        found = state.facts.get(name)
        if found is not None:
            yield found


def shown_approvals(state: State) -> list[Approval]:
    """The newest approvals, one of each step, the latest last; of many, those of the present plan."""
    held = state.approvals
    found = held.values() if _few(held) else (held[n] for n in state.proposal.nodes if n in held)
    return heapq.nlargest(SHOWN, found, key=lambda given: given.granted)[::-1]


def fact_names(operations: Iterable[Operation]) -> Iterator[str]:
    """Under which findings about preconditions and effects are kept."""
    for operation in operations:
        for pre in operation.preconditions:
            yield fact_key(pre.requirement.id, pre.condition)
        for effect in operation.effects:
            for requirement in effect.requirements:
                yield fact_key(requirement.id, effect.condition)
