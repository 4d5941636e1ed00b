"""X11: in a standing task each goal is an obligation of its own."""

from __future__ import annotations

import pytest
from kit import (
    INSIDE,
    OPEN,
    OPEN_IT,
    PUT_IT,
    RING,
    RUNG,
    SHUT_IT,
    Case,
    S,
    effect,
    goal,
    granted,
    operation,
    refused,
)

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.events import Inheritance
from adf_ea_ros.authority.model import EffectKind, Interaction, Mode, Node, Promises
from adf_ea_ros.authority.rules.x11_standing import spent
from adf_ea_ros.authority.state import fact_name

RING_AGAIN = operation("ring", effect("rang", RUNG, EffectKind.EVENT), occurrence="g2")


def standing(*plan: Node, **more: object) -> Case:
    return Case(plan=plan, standing=True, **more)


def fail(case: Case, node: str = "open", interaction: Interaction = Interaction.SUCCEEDED):
    """An attempt whose effect is shown to be absent for good."""
    attempt = case.run(node)
    case.wait(1)
    case.answer(attempt, interaction)
    case.wait(1)
    case.assess(node, False)
    return case.state.attempts[attempt.id]


def test_a_goal_for_a_state_that_was_established_and_lost_is_a_repair() -> None:
    case = standing(Node("open", OPEN_IT), Node("shut", SHUT_IT))
    case.do("open")
    case.wait(1)
    refused(case.dispatch("open", open=True), "R8.redundant")
    case.do("shut", open=True)
    case.wait(6)
    refused(case.dispatch("open"), "R7.unknown_now")
    decision = case.dispatch("open", open=False)
    granted(decision, "R7")
    assert decision.attempt is not None
    assert decision.attempt.mode is Mode.REPAIR


def test_in_an_ordinary_task_nothing_needs_it() -> None:
    shut = goal("shut", SHUT_IT)
    case = Case(shut, plan=(Node("open", OPEN_IT), Node("shut", SHUT_IT)))
    case.do("open")
    case.wait(1)
    case.do("shut", open=True)
    case.wait(6)
    refused(case.dispatch("open", open=False), "R8.not_needed")


def test_occurrences_of_events_need_no_declaration() -> None:
    nodes = (Node("ring", RING), Node("again", RING_AGAIN))
    assert Case(plan=()).revise(*nodes).reasons == ("R1.occurrence",)
    case = standing(*nodes)
    case.do("ring")
    granted(case.dispatch("again"), "R2")


def test_but_doubt_about_one_keeps_the_next_from_running() -> None:
    case = standing(Node("ring", RING), Node("again", RING_AGAIN))
    first = fail(case, "ring")
    assert not spent(case.state, first, case.now)
    refused(case.dispatch("again"), "X6.fact_in_flight")


def test_occurrences_of_states_are_no_way_to_a_fresh_allowance() -> None:
    other = operation("open", effect("opened", OPEN), occurrence="g2")
    case = standing(Node("open", OPEN_IT))
    assert case.revise(Node("other", other)).reasons == ("R1.occurrence",)


def test_an_attempt_that_is_shown_to_have_done_nothing_is_in_nobodys_way() -> None:
    case = standing(Node("open", OPEN_IT), Node("shut", SHUT_IT))
    first = fail(case, interaction=Interaction.CANCELED)
    assert spent(case.state, first, case.now)
    case.wait(100)
    assert spent(case.state, case.state.attempts[first.id], case.now)
    assert first.id in case.state.execution
    granted(case.dispatch("shut"), "R2")


def test_for_its_own_key_it_stays_unresolved() -> None:
    case = standing(Node("open", OPEN_IT))
    fail(case)
    refused(case.dispatch("open"), "R6.no_qualified_negative")
    granted(case.dispatch("open", attempt=False), "R6")


def test_in_an_ordinary_task_it_is_in_the_way() -> None:
    case = Case(plan=(Node("open", OPEN_IT), Node("shut", SHUT_IT)))
    first = fail(case)
    assert not spent(case.state, first, case.now)
    refused(case.dispatch("shut"), "X6.fact_in_flight")


@pytest.mark.parametrize("seen", [None, True])
def test_without_qualified_negative_evidence_it_is_not_spent(seen: bool | None) -> None:
    case = standing(Node("open", OPEN_IT), Node("shut", SHUT_IT))
    attempt = case.run("open")
    case.wait(1)
    case.answer(attempt)
    case.wait(1)
    if seen is not None:
        case.assess("open", seen)
    assert not spent(case.state, case.state.attempts[attempt.id], case.now)


