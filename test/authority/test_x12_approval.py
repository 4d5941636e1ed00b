"""X12: where a contract asks for it, a person answers for one dispatch, just as it is sent."""

from __future__ import annotations

import msgspec
import pytest
from kit import INSIDE, OPEN, Case, S, effect, goal, granted, operation, refused
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import Approved, decode_event, encode_event
from adf_ea_ros.authority.feedback import acceptable
from adf_ea_ros.authority.fold import replay
from adf_ea_ros.authority.model import ApprovalTerms, Interaction, Node, Operation
from adf_ea_ros.authority.rules.x12_approval import void
from adf_ea_ros.authority.state import decode_state, encode_state

TERMS = ApprovalTerms(60 * S)
DOOR = replace(operation("open", effect("opened", OPEN)), approval=TERMS)


def case(op: Operation = DOOR, **more: object) -> Case:
    return Case(plan=(Node("open", op),), planner="robot", **more)  # type: ignore[arg-type]


def approve(one: Case, by: str = "ann", step: str = "open", valid_for: int = 0) -> Decision:
    return one.ask(rq.Approve(step, by, "seen it", valid_for))


def approved(one: Case | None = None, by: str = "ann") -> Case:
    one = one or case()
    granted(approve(one, by), "X12")
    return one


def test_without_an_approval_nothing_is_sent() -> None:
    one = case(replace(DOOR, approval=replace(TERMS, by=("ann", "bob"))))
    decision = one.dispatch("open")
    refused(decision, "X12.missing")
    assert decision.sentence == "step 'open' has to be approved by ann or bob first"
    assert one.state.physical == 5
    assert not one.state.attempts


def test_an_approval_lets_one_dispatch_through_and_is_used_up_by_it() -> None:
    one = case()
    decision = approve(one)
    granted(decision, "X12")
    assert decision.sentence == "ann approves attempt 1 of open {} on arm or spare: seen it"
    attempt = one.run("open")
    given = one.state.approvals["open"]
    assert (attempt.approval, given.attempt) == ("e/a1", "e.1")
    assert (given.by, given.number, given.valid_until) == ("ann", 1, one.now + 60 * S)
    assert void(one.state, given, one.now)[0].code == "X12.spent"


def test_where_nobody_asks_for_it_none_is_taken_and_none_is_used() -> None:
    one = Case()
    refused(approve(one), "X12.not_needed")
    assert one.run("open").approval == ""


def test_a_goal_of_a_standing_task_is_no_way_around_it() -> None:
    one = case(standing=True)
    refused(one.dispatch("open"), "X12.missing")
    approved(one)
    granted(one.dispatch("open"), "R2")


def test_a_retry_needs_one_of_its_own() -> None:
    one = approved()
    one.answer(one.run("open"), Interaction.ABORTED)
    refused(one.wait(20).dispatch("open", attempt=False), "X12.spent")
    granted(approve(one), "X12")
    assert one.state.approvals["open"].number == 2
    assert one.run("open", attempt=False).approval == "e/a2"


def test_a_repair_needs_one_of_its_own() -> None:
    one = approved(Case(goal("opened", DOOR), plan=(Node("open", DOOR),)))
    one.do("open")
    refused(one.wait(20).dispatch("open", open=False), "X12.spent")
    approved(one)
    granted(one.dispatch("open", open=False), "R7")


def test_what_is_redundant_or_in_doubt_is_called_so_whoever_approved_it() -> None:
    one = approved()
    one.answer(one.run("open"), Interaction.LOST)
    approved(one)
    refused(one.dispatch("open"), "R6.no_qualified_negative")
    other = approved()
    other.do("open")
    approved(other)
    refused(other.dispatch("open", open=True), "R8.redundant")


def test_it_is_void_once_it_is_old() -> None:
    one = approved()
    refused(one.wait(60.000000001).dispatch("open"), "X12.expired")
    assert approved().wait(60).run("open").approval == "e/a1"


