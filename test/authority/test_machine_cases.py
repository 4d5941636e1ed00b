"""Single cases that the exploration found, and what was mended for them: each failed once."""

from __future__ import annotations

import pytest
from kit import (
    ALL,
    INSIDE,
    MAX_AGE,
    OPEN,
    OPEN_IT,
    PLAN,
    PUT_IT,
    SHUT,
    Case,
    S,
    effect,
    fact_goal,
    goal,
    granted,
    operation,
    refused,
    requirement,
)
from msgspec.structs import replace

from adf_ea_ros.authority import questions
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import (
    Attempt,
    Cause,
    Disposition,
    Effect,
    EffectKind,
    Interaction,
    Node,
    ObligationKind,
    Policy,
    Promises,
    Replay,
)
from adf_ea_ros.contracts.conditions import Condition
from adf_ea_ros.evidence.types import Finding, Verdict

LOOSE = Promises(final_on_result=False, commit_bound=10 * S)
STRICT = dict.fromkeys(Cause, (Disposition.OBSERVE, Disposition.STOP))


def renamed(**more: object) -> Node:
    """OPEN_IT under another name, with other names for its effect and its requirement."""
    return Node("open", operation("unlatch", effect("unlatched", OPEN), **more))  # type: ignore[arg-type]


def test_a_sample_from_before_the_dispatch_proves_nothing_about_the_attempt() -> None:
    case = Case()
    case.run("open", open=False)
    before = case.now
    case.wait(1)
    assert not case.dispatch("open", attempt=True, captured=before).authorized
    assert case.state.execution
    assert not case.state.certificates


def test_what_was_seen_before_the_last_certificate_does_not_take_it_away() -> None:
    case = Case()
    case.do("open", open=False)
    old = case.now - S
    late = case.found(OPEN_IT.effects[0].requirements[0], False, captured=old)
    case.ask(rq.Refresh((late,)))
    assert not any(c.revoked for c in case.state.certificates.values())


def test_evidence_from_before_a_change_supports_no_precondition() -> None:
    shut = operation("shut", effect("shut", SHUT))
    case = Case(plan=(*PLAN, Node("shut", shut)))
    case.do("open", open=False)
    case.refresh(open=True)
    case.wait(1)
    attempt = case.run("shut")
    case.wait(0.1)
    case.answer(attempt)
    case.ask(rq.Assess(attempt.id, case.on_attempt("shut", True)))
    assert not case.state.execution
    assert not case.dispatch("put").authorized  # the last finding on "open" is young, and from before "shut"


def test_a_finding_without_a_basis_supports_nothing() -> None:
    case = Case()
    hollow = tuple(replace(f, basis=()) for f in case.view(open=True, inside=True))
    refused(case.ask(rq.Dispatch("put", "arm", view=hollow)), "R2.dependency", "R2.precondition_unknown")
    refused(case.ask(rq.Claim(hollow)), "R9.uncovered")


def test_two_sensors_that_disagree_permit_no_retry() -> None:
    two = Effect("opened", EffectKind.STATE, OPEN, (requirement("near", OPEN), requirement("far", OPEN)))
    op = operation("open", two)
    case = Case(goal("g", op), plan=(Node("open", op),))
    attempt = case.run("open", open=False)
    case.wait(1)
    case.answer(attempt)
    case.wait(1)
    near, far = op.effects[0].requirements
    split = (case.found(near, False), case.found(far, True))
    refused(case.ask(rq.Dispatch("open", "arm", assessed=split)), "R6.no_qualified_negative")
    both = (case.found(near, False), case.found(far, False))
    granted(case.ask(rq.Dispatch("open", "arm", assessed=both)), "R6")


def lose(case: Case, attempt: Attempt) -> None:
    """The step is verified by evidence, answered without finality, and its state is then seen to be lost."""
    case.wait(1)
    case.ask(rq.Report(attempt.id, Interaction.SUCCEEDED))
    assert case.assess("open", True).authorized
    case.wait(1)
    case.refresh(open=False)


def test_an_answer_without_finality_leaves_an_attempt_that_could_still_act() -> None:
    op = operation("open", effect("opened", OPEN), promises=LOOSE)
    put = operation("put", effect("placed", INSIDE), needs=(OPEN,))
    case = Case(goal("placed", put), plan=(Node("open", op), Node("put", put, ("open",))))
    lose(case, case.run("open", open=False))
    refused(case.dispatch("open", open=False), "R7.could_take_effect")
    case.wait(10)
    granted(case.dispatch("open", open=False), "R7")