def test_what_may_still_come_is_not_spent() -> None:
    loose = operation("open", effect("opened", OPEN), promises=Promises(commit_bound=10 * S))
    case = standing(Node("open", loose), Node("shut", SHUT_IT))
    first = fail(case)
    assert not spent(case.state, first, case.now)
    refused(case.dispatch("shut"), "X6.fact_in_flight")
    case.wait(20)
    assert not spent(case.state, first, case.now)  # seen when it could still come
    case.assess("open", False)
    assert spent(case.state, case.state.attempts[first.id], case.now)


def test_what_it_did_bring_about_is_not_owed() -> None:
    both = operation("both", effect("opened", OPEN), effect("placed", INSIDE))
    case = standing(Node("both", both), Node("shut", SHUT_IT))
    first = case.run("both")
    case.wait(1)
    case.answer(first)
    case.wait(1)
    opened, placed = (each.requirements[0] for each in both.effects)
    case.ask(rq.Assess(first.id, (case.found(opened, True), case.found(placed, False))))
    assert case.state.execution[first.id].effects == ("placed",)
    assert spent(case.state, case.state.attempts[first.id], case.now)


def test_a_step_that_was_sent_is_kept_whatever_became_of_its_preconditions() -> None:
    case = standing(Node("open", OPEN_IT), Node("put", PUT_IT, ("open",)))
    case.do("open")
    case.wait(1)
    case.run("put", open=True)
    case.wait(6)
    put = Node("put", PUT_IT)
    assert case.revise(put, Node("ring", RING)).authorized
    assert Case(plan=()).revise(put).reasons == ("R1.unsupported",)


def test_without_a_promise_more_may_still_come_for_ever() -> None:
    mute = operation("open", effect("opened", OPEN), promises=Promises())
    case = standing(Node("open", mute), Node("shut", SHUT_IT))
    first = fail(case)
    case.wait(1000)
    case.assess("open", False)
    assert not spent(case.state, case.state.attempts[first.id], case.now)


def test_evidence_that_came_too_late_to_prove_an_effect_is_no_sign_of_its_absence() -> None:
    case = standing(Node("open", OPEN_IT))
    attempt = case.run("open")
    case.wait(1)
    case.answer(attempt)
    seen = case.now + S
    case.wait(60)
    case.ask(rq.Assess(attempt.id, case.on_attempt("open", True, captured=seen)))
    assert attempt.id in case.state.execution
    assert not spent(case.state, case.state.attempts[attempt.id], case.now)


def test_a_trace_of_an_event_that_is_gone_asks_for_nothing() -> None:
    """The state holds; that the bell is silent by now is no reason to open once more, nor to speak of it."""
    both = operation("both", effect("opened", OPEN), effect("rang", RUNG, EffectKind.EVENT))
    case = standing(Node("both", both))
    case.do("both")
    case.wait(1)
    refused(case.dispatch("both", open=True, rung=False), "R8.redundant")


def heir_of(case: Case, *plan: Node) -> Case:
    """The episode that goes on with the account of ``open``."""
    record = case.state.keys[OPEN_IT.key]
    fact = fact_name(OPEN.fact)
    account = Inheritance(
        OPEN_IT.key,
        OPEN_IT,
        record.retries,
        tuple(case.state.certificates[name] for name in record.certificates.values()),
        ((fact, case.state.touched[fact]),),
    )
    return standing(*plan, inherited=(account,), now=case.now)


def test_an_heir_does_not_repeat_what_holds() -> None:
    case = standing(Node("open", OPEN_IT))
    case.do("open")
    heir = heir_of(case, Node("open", OPEN_IT))
    refused(heir.dispatch("open", open=True), "R8.redundant")
    granted(heir.dispatch("open", open=False), "R7")


def test_an_heir_has_the_retries_that_were_left() -> None:
    case = standing(Node("open", OPEN_IT))
    fail(case)
    case.run("open", attempt=False)
    case.wait(1)
    case.assess("open", True)
    heir = heir_of(case, Node("open", OPEN_IT))
    attempt = heir.run("open", open=False)
    heir.wait(1)
    heir.answer(attempt, Interaction.ABORTED)
    heir.wait(1)
    refused(heir.dispatch("open", attempt=False), "R6.retry_budget")


def test_an_heir_knows_what_was_touched_last() -> None:
    """Another operation for the same state ran after the state was certified: older samples show nothing."""
    case = standing(
        Node("open", OPEN_IT), Node("pull", operation("pull", effect("opened", OPEN), effect("in", INSIDE)))
    )
    case.do("open")
    case.wait(1)
    before = case.now
    case.wait(1)
    case.run("pull")
    heir = heir_of(case).wait(1)
    late = heir.found(OPEN_IT.effects[0].requirements[0], False, captured=before)
    heir.ask(rq.Refresh((late,)))
    assert not any(certificate.revoked for certificate in heir.state.certificates.values())