def test_it_may_be_given_for_less_time_and_for_no_more_than_the_contract_allows() -> None:
    one = case()
    approve(one, valid_for=5 * S)
    refused(one.wait(6).dispatch("open"), "X12.expired")
    approve(one, valid_for=600 * S)
    assert one.state.approvals["open"].valid_until == one.now + 60 * S


def test_it_can_be_taken_back_until_it_is_used() -> None:
    one = approved()
    taken = one.ask(rq.Withdraw("open", "bob", "a person is near"))
    granted(taken, "X12")
    assert taken.sentence == "bob takes e/a1 of step open back: a person is near"
    refused(one.dispatch("open"), "X12.withdrawn")
    refused(one.ask(rq.Withdraw("open", "bob")), "X12.withdrawn")
    approved(one)
    one.run("open")
    refused(one.ask(rq.Withdraw("open", "bob")), "X12.spent")
    refused(case().ask(rq.Withdraw("open", "bob")), "X12.missing")
    refused(case().ask(rq.Withdraw("open", " ")), "X12.unnamed")


@pytest.mark.parametrize(
    "other",
    [
        replace(DOOR, arguments='{"width":2}'),
        replace(DOOR, fingerprint="f-later"),
        replace(operation("open", effect("placed", INSIDE)), approval=TERMS),
        replace(operation("open", effect("opened", OPEN), occurrence="again"), approval=TERMS),
    ],
    ids=["arguments", "contract", "effect", "occurrence"],
)
def test_it_is_for_what_was_approved(other: Operation) -> None:
    one = approved(case(occurrences=((other.key, other.occurrence),)))
    granted(one.revise(Node("open", other)), "R1")
    refused(one.dispatch("open"), "X12.changed")


def test_a_plan_from_before_the_contracts_were_exchanged_is_not_what_was_approved() -> None:
    one = approved()
    for name in ("capability/open", "provider/arm"):
        refused(one.ask(rq.Dispatch("open", "arm", replaced=(name,))), "X12.changed")
    refused(one.ask(rq.Approve("open", "ann", replaced=("capability/open",))), "X12.changed")
    given = one.ask(rq.Approve("open", "ann", replaced=("provider/spare", "capability/other")))
    assert given.sentence == "ann approves attempt 1 of open {} on arm"
    refused(
        one.ask(rq.Dispatch("open", "spare", replaced=("provider/spare",))), "X12.changed", "X12.provider"
    )
    granted(one.ask(rq.Dispatch("open", "arm", replaced=("provider/spare", "capability/other"))), "R2")
    granted(Case().ask(rq.Dispatch("open", "arm", replaced=("capability/open",))), "R2")  # nobody is asked


def test_a_new_proposal_with_the_same_step_ends_no_approval() -> None:
    one = approved()
    one.revise()
    assert void(one.state, one.state.approvals["open"], one.now)[0].code == "X12.changed"
    one.revise(Node("open", DOOR))
    assert void(one.state, one.state.approvals["open"], one.now) == []
    granted(one.dispatch("open"), "R2")


def test_it_is_for_the_attempt_that_was_next() -> None:
    plain = replace(DOOR, capability="pull", approval=None)  # has the same effect, and asks nobody
    one = Case(plan=(Node("open", DOOR), Node("pull", plain)))
    approved(one)
    one.answer(one.run("pull"), Interaction.ABORTED)
    refused(one.wait(20).dispatch("open", attempt=False), "X12.attempt")


def test_an_alias_is_no_way_around_a_stricter_contract() -> None:
    plain = replace(DOOR, capability="pull", approval=None)
    one = approved(case())
    one.answer(one.run("open"), Interaction.ABORTED)
    granted(one.revise(Node("pull", plain)), "R1")
    refused(one.wait(20).dispatch("pull", attempt=False), "X12.missing")
    granted(approve(one, step="pull"), "X12")
    granted(one.dispatch("pull", attempt=False), "R6")


def test_revoked_and_granted_again_is_not_eligible_without_interruption() -> None:
    one = approved()
    one.ask(rq.SetAvailability("arm", "smoke"))
    refused(one.dispatch("open"), "R2.provider_unavailable", "X12.provider")
    one.ask(rq.SetAvailability("arm"))
    refused(one.dispatch("open"), "X12.provider")
    granted(one.dispatch("open", "spare"), "R2")  # of which nothing has changed


