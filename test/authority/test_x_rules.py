"""Rules of our own: restart, reconciliation, revocation, mediation, clock, halt, attestation."""

from __future__ import annotations

import pytest
from kit import (
    INSIDE,
    OPEN,
    OPEN_IT,
    PLACED,
    Case,
    S,
    effect,
    fact_goal,
    granted,
    operation,
    refused,
    requirement,
)
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import Interaction, Node, ObligationKind
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.model import Role

START = EpisodeStarted("e", "task@1.0.0", "f", 0, (PLACED,), 5, 5, generation=1)


# -- X5 mediation -----------------------------------------------------------------------------------------


def test_begin() -> None:
    granted(Case(begin=False).ask(rq.Begin(START)), "X5")


def test_begin_refusals() -> None:
    refused(Case(begin=False).ask(rq.Begin(START, faults=(("G.contract", "revoked"),))), "X5.task")
    refused(Case().ask(rq.Begin(START)), "X5.task")
    refused(Case(begin=False).ask(rq.Begin(replace(START, planner="bob"), planners=("alice",))), "X5.planner")


def test_not_active() -> None:
    for request in (
        rq.Revise(()),
        rq.Dispatch("open", "arm"),
        rq.Claim(),
        rq.Stop("x", "y"),
        rq.Halt("x", "y"),
    ):
        refused(decide(State(), request, 0), "X5.not_active")


def test_unlisted() -> None:
    class Odd(rq.Request, frozen=True, tag=True):
        node: str = "open"

    refused(Case().ask(Odd()), "X5.unlisted")  # type: ignore[arg-type]


# -- X1, X2 restart and reconciliation --------------------------------------------------------------------


def test_restart_marks_what_was_in_flight() -> None:
    case = Case()
    attempt = case.run("open")
    before = case.state
    decision = case.ask(rq.Restart(2))
    granted(decision, "X1")
    assert decision.reasons == ("X1.restarted",)
    assert case.state.attempts[attempt.id].doubtful
    assert (case.state.physical, case.state.observation) == (before.physical, before.observation)
    assert case.state.execution == before.execution


def test_stale_generation() -> None:
    case = Case()
    refused(case.ask(rq.Restart(1)), "X1.stale_generation")
    case.ask(rq.Restart(2))
    refused(case.dispatch("open", generation=1), "X1.stale_generation")
    granted(case.dispatch("open", generation=2), "R2")


@pytest.mark.parametrize(
    ("answer", "interaction", "becomes", "code"),
    [
        (Answer.TERMINAL, Interaction.SUCCEEDED, Interaction.SUCCEEDED, "X2.reconciled"),
        (Answer.TERMINAL, Interaction.LOST, Interaction.LOST, "X2.cannot_tell"),
        (Answer.RUNNING, Interaction.LOST, Interaction.ACCEPTED, "X2.reconciled"),
        (Answer.NEVER_ACCEPTED, Interaction.LOST, Interaction.NEVER_ACCEPTED, "X2.reconciled"),
        (Answer.CANNOT_TELL, Interaction.LOST, Interaction.LOST, "X2.cannot_tell"),
    ],
)
def test_reconcile(answer: Answer, interaction: Interaction, becomes: Interaction, code: str) -> None:
    case = Case()
    attempt = case.run("open")
    case.ask(rq.Restart(2))
    decision = case.ask(rq.Reconcile(attempt.id, answer, interaction))
    granted(decision, "X2")
    assert decision.reasons == (code,)
    assert case.state.attempts[attempt.id].interaction is becomes
    assert attempt.id in case.state.execution  # the effect still needs evidence


def test_reconcile_refusals() -> None:
    case = Case()
    attempt = case.run("open")
    refused(case.ask(rq.Reconcile("e.7", Answer.RUNNING)), "X5.unknown_attempt")
    case.answer(attempt)
    refused(case.ask(rq.Reconcile(attempt.id, Answer.RUNNING)), "X2.not_doubtful")


def test_a_server_that_forgot_an_accepted_goal_proves_nothing() -> None:
    case = Case()
    attempt = case.run("open")
    case.answer(attempt, Interaction.ACCEPTED)
    case.ask(rq.Restart(2))
    case.ask(rq.Reconcile(attempt.id, Answer.NEVER_ACCEPTED))
    assert case.state.attempts[attempt.id].interaction is Interaction.LOST


