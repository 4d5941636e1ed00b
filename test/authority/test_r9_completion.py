"""Rule 9: invalidation, completion, stopping."""

from __future__ import annotations

from kit import OPEN, OPEN_IT, PLACED, RING, SHUT, Case, condition, fact_goal, goal, granted, refused

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import Interaction, Node, ObligationKind


def done() -> Case:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    return case.wait(1)


def test_completion_on_live_evidence() -> None:
    case = done()
    granted(case.claim(inside=True), "R9")
    assert case.state.phase == "completed"


def test_uncovered() -> None:
    refused(Case(PLACED).claim(), "R9.uncovered")
    refused(done().wait(60).claim(inside=None), "R9.uncovered")  # once proven, not known now


def test_of_very_many_lacks_only_some_are_told_and_none_is_forgotten() -> None:
    goals = [fact_goal(f"g{i}", condition(f"lamp{i}", "lit"), ObligationKind.STATE) for i in range(30)]
    case = Case(*goals, plan=(Node("ring", RING),))
    case.run("ring")
    decision = case.claim()
    refused(decision, "R9.uncovered", "R9.unresolved")
    assert "'g9' is not covered" in decision.sentence
    assert "'g10'" not in decision.sentence
    assert "and 20 more of these; the outcome of attempt e.1 is unresolved" in decision.sentence


def test_an_answer_completes_nothing() -> None:
    case = Case(PLACED)
    case.do("open")
    case.answer(case.run("put", open=True))
    refused(case.claim(inside=None), "R9.uncovered", "R9.unresolved")


def test_unresolved_outcomes_block_also_outside_the_goal() -> None:
    case = Case(
        PLACED, plan=(Node("open", OPEN_IT), *Case().state.proposal.nodes.values(), Node("ring", RING))[1:]
    )
    case.do("open")
    case.do("put", open=True)
    case.run("ring")
    refused(case.claim(inside=True), "R9.unresolved")


def test_in_flight() -> None:
    case = Case(PLACED)
    case.do("open")
    case.run("put", open=True)
    granted(case.wait(1).assess("put", True), "R4")
    refused(case.claim(inside=True), "R9.in_flight")
    case.answer(case.state.attempts["e.2"], Interaction.SUCCEEDED)
    granted(case.claim(inside=True), "R9")


def test_in_flight_ends_with_the_commit_bound() -> None:
    case = Case(PLACED)
    case.do("open")
    case.run("put", open=True)
    case.wait(1).assess("put", True)
    granted(case.wait(11).claim(inside=True), "R9")


def test_state_owed() -> None:
    case = Case(goal("opened", OPEN_IT), plan=(Node("open", OPEN_IT),))
    case.do("open")
    refused(case.wait(1).claim(open=False), "R9.uncovered", "R9.state_owed")


def test_preservation_of_a_false_fact_without_a_producer() -> None:
    shut = fact_goal("shut", SHUT, ObligationKind.PRESERVE)
    granted(Case(shut, plan=()).claim(open=False), "R9")
    refused(Case(shut, plan=()).claim(open=None), "R9.uncovered")


def test_preservation_broken_once_is_broken_for_good() -> None:
    case = Case(fact_goal("shut", SHUT, ObligationKind.PRESERVE), plan=())
    case.refresh(open=True)
    case.wait(1).refresh(open=False)
    refused(case.claim(open=False), "R9.preservation_broken")


def test_standing() -> None:
    refused(Case(PLACED, standing=True).claim(inside=None), "R9.standing", "R9.uncovered")


def test_an_event_and_a_state_never_stand_in_for_each_other() -> None:
    rung = goal("rung", RING, ObligationKind.EVENT)
    as_state = goal("rung_now", RING, ObligationKind.STATE)
    case = Case(rung, as_state, plan=(Node("ring", RING),))
    case.do("ring")
    refused(case.claim(rung=True), "R9.uncovered")
    case = Case(goal("opened", OPEN_IT, ObligationKind.EVENT), plan=(Node("open", OPEN_IT),))
    case.do("open")
    refused(case.claim(open=True), "R9.uncovered")


def test_an_event_stays_proven() -> None:
    case = Case(goal("rung", RING, ObligationKind.EVENT), plan=(Node("ring", RING),))
    case.do("ring")
    granted(case.wait(100_000).claim(), "R9")


def test_stopping_grants_nothing_and_keeps_what_is_open() -> None:
    case = Case(PLACED)
    attempt = case.run("open")
    granted(case.ask(rq.Stop("operator", "lunch", "night shift")), "R9")
    assert case.state.phase == "stopped"
    assert attempt.id in case.state.execution
    refused(case.claim(inside=True), "X5.not_active")
    granted(case.answer(attempt), "R3")  # a late answer is still recorded


def test_revoked_certificates_stay_as_history() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    assert len(case.state.certificates) == 1
    assert not case.state.progress(case.now)
    assert case.state.established(OPEN_IT.key)
    assert OPEN in [c.condition for c in case.state.certificates.values()]
