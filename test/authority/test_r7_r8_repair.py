"""Rules 7 and 8: repair of what was lost and is needed; everything else that repeats is refused."""

from __future__ import annotations

from kit import (
    ALL,
    INSIDE,
    OPEN,
    OPEN_IT,
    PLACED,
    PUT_IT,
    RING,
    RUNG,
    Case,
    condition,
    effect,
    fact_goal,
    goal,
    granted,
    operation,
    refused,
)

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import (
    Cause,
    Disposition,
    EffectKind,
    Interaction,
    Mode,
    Node,
    ObligationKind,
    Policy,
    Replay,
)


def lost(case: Case | None = None) -> Case:
    """Open was verified; later somebody closed the cabinet, and put still needs it."""
    case = case or Case()
    case.do("open")
    return case.wait(2)


def test_repair_spends_physical_budget_and_no_retry() -> None:
    case = lost()
    before = case.state
    decision = case.dispatch("open", open=False)
    granted(decision, "R7")
    assert decision.attempt is not None
    assert decision.attempt.mode is Mode.REPAIR
    assert case.state.physical == before.physical - 1
    assert case.state.observation == before.observation
    assert case.state.keys[OPEN_IT.key].retries == before.keys[OPEN_IT.key].retries == 1
    assert not case.state.attempts["e.1"].superseded  # the earlier success stays a success


def test_a_repair_restores_support_only_through_new_evidence() -> None:
    case = lost()
    case.run("open", open=False)
    refused(case.wait(1).dispatch("put", open=None), "R2.dependency", "R2.precondition_unknown")
    case.answer(case.state.attempts["e.2"])
    granted(case.wait(1).assess("open", True), "R4")
    granted(case.dispatch("put", open=True), "R2")
    assert not case.state.owed


def test_a_failed_repair_is_a_retry_of_the_same_account() -> None:
    case = lost()
    case.answer(case.run("open", open=False))
    case.wait(1)
    refused(case.dispatch("open", open=False), "R6.no_qualified_negative")  # pending comes first
    decision = case.dispatch("open", attempt=False, open=False)
    granted(decision, "R6")
    assert case.state.keys[OPEN_IT.key].retries == 0


def test_loss_opens_a_state_obligation_and_no_execution_obligation() -> None:
    case = lost()
    case.refresh(open=False)
    assert case.state.owed[str(OPEN)].needed_by == ("put",)
    assert not case.state.execution
    assert [c.revoked != "" for c in case.state.certificates.values()] == [True]


def test_unknown_now() -> None:
    refused(lost().dispatch("open", open=None), "R7.unknown_now")


def test_expiry_alone_is_no_loss() -> None:
    case = lost()
    refused(case.wait(60).dispatch("open"), "R7.unknown_now")


def test_redundant() -> None:
    refused(lost().dispatch("open", open=True), "R8.redundant")


def test_not_needed_once_the_step_that_needed_it_is_verified() -> None:
    case = lost()
    attempt = case.run("put", open=True)
    case.answer(attempt)
    case.wait(1)
    case.assess("put", True)
    refused(case.dispatch("open", open=False, inside=True), "R8.not_needed")
    assert not case.state.owed
    granted(case.claim(open=False, inside=True), "R9")


def test_redundant_while_nothing_says_otherwise() -> None:
    case = Case(plan=(Node("open", OPEN_IT),))
    case.do("open")
    refused(case.dispatch("open", open=True), "R8.redundant")


def test_event_done() -> None:
    case = Case(goal("rung", RING, ObligationKind.EVENT), plan=(Node("ring", RING),))
    case.do("ring")
    refused(case.dispatch("ring"), "R8.event_done")


def test_event_effect() -> None:
    both = operation("open", effect("opened", OPEN), effect("rang", RUNG, EffectKind.EVENT))
    case = lost(Case(plan=(Node("open", both), Node("put", PUT_IT, ("open",)))))
    refused(case.dispatch("open", open=False), "R7.event_effect")


def test_not_permitted() -> None:
    permits = {**ALL, Cause.STATE_LOST: (Disposition.STOP,)}
    strict = operation("open", effect("opened", OPEN), policy=Policy(permits, 1, Replay.WHEN_ABSENT))
    case = lost(Case(plan=(Node("open", strict), Node("put", PUT_IT, ("open",)))))
    refused(case.dispatch("open", open=False), "R7.not_permitted")


def test_rebind_not_permitted() -> None:
    permits = {**ALL, Cause.STATE_LOST: (Disposition.REPAIR,)}
    strict = operation("open", effect("opened", OPEN), policy=Policy(permits, 1, Replay.WHEN_ABSENT))
    case = lost(Case(plan=(Node("open", strict), Node("put", PUT_IT, ("open",)))))
    refused(case.dispatch("open", "spare", open=False), "R7.rebind_not_permitted")
    granted(case.dispatch("open", "arm", open=False), "R7")


