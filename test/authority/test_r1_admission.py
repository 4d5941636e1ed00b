"""Rule 1: what a proposal must be, and what its admission leaves alone."""

from __future__ import annotations

from kit import (
    INSIDE,
    OPEN,
    OPEN_IT,
    PLACED,
    PLAN,
    PUT_IT,
    RING,
    SHUT_IT,
    Case,
    effect,
    fact_goal,
    granted,
    operation,
    refused,
)
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import Node, ObligationKind


def test_grant_changes_the_proposal_and_nothing_else() -> None:
    case = Case(plan=())
    before = case.state
    granted(case.revise(*PLAN), "R1")
    after = case.state
    assert after.proposal.needs["put"] == ("open",)
    assert after.proposal.links[OPEN_IT.key] == (("put", "needs0"),)
    same = dict.fromkeys(
        ("goal", "certificates", "execution", "owed", "attempts", "keys", "physical", "observation")
    )
    assert all(getattr(before, name) == getattr(after, name) for name in same)


def test_grounding() -> None:
    refused(Case(plan=()).revise(*PLAN, faults=(("A.range", "target is 300"),)), "R1.grounding")


def test_duplicate_node() -> None:
    refused(Case(plan=()).revise(PLAN[0], PLAN[0]), "R1.duplicate_node")


def test_unknown_dependency() -> None:
    refused(Case(plan=()).revise(Node("open", OPEN_IT, ("nothing",))), "R1.unknown_dependency")


def test_cycle() -> None:
    refused(Case(plan=()).revise(Node("open", OPEN_IT, ("put",)), PLAN[1]), "R1.cycle")


def test_capability_not_permitted() -> None:
    case = Case(plan=(), capabilities=("open", "put"))
    refused(case.revise(*PLAN, Node("ring", RING)), "R1.capability_not_permitted")


def test_an_occurrence_must_be_the_tasks_own() -> None:
    again = operation("ring", *RING.effects, occurrence="second")
    refused(Case(plan=()).revise(Node("ring", again)), "R1.occurrence")
    granted(Case(plan=(), occurrences=((again.key, "second"),)).revise(Node("ring", again)), "R1")
    assert again.key != RING.key


def test_order() -> None:
    refused(Case(plan=()).revise(PLAN[0], Node("put", PUT_IT)), "R1.order")


def test_unsupported_unless_true_now() -> None:
    case = Case(plan=())
    refused(case.revise(Node("put", PUT_IT)), "R1.unsupported")
    refused(case.revise(Node("put", PUT_IT), view=case.view(open=None)), "R1.unsupported")
    granted(case.revise(Node("put", PUT_IT), view=case.view(open=True)), "R1")


def test_budget() -> None:
    refused(Case(plan=(), physical=1).revise(*PLAN), "R1.budget")


def test_no_provider() -> None:
    case = Case(plan=())
    for name in ("arm", "spare"):
        case.ask(rq.SetAvailability(name, "gone"))
    decision = case.revise(*PLAN)
    refused(decision, "R1.no_provider")
    assert "no eligible provider for step 'open': arm is not eligible: gone; spare is" in decision.sentence


def test_preserved() -> None:
    stays_open = fact_goal("stays_open", OPEN, ObligationKind.PRESERVE)
    refused(Case(stays_open, plan=()).revise(Node("shut", SHUT_IT)), "R1.preserved")
    granted(Case(stays_open, plan=()).revise(Node("open", OPEN_IT)), "R1")


def test_dropping_a_node_drops_no_obligation() -> None:
    case = Case()
    attempt = case.run("open")
    granted(case.revise(Node("shut", SHUT_IT)), "R1")
    assert attempt.id in case.state.execution
    refused(case.claim(), "R9.uncovered", "R9.unresolved")


def test_revision_resets_no_budget_and_no_account() -> None:
    case = Case()
    case.run("open")
    renamed = Node("unlatch", replace(OPEN_IT, capability="unlatch", contract="unlatch@1.0.0"))
    granted(case.revise(renamed, Node("put", PUT_IT, ("unlatch",))), "R1")
    assert case.state.physical == 4
    refused(case.dispatch("unlatch"), "R6.no_qualified_negative")


def test_a_need_that_only_a_dropped_step_had_ends() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    assert str(OPEN) in case.state.owed
    elsewhere = operation("put_elsewhere", effect("placed", INSIDE))
    granted(case.revise(Node("other", elsewhere)), "R1")
    assert not case.state.owed