def test_it_is_for_the_providers_that_were_eligible() -> None:
    one = case()
    one.ask(rq.SetAvailability("spare", "smoke"))
    assert approve(one).sentence.startswith("ann approves attempt 1 of open {} on arm:")
    one.ask(rq.SetAvailability("spare"))
    refused(one.dispatch("open", "spare"), "X12.provider")
    granted(one.dispatch("open"), "R2")


def test_a_provider_with_another_contract_is_another_provider() -> None:
    first, *rest = DOOR.bindings
    one = approved()
    one.revise(Node("open", replace(DOOR, bindings=(replace(first, fingerprint="f-later"), *rest))))
    refused(one.dispatch("open"), "X12.provider")


def test_a_revocation_that_was_there_before_and_goes_on_is_none_since() -> None:
    one = case()
    one.ask(rq.SetAvailability("spare", "smoke"))
    approve(one)
    one.ask(rq.SetAvailability("spare", "still smoke"))
    granted(one.dispatch("open"), "R2")


def test_no_approval_where_nobody_could_carry_it_out() -> None:
    one = case()
    for name in ("arm", "spare"):
        one.ask(rq.SetAvailability(name, "smoke"))
    refused(approve(one), "R2.provider_unavailable")
    bare = case()
    nodes = bare.state.proposal.nodes.set("open", Node("open", replace(DOOR, bindings=())))
    bare.state = replace(bare.state, proposal=replace(bare.state.proposal, nodes=nodes))
    refused(approve(bare), "R1.no_provider")


def test_a_halt_ends_it_and_nothing_is_approved_during_one() -> None:
    one = approved()
    one.ask(rq.Halt("ann", "stop"))
    refused(approve(one), "X8.halted")
    one.ask(rq.Resume("ann"))
    refused(one.dispatch("open"), "X12.halted")
    approved(one)
    granted(one.dispatch("open"), "R2")


def test_a_restart_of_the_authority_ends_nothing() -> None:
    one = approved()
    one.ask(rq.Restart(2))
    one.state = decode_state(encode_state(one.state))
    granted(one.dispatch("open"), "R2")


def test_whoever_planned_a_step_does_not_approve_it() -> None:
    one = case()
    refused(approve(one, "robot"), "X12.own_step")
    refused(approve(one, "/robot"), "X12.own_step")
    refused(approve(one, "test"), "X12.own_step")  # the author of the proposal
    approved(one, "ann")
    one.ask(rq.Revise((Node("open", DOOR),), author="ann"))
    refused(one.dispatch("open"), "X12.own_step")


def test_only_whom_the_contract_names() -> None:
    one = case(replace(DOOR, approval=replace(TERMS, by=("ann", "bob"))))
    refused(approve(one, "eve"), "X12.approver")
    refused(approve(one, "  "), "X12.unnamed")
    granted(approve(one, "bob"), "X12")


def test_both_contracts_say_who_may_approve_an_alias() -> None:
    strict = replace(DOOR, capability="pull", approval=ApprovalTerms(20 * S, ("ann",)))
    door = replace(DOOR, approval=replace(TERMS, by=("bob", "ann")))
    one = Case(plan=(Node("pull", strict), Node("open", door)))
    granted(approve(one, "ann", "pull"), "X12")
    one.answer(one.run("pull"), Interaction.ABORTED)
    one.wait(20)
    refused(approve(one, "bob"), "X12.approver")
    granted(approve(one, "ann"), "X12")
    assert one.state.approvals["open"].valid_until == one.now + 20 * S


def test_what_runs_is_waited_for() -> None:
    one = approved()
    attempt = one.run("open")
    for answer in (Interaction.ACCEPTED, Interaction.LOST):
        refused(approve(one), "X12.under_way")
        one.answer(attempt, answer)
    granted(approve(one), "X12")