def test_where_the_provider_is_gone_that_is_the_cause_of_the_rebinding() -> None:
    for permitted in (True, False):
        permits = {**ALL, Cause.STATE_LOST: (Disposition.REPAIR,)}
        if not permitted:
            permits[Cause.PROVIDER_UNAVAILABLE] = (Disposition.STOP,)
        strict = operation("open", effect("opened", OPEN), policy=Policy(permits, 1, Replay.WHEN_ABSENT))
        case = lost(Case(plan=(Node("open", strict), Node("put", PUT_IT, ("open",)))))
        case.ask(rq.SetAvailability("arm", "revoked"))
        decision = case.dispatch("open", "spare", open=False)
        granted(decision, "R7") if permitted else refused(decision, "R7.rebind_not_permitted")


def test_could_take_effect() -> None:
    case = Case()
    case.run("open")
    granted(case.wait(1).assess("open", True), "R4")  # seen open, while the answer is outstanding
    refused(case.wait(1).dispatch("open", open=False), "R7.could_take_effect")
    granted(case.wait(10).dispatch("open", open=False), "R7")


def test_a_lost_goal_is_needed_by_the_claim() -> None:
    case = Case(goal("opened", OPEN_IT), plan=(Node("open", OPEN_IT),))
    case.do("open")
    refused(case.wait(1).claim(open=False), "R9.uncovered", "R9.state_owed")
    granted(case.dispatch("open", open=False), "R7")


def test_a_lost_goal_is_not_repaired_while_steps_are_ahead() -> None:
    case = Case(goal("opened", OPEN_IT), plan=(Node("open", OPEN_IT), Node("ring", RING)))
    case.do("open")
    refused(case.wait(1).dispatch("open", open=False), "R8.not_needed")


def test_a_repair_may_be_needed_by_another_repair() -> None:
    """The cup fell out and the cabinet closed: opening is needed for putting the cup back."""
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.wait(2)
    refused(case.dispatch("put", inside=False, open=False), "R2.precondition_false", "R2.dependency")
    granted(case.dispatch("open", inside=False, open=False), "R7")


def test_a_repair_may_be_needed_by_a_retry() -> None:
    case = Case(PLACED)
    case.do("open")
    case.answer(case.run("put", open=True))
    case.wait(1)
    case.dispatch("put", attempt=False, open=False)
    granted(case.dispatch("open", open=False), "R7")


def test_no_repair_for_the_sake_of_an_unknown_outcome() -> None:
    case = Case(PLACED)
    case.do("open")
    case.answer(case.run("put", open=True))
    refused(case.wait(1).dispatch("open", open=False), "R8.not_needed")


def test_initially_true() -> None:
    opened = goal("opened", OPEN_IT, initial=True)
    case = Case(opened, plan=(Node("open", OPEN_IT),))
    refused(case.dispatch("open", open=True), "R8.initially_true")
    assert case.state.physical == 5
    (certificate,) = case.state.progress(case.now)
    assert certificate.attempt == ""
    granted(case.claim(open=True), "R9")


def test_initial_evidence_counts_only_where_the_task_trusts_it() -> None:
    case = Case(goal("opened", OPEN_IT), plan=(Node("open", OPEN_IT),))
    refused(case.claim(open=True), "R9.uncovered")
    granted(case.dispatch("open", open=True), "R2")


def test_what_rests_on_a_lost_state_falls_with_it() -> None:
    held = condition("cup", "held")
    lit = condition("cup", "lit")
    grip = operation("grip", effect("held", held))
    light = operation("light", effect("lit", lit, rests_on=(held,)))
    lift = operation("lift", effect("lifted", condition("cup", "lifted"), rests_on=(lit,)))
    plan = (Node("grip", grip), Node("light", light, ("grip",)), Node("lift", lift, ("light",)))
    case = Case(goal("lifted", lift), plan=plan)
    case.do("grip")
    case.do("light", held=True)
    case.do("lift", lit=True, held=True)
    case.wait(1).refresh(held=False)
    assert all(c.revoked for c in case.state.certificates.values())
    assert str(condition("cup", "lifted")) in case.state.owed


def test_a_state_restored_by_somebody_else_counts_once_seen() -> None:
    case = lost()
    case.refresh(open=False)
    assert case.state.owed
    case.wait(1).refresh(open=True)
    assert not case.state.owed
    granted(case.dispatch("put", open=True), "R2")


def test_the_answer_to_a_repair_is_no_evidence_either() -> None:
    case = lost()
    case.answer(case.run("open", open=False), Interaction.SUCCEEDED)
    assert not case.state.progress(case.now)
    assert case.ask(rq.Claim()).reasons[0] == "R9.uncovered"


def test_goals_of_facts_have_no_producer_to_repair_them() -> None:
    case = Case(fact_goal("inside", INSIDE, ObligationKind.STATE), plan=())
    refused(case.claim(inside=False), "R9.uncovered")
