"""What must be known for a request: enough to decide it, bounded by what it concerns."""

from __future__ import annotations

from kit import PLACED, PROMISES, Case, S

from adf_ea_ros.authority import questions
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import Interaction


def names(case: Case, request: rq.AnyRequest) -> set[str]:
    return {q.requirement.id for q in questions.about(case.state, request, case.now)}


def test_a_dispatch_asks_for_preconditions_dependencies_and_what_comes_after() -> None:
    case = Case(PLACED)
    assert names(case, rq.Dispatch("put", "arm")) == {"put.needs0", "seen.placed", "seen.opened"}
    assert names(case, rq.Dispatch("open", "arm")) == {"seen.opened", "put.needs0"}
    assert names(case, rq.Dispatch("nothing", "arm")) == set()


def test_a_pending_attempt_is_asked_about_after_its_dispatch() -> None:
    case = Case(PLACED)
    attempt = case.run("open")
    (asked,) = [q for q in questions.about(case.state, rq.Assess(attempt.id, ()), case.now) if q.attempt]
    assert asked.context.executor == "arm"
    assert asked.context.after == attempt.dispatched


def test_once_answered_later_samples_may_decide_alone() -> None:
    case = Case(PLACED)
    attempt = case.run("open")
    case.wait(3)
    case.answer(attempt, Interaction.SUCCEEDED)
    context, later = questions.attempt_contexts(case.state.attempts[attempt.id], case.wait(1).now)
    assert context.after == attempt.dispatched
    assert later is not None
    assert later.after == attempt.dispatched + 3 * S
    assert context.settled == later.settled == attempt.dispatched + 3 * S + PROMISES.visibility_delay


def test_while_an_effect_may_still_come_nothing_negative_counts() -> None:
    case = Case(PLACED)
    attempt = case.run("open")
    context, _ = questions.attempt_contexts(case.state.attempts[attempt.id], case.wait(2).now)
    assert context.settled == case.now


def test_a_claim_asks_for_goals_and_what_is_owed() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    assert names(case, rq.Claim()) == {"seen.placed"}
    case.wait(1).refresh(inside=False)
    assert "seen.placed" in names(case, rq.Claim())


def test_the_present_is_what_was_seen_since_the_fact_was_touched() -> None:
    case = Case(PLACED)
    attempt = case.do("open")
    (asked,) = [
        q
        for q in questions.about(case.state, rq.Dispatch("put", "arm"), case.now)
        if q.requirement.id == "put.needs0"
    ]
    certificate = next(iter(case.state.certificates.values()))
    assert asked.context.after == certificate.captured - 1
    assert asked.context.after > attempt.dispatched