def test_a_step_that_is_not_there_and_an_episode_that_is_over() -> None:
    one = case()
    refused(approve(one, step="shut"), "R2.unknown_node")
    one.ask(rq.Stop("ann", "enough"))
    refused(approve(one), "X5.not_active")
    refused(one.ask(rq.Withdraw("open", "ann")), "X5.not_active")


def test_a_clock_that_is_behind_gives_no_time_to_an_approval() -> None:
    one = case()
    one.now -= S
    refused(approve(one), "X7.clock_back")


def test_everything_else_that_is_in_the_way_is_told_as_well() -> None:
    one = case(physical=1)
    one.state = replace(one.state, physical=0)
    refused(one.dispatch("open"), "R2.budget", "X12.missing")


def test_advice_says_whose_approval_is_awaited() -> None:
    one = case(replace(DOOR, approval=replace(TERMS, by=("ann", "bob"))))
    assert acceptable(one.state, one.now) == (
        "run step open on arm or spare (first), once ann or bob approves it",
    )
    approved(one)
    assert acceptable(one.state, one.now) == ("run step open on arm or spare (first)",)
    one.answer(one.run("open"), Interaction.ABORTED)
    assert acceptable(one.wait(20).state, one.now) == ("observe step open",)
    one.assess("open", False)
    assert acceptable(one.state, one.now) == (
        "run step open on arm or spare (retry), once ann or bob approves it",
    )


def test_advice_names_evidence_and_approval_together() -> None:
    put = replace(operation("put", effect("placed", INSIDE), needs=(OPEN,)), approval=TERMS)
    one = Case(goal("placed", put), plan=())
    granted(one.revise(Node("put", put), view=(one.found(put.preconditions[0].requirement, True),)), "R1")
    (advice,) = acceptable(one.wait(20).state, one.now)
    assert advice.startswith(
        "run step put on arm or spare (first), once a person approves it and once fresh "
    )
    assert advice.endswith("evidence shows cabinet.open == True")


def test_the_fold_of_the_events_is_the_state() -> None:
    one = approved()
    one.ask(rq.SetAvailability("arm", "smoke"))
    one.ask(rq.Halt("ann", "stop"))
    one.ask(rq.Withdraw("open", "bob"))
    one.ask(rq.Resume("ann"))
    approved(one)
    one.dispatch("open", "spare")
    events = [decode_event(encode_event(event)) for event in one.history]  # type: ignore[arg-type]
    assert replay(events) == one.state == decode_state(encode_state(one.state))
    assert one.state.approvals["open"].providers == (("spare", "f-spare", 0),)


def test_records_of_a_version_without_approvals_fold_as_before() -> None:
    """A checkpoint of then knows no counts: nothing may be counted in the records before an approval."""
    one = Case()
    one.ask(rq.SetAvailability("arm", "smoke"))
    one.ask(rq.Halt("ann", "stop"))
    one.ask(rq.Resume("ann"))
    old = []
    for event in one.history:
        plain = msgspec.json.decode(encode_event(event))  # type: ignore[arg-type]
        for node in plain.get("nodes", ()):
            del node["operation"]["approval"]
        old.append(decode_event(msgspec.json.encode(plain)))
    checkpoint = msgspec.msgpack.decode(encode_state(one.state))
    for name in ("approvals", "approved", "revocations", "halts"):
        del checkpoint[name]
    del checkpoint["proposal"]["author"]
    assert replay(old) == decode_state(msgspec.msgpack.encode(checkpoint)) == one.state


def test_an_attempt_of_a_version_without_approvals_used_none() -> None:
    one = Case()
    one.run("open")
    plain = msgspec.json.decode(encode_event(one.history[-1]))  # type: ignore[arg-type]
    del plain["attempt"]["approval"]
    assert decode_event(msgspec.json.encode(plain)).attempt.approval == ""  # type: ignore[union-attr]


def test_an_approval_is_one_event_with_its_binding() -> None:
    one = approved()
    last = one.history[-1]
    assert isinstance(last, Approved)
    assert last.approval.fingerprint == "f-open"
    assert last.approval.arguments == "{}"
    assert last.approval.providers == (("arm", "f-arm", 0), ("spare", "f-spare", 0))