def test_an_attempt_that_could_still_undo_the_result_keeps_it_from_completion() -> None:
    op = operation("open", effect("opened", OPEN), promises=LOOSE)
    shut = operation("shut", effect("shut", SHUT))
    case = Case(goal("shut", shut), plan=(Node("open", op), Node("shut", shut)))
    first = case.run("open", open=False)
    case.wait(1)
    case.answer(first)
    case.assess("open", True)
    refused(case.dispatch("shut", open=True), "X6.fact_in_flight")
    case.wait(10)
    case.do("shut", open=True)
    granted(case.claim(open=False), "R9")


@pytest.mark.parametrize("lenient", ["first", "alias"])
def test_an_alias_is_no_way_around_a_stricter_contract(lenient: str) -> None:
    strict = Policy(STRICT, retry_limit=1, replay=Replay.NEVER)
    loose = Policy(ALL, retry_limit=1, replay=Replay.WHEN_ABSENT)
    policies = (loose, strict) if lenient == "first" else (strict, loose)
    op = operation("open", effect("opened", OPEN), policy=policies[0])
    case = Case(goal("g", op), plan=(Node("open", op),))
    case.answer(case.run("open", open=False))
    case.wait(1)
    assert case.revise(renamed(policy=policies[1])).authorized
    assessed = tuple(case.found(r, False) for r in op.effects[0].requirements)
    assert not case.ask(rq.Dispatch("open", "arm", assessed=assessed)).authorized
    ask = case.ask(rq.Assess("e.1", tuple(case.found(r, True) for r in op.effects[0].requirements)))
    assert ask.authorized
    case.wait(1)
    lost = (*case.view(open=False), *(case.found(r, False) for r in op.effects[0].requirements))
    refused(case.ask(rq.Dispatch("open", "arm", view=lost)), "R7.not_permitted")


def test_an_alias_proves_what_the_task_wants_under_its_own_names() -> None:
    case = Case(goal("open", OPEN_IT), plan=(renamed(),))
    case.do("open", open=False)
    granted(case.claim(open=True), "R9")


def test_an_alias_keeps_its_evidence_alive() -> None:
    """A claim asks for the alias' own requirement too: without it, its certificate would only grow old."""
    case = Case(goal("open", OPEN_IT), plan=(renamed(),))
    case.do("open", open=False)
    case.now += 2 * MAX_AGE
    asked = {q.requirement.id for q in questions.about(case.state, rq.Claim(), case.now)}
    assert {"seen.opened", "seen.unlatched"} <= asked
    view = tuple(case.found(requirement(name, OPEN), True) for name in sorted(asked))
    granted(case.ask(rq.Claim(view)), "R9")


def test_a_repair_by_an_alias_is_verified_progress() -> None:
    case = Case()
    case.do("open", open=False)
    case.refresh(open=False)
    assert case.revise(renamed(), Node("put", PUT_IT, ("open",))).authorized
    case.wait(10)
    case.do("open", open=False)
    case.refresh(open=True)
    granted(case.dispatch("put", open=True), "R2")


def test_what_is_trusted_initially_supports_the_steps_behind_it() -> None:
    case = Case(goal("open", OPEN_IT, initial=True), goal("placed", PUT_IT))
    refused(case.dispatch("open", open=True), "R8.initially_true")
    granted(case.dispatch("put", open=True), "R2")


def test_what_was_trusted_initially_and_lost_is_a_first_dispatch() -> None:
    case = Case(goal("open", OPEN_IT, initial=True), goal("placed", PUT_IT))
    refused(case.dispatch("open", open=True), "R8.initially_true")
    case.wait(1)
    granted(case.dispatch("open", open=False), "R2")


def test_an_unrelated_verdict_is_no_certificate() -> None:
    """SATISFIED on another condition under the same requirement id certifies nothing."""
    case = Case()
    case.run("open", open=False)
    case.wait(1)
    name = OPEN_IT.effects[0].requirements[0].id
    wrong = Finding(name, SHUT, Verdict.SATISFIED, case.now, False, case.now, case.now + MAX_AGE, ("o",))
    refused(case.ask(rq.Assess("e.1", (wrong,))), "R3.not_proven")


