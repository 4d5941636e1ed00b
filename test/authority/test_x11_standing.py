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
    SHUT,
    SHUT_IT,
    Case,
    S,
    effect,
    fact_goal,
    goal,
    granted,
    operation,
    refused,
)

from adf_ea_ros.authority import questions
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import (
    Cause,
    Disposition,
    EffectKind,
    Interaction,
    Mode,
    Node,
    ObligationKind,
    Policy,
    Promises,
    Replay,
)
from adf_ea_ros.authority.rules.x11_heir import heir, may_give_way
from adf_ea_ros.authority.rules.x11_standing import spent
from adf_ea_ros.evidence.types import Finding, Verdict

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
    """The episode that goes on in the place of this one."""
    bare = EpisodeStarted("h", case.state.task, "f-task", case.now, case.state.goal, 9, 9, standing=True)
    start = heir(bare, case.state)
    names = ("episode", "inherited", "physical", "observation", "touched", "broken")
    fields = {name: getattr(start, name) for name in names}
    return Case(*case.state.goal, plan=plan, standing=True, now=case.now, **fields)


def test_an_heir_does_not_repeat_what_holds() -> None:
    case = standing(Node("open", OPEN_IT))
    case.do("open")
    after = heir_of(case, Node("open", OPEN_IT))
    refused(after.dispatch("open", open=True), "R8.redundant")
    granted(after.dispatch("open", open=False), "R7")


def test_an_heir_has_the_retries_that_were_left() -> None:
    case = standing(Node("open", OPEN_IT))
    fail(case)
    case.run("open", attempt=False)
    case.wait(1)
    case.assess("open", True)
    after = heir_of(case, Node("open", OPEN_IT))
    attempt = after.run("open", open=False)
    after.wait(1)
    after.answer(attempt, Interaction.ABORTED)
    after.wait(1)
    refused(after.dispatch("open", attempt=False), "R6.retry_budget")


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
    after = heir_of(case).wait(1)
    late = after.found(OPEN_IT.effects[0].requirements[0], False, captured=before)
    after.ask(rq.Refresh((late,)))
    assert not any(certificate.revoked for certificate in after.state.certificates.values())


def test_an_heir_knows_of_changes_whose_account_it_does_not_have() -> None:
    """It was opened, and shut by hand since: nothing of it holds, and what was seen before is its past."""
    case = standing(Node("open", OPEN_IT))
    before = case.now
    case.wait(1)
    case.do("open")
    case.refresh(open=False)
    late = case.found(PUT_IT.preconditions[0].requirement, True, captured=before)
    for episode, counts in ((heir_of(case), False), (standing(now=case.now), True)):
        assert not episode.state.keys
        episode.ask(rq.Refresh((late,)))
        assert (episode.state.finding(late.requirement, OPEN, case.now) is not None) is counts


def test_a_repair_by_another_provider_needs_leave_in_an_heir_too() -> None:
    stays = {cause: tuple(d for d in Disposition if d is not Disposition.REBIND) for cause in Cause}
    mine = operation("open", effect("opened", OPEN), policy=Policy(stays, 1, Replay.WHEN_ABSENT))
    case = standing(Node("open", mine))
    case.do("open", "spare")
    after = heir_of(heir_of(case, Node("open", mine)), Node("open", mine))
    refused(after.dispatch("open", "arm", open=False), "R7.rebind_not_permitted")
    granted(after.dispatch("open", "spare", open=False), "R7")


def test_an_heir_asks_sensors_other_than_those_of_who_did_it() -> None:
    case = standing(Node("open", OPEN_IT))
    case.do("open", "spare")
    after = heir_of(case, Node("open", OPEN_IT))
    asked = questions.about(after.state, rq.Dispatch("open", "arm"), after.now)
    assert {question.context.executor for question in asked} == {"spare"}


def test_what_is_not_live_is_not_live_in_an_heir() -> None:
    """Sensors disagreed after it was certified: to go on in a new episode settles nothing."""
    case = standing(Node("open", OPEN_IT))
    case.do("open")
    (proof,) = case.state.certificates.values()
    assert heir_of(case).state.live(proof, case.now)
    case.wait(1)
    needed = OPEN_IT.effects[0].requirements[0]
    case.ask(rq.Refresh((Finding(needed.id, OPEN, Verdict.UNKNOWN, case.now, basis=("o1", "o2")),)))
    assert not case.state.live(proof, case.now)
    assert not heir_of(case).state.live(proof, case.now)


def test_what_was_revoked_or_is_an_event_has_no_account_in_an_heir() -> None:
    case = standing(Node("open", OPEN_IT), Node("shut", SHUT_IT), Node("ring", RING))
    case.do("open")
    case.do("ring")
    case.do("shut", open=True)
    after = heir_of(case)
    assert set(after.state.keys) == {SHUT_IT.key}
    assert (after.state.physical, after.state.observation) == (case.state.physical, case.state.observation)


def test_what_was_never_established_has_no_account_in_an_heir() -> None:
    """Such an episode does not give way at all; should it, nobody takes what was sent for what holds."""
    case = standing(Node("open", OPEN_IT))
    case.run("open")
    assert not heir_of(case).state.keys


def test_what_was_broken_is_broken_in_an_heir() -> None:
    keep = fact_goal("keep", SHUT, ObligationKind.PRESERVE)
    case = Case(keep, plan=(), standing=True)
    case.refresh(open=True)
    assert "keep" in case.state.broken
    assert heir_of(case).state.broken == case.state.broken


def test_an_episode_gives_way_when_nothing_in_it_is_open() -> None:
    case = standing(Node("open", OPEN_IT))
    assert may_give_way(case.state, case.now)
    attempt = case.run("open")
    assert not may_give_way(case.state, case.now)
    case.wait(1)
    case.assess("open", True)
    assert attempt.id in case.state.lingering  # verified, and may still act
    assert not may_give_way(case.state, case.now)
    case.wait(10)
    assert may_give_way(case.state, case.now)
    case.ask(rq.Halt("ann", "smoke"))
    assert not may_give_way(case.state, case.now)


def test_nor_while_a_state_is_owed() -> None:
    case = Case(goal("open", OPEN_IT), plan=(Node("open", OPEN_IT),), standing=True)
    case.do("open")
    case.wait(1)
    case.refresh(open=False)
    assert case.state.owed
    assert not may_give_way(case.state, case.now)