def test_never_accepted_still_asks_for_negative_evidence() -> None:
    case = Case()
    attempt = case.run("open")
    case.ask(rq.Restart(2))
    case.ask(rq.Reconcile(attempt.id, Answer.NEVER_ACCEPTED))
    refused(case.wait(1).dispatch("open"), "R6.no_qualified_negative")
    granted(case.dispatch("open", attempt=False), "R6")


# -- X3, X4 eligibility -----------------------------------------------------------------------------------


def test_revocation_stops_dispatches_and_asks_for_cancellation() -> None:
    case = Case()
    attempt = case.run("open")
    granted(case.ask(rq.SetAvailability("arm", "revoked: recall", cancel=True)), "X3")
    assert case.state.attempts[attempt.id].cancel_requested
    assert attempt.id in case.state.execution
    case.answer(attempt, Interaction.CANCELED)
    assert attempt.id in case.state.execution  # a cancel reply is no proof of stopping
    refused(case.wait(1).dispatch("open", attempt=False), "R2.provider_unavailable")
    granted(case.dispatch("open", "spare", attempt=False), "R6")


# -- X7 clock ---------------------------------------------------------------------------------------------


def test_clock_back() -> None:
    case = Case()
    attempt = case.run("open")
    case.now -= 10 * S
    refused(case.dispatch("open"), "X7.clock_back")
    refused(case.claim(), "X7.clock_back")
    refused(case.assess("open", True), "X7.clock_back")
    granted(case.answer(attempt), "R3")  # what happened is recorded all the same
    granted(case.wait(20).assess("open", True), "R4")


# -- X8 halt ----------------------------------------------------------------------------------------------


def test_halt() -> None:
    case = Case()
    attempt = case.run("open")
    granted(case.ask(rq.Halt("operator", "smoke")), "X8")
    assert case.state.attempts[attempt.id].cancel_requested
    refused(case.dispatch("open"), "X8.halted")
    granted(case.answer(attempt), "R3")
    granted(case.ask(rq.Resume("operator")), "X8")
    refused(case.wait(1).dispatch("open"), "R6.no_qualified_negative")  # resuming authorizes nothing


# -- X9 attestation ---------------------------------------------------------------------------------------


def attested() -> tuple[Case, object]:
    by_hand = replace(effect("opened", OPEN), requirements=(requirement("by_hand", OPEN, Role.OPERATOR),))
    op = operation("open", by_hand)
    return Case(plan=(Node("open", op),)), op


def test_attestation() -> None:
    case, _ = attested()
    attempt = case.run("open")
    case.wait(1)
    granted(case.ask(rq.Attest("ann", "I looked", OPEN, True, attempt.id)), "X9")
    assert not case.state.execution
    (certificate,) = case.state.progress(case.now)
    assert certificate.lineage == ("operator:ann",)


def test_a_negative_attestation_opens_a_retry() -> None:
    case, _ = attested()
    case.answer(case.run("open"))
    case.wait(1)
    granted(case.ask(rq.Attest("ann", "still shut", OPEN, False, "e.1")), "X9")
    granted(case.ask(rq.Dispatch("open", "arm")), "R6")


def test_not_attestable() -> None:
    case = Case()
    attempt = case.run("open")
    refused(case.ask(rq.Attest("ann", "trust me", OPEN, True, attempt.id)), "X9.not_attestable")
    refused(case.ask(rq.Attest("ann", "trust me", INSIDE, True)), "X9.not_attestable")
    assert attempt.id in case.state.execution


def test_attested_goal() -> None:
    by_hand = requirement("task.tidy", INSIDE, Role.OPERATOR)
    tidy = replace(fact_goal("tidy", INSIDE, ObligationKind.STATE), requirements=(by_hand,))
    case = Case(tidy, plan=())
    granted(case.ask(rq.Attest("ann", "looks fine", INSIDE, True)), "X9")
    granted(case.claim(), "R9")


def test_accounting_key_ignores_names_and_respects_occurrences() -> None:
    assert operation("unlatch", effect("other_id", OPEN)).key == OPEN_IT.key
    assert operation("open", effect("opened", OPEN), occurrence="again").key != OPEN_IT.key
    assert operation("open", effect("opened", INSIDE)).key != OPEN_IT.key