@pytest.mark.parametrize("seen", [OPEN, SHUT])
def test_a_breach_counts_whoever_saw_it(seen: Condition) -> None:
    """Seen under a step's requirement, negative of it or positive of its contrary, and good again later."""
    case = Case(fact_goal("keep", OPEN, ObligationKind.PRESERVE), plan=())
    case.ask(rq.Refresh((case.found(requirement("elsewhere", seen), seen == SHUT),)))
    case.wait(1)
    refused(case.claim(open=True), "R9.preservation_broken")


def test_a_new_proposal_drops_no_owed_state_that_a_goal_or_a_step_needs() -> None:
    case = Case(goal("open", OPEN_IT), goal("placed", PUT_IT))
    case.do("open", open=False)
    case.wait(1)
    case.refresh(open=False)
    assert case.state.owed
    assert case.revise(*PLAN).authorized
    assert case.state.owed
    case = Case()
    case.do("open", open=False)
    case.wait(1)
    case.refresh(open=False)
    assert case.revise(*PLAN).authorized
    assert case.state.owed


def test_an_older_finding_does_not_stand_in_for_an_answer_that_says_nothing() -> None:
    """A step's need was seen to hold, then not; asked again, its own sensor gives nothing usable."""
    case = Case()
    case.do("open", open=False)
    case.refresh(open=True)
    case.wait(1)
    hollow = tuple(replace(f, basis=()) for f in case.view(open=True))
    decision = case.ask(rq.Dispatch("put", "arm", view=hollow))
    assert not decision.authorized, decision.sentence
    broken = tuple(replace(f, integrity="E.identity") for f in case.view(open=True))
    assert not case.ask(rq.Dispatch("put", "arm", view=broken)).authorized
    granted(case.dispatch("put", open=True), "R2")


def test_an_answered_attempt_that_could_undo_a_goal_keeps_the_claim_waiting() -> None:
    op = operation("open", effect("opened", OPEN), promises=LOOSE)
    case = Case(fact_goal("shut", SHUT, ObligationKind.STATE), plan=(Node("open", op),))
    attempt = case.run("open", open=False)
    case.wait(1)
    case.answer(attempt)
    case.assess("open", True)
    case.wait(1)
    refused(case.claim(open=False), "R9.in_flight")
    case.wait(10)
    granted(case.claim(open=False), "R9")


def test_a_live_certificate_is_not_enough_where_the_goal_is_not_shown() -> None:
    case = Case(goal("open", OPEN_IT), plan=(renamed(),))
    case.do("open", open=False)
    refused(case.ask(rq.Claim()), "R9.uncovered")
    own = tuple(case.found(r, None) for r in OPEN_IT.effects[0].requirements)
    refused(case.ask(rq.Claim(own)), "R9.uncovered")
    granted(case.claim(open=True), "R9")


def test_what_is_shown_is_not_enough_without_a_live_certificate() -> None:
    case = Case(goal("open", OPEN_IT))
    case.do("open", open=False)
    case.wait(1)
    case.run("open", open=False)
    case.wait(1)
    refused(case.claim(open=True), "R9.uncovered", "R9.unresolved", "R9.state_owed")


def test_a_lost_state_of_two_sensors_is_verified_again_by_both() -> None:
    two = Effect("opened", EffectKind.STATE, OPEN, (requirement("near", OPEN), requirement("far", OPEN)))
    op = operation("open", two)
    case = Case(goal("g", op), plan=(Node("open", op),))
    case.do("open", open=False)
    near, far = op.effects[0].requirements
    case.wait(1)
    case.ask(rq.Refresh((case.found(near, False), case.found(far, False))))
    case.wait(1)
    case.ask(rq.Refresh((case.found(near, True),)))
    assert case.state.owed
    granted(case.ask(rq.Claim((case.found(near, True), case.found(far, True)))), "R9")
    assert not case.state.owed


def test_an_expired_finding_takes_nothing_away() -> None:
    case = Case()
    case.do("open", open=False)
    case.wait(1)
    late = replace(case.found(OPEN_IT.effects[0].requirements[0], False), valid_until=case.now - 1)
    case.ask(rq.Refresh((late,)))
    assert not any(c.revoked for c in case.state.certificates.values())


