"""Rules 3 and 4: what a provider says, what evidence shows, what becomes of it."""

from __future__ import annotations

import pytest
from kit import OPEN, OPEN_IT, RING, RUNG, SHUT, SHUT_IT, Case, condition, effect, granted, operation, refused
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import ANSWERED, EffectKind, Interaction, Node
from adf_ea_ros.evidence.types import Verdict


@pytest.mark.parametrize("answer", sorted(ANSWERED - {Interaction.ONE_WAY}, key=str))
def test_an_answer_is_recorded_and_proves_nothing(answer: Interaction) -> None:
    case = Case()
    attempt = case.run("open")
    decision = case.answer(attempt, answer)
    granted(decision, "R3")
    assert decision.reasons == ("R3.recorded",)
    assert attempt.id in case.state.execution
    assert not case.state.certificates


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (Interaction.SUCCEEDED, Interaction.SUCCEEDED),
        (Interaction.SUCCEEDED, Interaction.ABORTED),
        (Interaction.REJECTED, Interaction.SUCCEEDED),
        (Interaction.ACCEPTED, Interaction.REJECTED),
        (Interaction.ACCEPTED, Interaction.DISPATCHED),
        (Interaction.LOST, Interaction.NEVER_ACCEPTED),
    ],
)
def test_invalid_interaction(first: Interaction, then: Interaction) -> None:
    case = Case()
    attempt = case.run("open")
    granted(case.answer(attempt, first), "R3")
    refused(case.answer(attempt, then), "R3.invalid_interaction")


def test_a_late_answer_settles_a_lost_interaction_only() -> None:
    case = Case()
    attempt = case.run("open")
    case.answer(attempt, Interaction.LOST)
    granted(case.answer(attempt, Interaction.SUCCEEDED), "R3")
    assert attempt.id in case.state.execution


def test_promotion() -> None:
    case = Case()
    attempt = case.run("open")
    decision = case.wait(1).assess("open", True)
    granted(decision, "R4")
    assert decision.reasons == ("R4.promoted",)
    (certificate,) = case.state.progress(case.now)
    assert certificate.attempt == attempt.id
    assert certificate.condition == OPEN
    assert certificate.lineage
    assert not case.state.execution
    assert case.state.established(OPEN_IT.key)


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.SATISFIED])
def test_not_proven(verdict: Verdict) -> None:
    case = Case()
    attempt = case.run("open")
    found = tuple(replace(f, verdict=verdict) for f in case.wait(1).on_attempt("open", True))
    refused(case.ask(rq.Assess(attempt.id, found)), "R3.not_proven")
    assert not case.state.certificates
    assert attempt.id in case.state.execution


def test_satisfied_without_a_basis_proves_nothing() -> None:
    case = Case()
    attempt = case.run("open")
    found = tuple(replace(f, basis=()) for f in case.wait(1).on_attempt("open", True))
    refused(case.ask(rq.Assess(attempt.id, found)), "R3.not_proven")


def test_integrity() -> None:
    case = Case()
    attempt = case.run("open")
    found = tuple(
        replace(f, integrity="E.occurrence: two contents") for f in case.wait(1).on_attempt("open", True)
    )
    refused(case.ask(rq.Assess(attempt.id, found)), "R3.integrity")
    assert not case.state.certificates


def test_stale_and_future_findings_prove_nothing() -> None:
    case = Case()
    attempt = case.run("open")
    old = case.wait(1).on_attempt("open", True)
    refused(case.wait(30).ask(rq.Assess(attempt.id, old)), "R3.not_proven")
    ahead = tuple(replace(f, horizon=case.now + 1) for f in case.on_attempt("open", True))
    refused(case.ask(rq.Assess(attempt.id, ahead)), "R3.not_proven")


def test_every_effect_must_be_shown() -> None:
    two = operation("open", effect("opened", OPEN), effect("lit", condition("cabinet", "lit")))
    case = Case(plan=(Node("open", two),))
    attempt = case.run("open")
    only = case.wait(1).on_attempt("open", True)[:1]
    refused(case.ask(rq.Assess(attempt.id, only)), "R3.not_proven")
    assert case.state.execution[attempt.id].effects == ("lit",)
    assert not case.state.established(two.key)
    granted(case.assess("open", True), "R4")


def test_a_state_is_no_event() -> None:
    """A finding about a state that looks like the event's certifies only under the event's requirement."""
    bell_state = effect("rung_state", RUNG, EffectKind.STATE)
    assert operation("look", bell_state).key != RING.key


def test_a_settled_attempt_needs_no_more_evidence() -> None:
    case = Case()
    attempt = case.do("open")
    refused(case.ask(rq.Assess(attempt.id, case.on_attempt("open", True))), "R5.nothing_to_observe")


def test_unknown_attempt() -> None:
    case = Case()
    refused(case.ask(rq.Report("e.9", Interaction.SUCCEEDED)), "X5.unknown_attempt")
    refused(case.ask(rq.Assess("e.9", ())), "X5.unknown_attempt")


def test_a_dispatch_revokes_what_it_may_overwrite() -> None:
    case = Case(plan=(Node("open", OPEN_IT), Node("shut", SHUT_IT)))
    case.do("open")
    case.run("shut")
    assert all(c.revoked for c in case.state.certificates.values())


def test_a_certificate_revokes_what_it_excludes() -> None:
    case = Case(plan=(Node("open", OPEN_IT), Node("shut", SHUT_IT)))
    case.do("open")
    case.do("shut")
    assert [c.condition for c in case.state.progress(case.now)] == [SHUT]
