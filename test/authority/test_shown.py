"""What is shown of an episode that has gone on for long: no more than of a short one, without a walk."""

from __future__ import annotations

from typing import Any

import pytest
from kit import ALL, Case, condition, effect, operation
from msgspec.structs import replace

from adf_ea_ros.authority.feedback import feedback
from adf_ea_ros.authority.model import Approval, Node, Policy, Replay
from adf_ea_ros.authority.shown import (
    SHOWN,
    shown_approvals,
    shown_certificates,
    shown_facts,
    shown_keys,
)
from adf_ea_ros.authority.state import State

MANY = SHOWN + 20


class Held:
    """A map that is asked by name alone."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __len__(self) -> int:
        return len(self._inner)

    def __contains__(self, name: str) -> bool:
        return name in self._inner

    def __getitem__(self, name: str) -> Any:
        return self._inner[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self._inner.get(name, default)

    def __iter__(self) -> Any:
        raise AssertionError("an episode's history is gone through as a whole")

    keys = values = items = __iter__


def unwalked(state: State) -> State:
    names = ("attempts", "certificates", "keys", "facts", "approvals", "touched", "by_fact", "resting")
    return replace(state, **{name: Held(getattr(state, name)) for name in names})


def node(number: int) -> Node:
    policy = Policy(ALL, retry_limit=1000, replay=Replay.WHEN_ABSENT)
    what = effect(f"set{number}", condition(f"lamp{number}", "on"))
    return Node(f"n{number}", operation(f"lamp{number}", what, policy=policy))


def long_episode() -> Case:
    """One operation after the other, each in a plan of its own; the goal was never tried."""
    case = Case(plan=(), physical=10_000)
    for number in range(MANY):
        assert case.revise(node(number)).authorized
        case.do(f"n{number}", on=False)
    return case


@pytest.fixture(scope="module")
def case() -> Case:
    return long_episode()


def test_the_newest_operations(case: Case) -> None:
    newest = [node(n).operation.key for n in range(MANY - 1, MANY - SHOWN - 1, -1)]
    assert shown_keys(unwalked(case.state)) == newest


def test_those_of_the_plan_come_first(case: Case) -> None:
    again = Case(begin=False)
    again.state, again.now = case.state, case.now
    assert again.revise(node(0), node(3), node(MANY)).authorized  # two were done long ago, one is new
    keys = shown_keys(unwalked(again.state))
    assert keys[:3] == [node(n).operation.key for n in (3, 0, MANY - 1)]
    assert len(keys) == SHOWN


def test_certificates_and_facts_of_what_is_shown(case: Case) -> None:
    certificates = shown_certificates(unwalked(case.state))
    subjects = [str(c.condition).partition(".")[0] for c in certificates]
    assert subjects == [f"lamp{n}" for n in range(MANY - 1, MANY - SHOWN - 1, -1)]
    facts = shown_facts(unwalked(case.state))
    assert [f.condition.subject for f in facts] == [f"lamp{n}" for n in range(MANY - SHOWN, MANY)]


def test_what_is_said_is_bounded_too(case: Case) -> None:
    said = feedback(unwalked(case.state), case.now)
    assert said.known[0] == f"lamp{MANY - 1}.on == True"
    assert len(said.known) <= SHOWN  # those that have grown old are not known any more


def test_one_operation_retried_for_ever_is_no_reason_to_look_far_back() -> None:
    case = long_episode()
    assert case.revise(node(MANY)).authorized
    for _ in range(4 * SHOWN + 1):
        attempt = case.run(f"n{MANY}", attempt=False)
        case.wait(1)
        case.answer(attempt)
        case.wait(1)
    assert shown_keys(unwalked(case.state)) == [node(MANY).operation.key]


def test_a_short_episode_is_shown_whole() -> None:
    case = Case()
    case.do("open", open=False, inside=False)
    assert [c.effect for c in shown_certificates(case.state)] == ["opened"]
    assert {f.condition.path for f in shown_facts(case.state)} == {"open", "inside"}
    assert shown_approvals(case.state) == []


def test_of_many_approvals_those_of_the_plan(case: Case) -> None:
    given = Approval("e/a1", "n0", "key", 1, "f", "{}", (), 0, "ann", "", granted=0, valid_until=1)
    held = {f"n{n}": replace(given, id=f"e/a{n}", step=f"n{n}", granted=n) for n in range(MANY)}
    state = unwalked(replace(case.state, approvals=held))
    assert [a.step for a in shown_approvals(state)] == [f"n{MANY - 1}"]
    few = dict(list(held.items())[:3])
    assert [a.step for a in shown_approvals(replace(case.state, approvals=few))] == ["n0", "n1", "n2"]