def test_what_excludes_a_certified_state_takes_it_away() -> None:
    case = Case()
    case.do("open", open=False)
    case.wait(1)
    case.ask(rq.Refresh((case.found(requirement("other", SHUT), True),)))
    assert all(c.revoked for c in case.state.certificates.values())
    assert case.state.owed


def test_a_goal_needs_its_lost_state_whatever_is_planned() -> None:
    case = Case(goal("open", OPEN_IT), plan=(Node("open", OPEN_IT),))
    case.do("open", open=False)
    case.wait(1)
    case.refresh(open=False)
    assert case.revise().authorized
    assert case.state.owed


def test_a_temporary_need_ends_when_its_step_is_verified() -> None:
    case = Case()
    case.do("open", open=False)
    case.run("put", open=True)
    case.wait(1)
    case.refresh(open=False)
    assert case.state.owed
    assert case.assess("put", True).authorized
    assert not case.state.owed


def test_a_broken_preservation_holds_up_what_the_task_orders_after_it() -> None:
    keep = fact_goal("keep", SHUT, ObligationKind.PRESERVE)
    case = Case(
        keep, goal("placed", PUT_IT, after=("keep",)), plan=(Node("put", replace(PUT_IT, preconditions=())),)
    )
    case.refresh(open=True)
    case.wait(1)
    refused(case.dispatch("put", open=False), "R2.obligation_order")


def test_the_retry_allowance_is_granted_once() -> None:
    case = Case()
    for _ in range(2):
        attempt = case.run("open", open=False, attempt=False)
        case.wait(1)
        case.answer(attempt)
        case.wait(1)
    refused(case.dispatch("open", open=False, attempt=False), "R6.retry_budget")


def test_an_answer_after_the_evidence_is_no_end_without_finality() -> None:
    op = operation("open", effect("opened", OPEN), promises=LOOSE)
    shut = operation("shut", effect("shut", SHUT))
    case = Case(goal("shut", shut), plan=(Node("open", op), Node("shut", shut)))
    attempt = case.run("open", open=False)
    case.wait(1)
    assert case.assess("open", True).authorized
    case.wait(1)
    case.answer(attempt)
    refused(case.dispatch("shut", open=True), "X6.fact_in_flight")


def test_what_was_seen_before_a_dispatch_says_nothing_of_what_it_touches() -> None:
    case = Case(plan=())
    assert case.revise(Node("open", OPEN_IT), Node("put", PUT_IT), view=Case().view(open=True)).authorized
    case.wait(1)
    case.run("open", open=True)
    case.wait(1)
    refused(case.dispatch("put"), "R2.precondition_unknown")


def test_effects_in_another_order_are_the_same_operation() -> None:
    one, two = effect("opened", OPEN), effect("placed", INSIDE)
    assert operation("a", one, two).key == operation("b", two, one).key


def test_an_answer_certifies_nothing_whatever_is_known_besides() -> None:
    case = Case()
    attempt = case.run("open", open=False)
    case.wait(1)
    case.refresh(open=True)
    case.answer(attempt)
    assert case.state.execution
    assert not case.state.certificates


def test_what_is_certified_is_not_certified_again() -> None:
    op = operation("both", effect("opened", OPEN), effect("placed", INSIDE))
    case = Case(goal("g", op), plan=(Node("both", op),))
    attempt = case.run("both", open=False, inside=False)
    near, far = (e.requirements[0] for e in op.effects)
    for _ in range(2):
        case.wait(1)
        case.ask(rq.Assess(attempt.id, (case.found(near, True), case.found(far, None))))
    assert len(case.state.certificates) == 1
    assert case.state.execution[attempt.id].effects == ("placed",)


def test_a_repair_brings_no_retry_allowance_back() -> None:
    case = Case(goal("open", OPEN_IT), plan=(Node("open", OPEN_IT),), physical=9)
    case.answer(case.run("open", open=False))
    case.wait(1)
    attempt = case.run("open", open=False, attempt=False)
    case.wait(1)
    case.answer(attempt)
    case.wait(1)
    assert case.assess("open", True).authorized
    case.wait(1)
    attempt = case.run("open", open=False)
    assert attempt.mode.value == "REPAIR"
    case.wait(1)
    case.answer(attempt)
    case.wait(1)
    refused(case.dispatch("open", open=False, attempt=False), "R6.retry_budget")
