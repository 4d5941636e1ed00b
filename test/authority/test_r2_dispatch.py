"""Rule 2 and Adm(o, S): first dispatch."""

from __future__ import annotations

from kit import (
    OPEN,
    OPEN_IT,
    PLACED,
    PUT_IT,
    RING,
    SHUT_IT,
    Case,
    S,
    condition,
    effect,
    fact_goal,
    goal,
    granted,
    operation,
    refused,
)

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.events import Dispatched
from adf_ea_ros.authority.model import Mode, Node, ObligationKind


def test_grant_spends_and_records_before_anything_is_sent() -> None:
    case = Case()
    decision = case.dispatch("open")
    granted(decision, "R2")
    attempt = decision.attempt
    assert attempt is not None
    assert attempt.mode is Mode.FIRST
    assert any(isinstance(e, Dispatched) and e.attempt == attempt for e in decision.events)
    assert case.state.physical == 4
    assert case.state.execution[attempt.id].effects == ("opened",)


def test_unknown_node() -> None:
    refused(Case().dispatch("fly"), "R2.unknown_node")


def test_not_bound() -> None:
    refused(Case().dispatch("open", "crane"), "R2.not_bound")


def test_provider_unavailable_until_it_is_back() -> None:
    case = Case()
    case.ask(rq.SetAvailability("arm", "gone"))
    refused(case.dispatch("open"), "R2.provider_unavailable")
    case.ask(rq.SetAvailability("arm"))
    granted(case.dispatch("open"), "R2")


def test_contract_expired() -> None:
    short = operation("open", effect("opened", OPEN), expires=150 * S)
    case = Case(plan=(Node("open", short),))
    refused(case.wait(50).dispatch("open"), "R2.contract_expired")


def test_dependency_needs_live_evidence_not_history() -> None:
    ring = Node("ring", RING, ("open",))
    case = Case(plan=(Node("open", OPEN_IT), ring))
    refused(case.dispatch("ring"), "R2.dependency")
    case.do("open")
    case.wait(30)
    refused(case.dispatch("ring"), "R2.dependency")  # verified once, but not known now
    granted(case.dispatch("ring", open=True), "R2")


def test_obligation_order() -> None:
    rung = goal("rung", RING, ObligationKind.EVENT, after=("opened",))
    case = Case(goal("opened", OPEN_IT), rung, plan=(Node("open", OPEN_IT), Node("ring", RING)))
    refused(case.dispatch("ring"), "R2.obligation_order")
    case.do("open")
    granted(case.dispatch("ring", open=True), "R2")


def test_precondition_false() -> None:
    case = Case(plan=(Node("open", OPEN_IT), Node("put", PUT_IT, ("open",))))
    case.do("open")
    refused(case.wait(1).dispatch("put", open=False), "R2.precondition_false", "R2.dependency")


def test_precondition_unknown_is_not_false() -> None:
    case = Case()
    case.do("open")
    refused(case.wait(1).dispatch("put", open=None), "R2.precondition_unknown", "R2.dependency")


def test_budget() -> None:
    case = Case(plan=(Node("open", OPEN_IT),), physical=1)
    case.do("open")
    assert case.revise(Node("ring", RING)).reasons == ("R1.budget",)
    case = Case(plan=(Node("open", OPEN_IT), Node("ring", RING)), physical=2)
    case.do("open")
    case.refresh(open=False)
    assert case.state.physical == 1
    granted(case.wait(1).dispatch("ring"), "R2")
    again = condition("bell", "polished")
    case = Case(plan=(Node("ring", RING),), physical=1)
    case.run("ring")
    case.state = _planned(case, Node("polish", operation("polish", effect("polished", again))))
    refused(case.dispatch("polish"), "R2.budget")


def _planned(case: Case, node: Node):
    """A proposal that was admitted when there was budget for it."""
    from msgspec.structs import replace

    from adf_ea_ros.authority.proposal import build_proposal

    return replace(case.state, proposal=build_proposal((node,), 9))


def test_two_operations_on_one_fact_do_not_overlap() -> None:
    case = Case(plan=(Node("open", OPEN_IT), Node("shut", SHUT_IT)))
    case.run("open")
    refused(case.dispatch("shut"), "X6.fact_in_flight")


def test_a_precondition_that_an_open_attempt_may_undo_is_not_relied_on() -> None:
    case = Case(plan=(Node("shut", SHUT_IT), Node("open", OPEN_IT), Node("put", PUT_IT, ("open",))))
    case.do("open")
    case.run("shut")
    refused(case.wait(1).dispatch("put", open=True), "X6.fact_in_flight")


def test_unrelated_operations_run_together_on_one_budget() -> None:
    case = Case(PLACED, plan=(Node("open", OPEN_IT), Node("ring", RING)))
    first, second = case.run("open"), case.run("ring")
    assert first.id != second.id
    assert case.state.physical == 3
    assert set(case.state.execution) == {first.id, second.id}


def test_a_state_without_producer_must_be_seen_not_assumed() -> None:
    case = Case(fact_goal("stays", OPEN, ObligationKind.STATE), plan=())
    refused(case.claim(), "R9.uncovered")
    granted(case.claim(open=True), "R9")


def test_another_episodes_open_attempt_blocks_the_same_fact() -> None:
    case = Case()
    busy = (("cabinet", "open", "other.1"),)
    refused(case.ask(rq.Dispatch("open", "arm", elsewhere=busy)), "X6.fact_in_flight")
    case.do("open")
    refused(
        case.ask(rq.Dispatch("put", "arm", elsewhere=busy, view=case.view(open=True))), "X6.fact_in_flight"
    )
    granted(case.dispatch("put", open=True), "R2")
