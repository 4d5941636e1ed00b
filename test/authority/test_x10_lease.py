"""X10: what several authorities share is used by one of them at a time."""

from __future__ import annotations

import pytest
from kit import OPEN, PROMISES, SHUT_IT, Case, effect, granted, operation, refused
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.feedback import acceptable
from adf_ea_ros.authority.model import Interaction, Node, Operation
from adf_ea_ros.authority.rules.x10_lease import Lease, holds, needed

DOOR = replace(operation("open", effect("opened", OPEN)), shared=("cabinet",))
OTHERS = Lease("cabinet", "/robot2/authority", "e2.1", "2026-01-01T00:00:00Z")


def with_device(op: Operation, name: str) -> Operation:
    """The operation where its first provider is a device that others use too."""
    first, *rest = op.bindings
    return replace(op, bindings=(replace(first, device=name), *rest))


def case(op: Operation = DOOR) -> Case:
    return Case(plan=(Node("open", op),))


def test_a_subject_in_other_hands_is_not_touched() -> None:
    one = case()
    decision = one.ask(rq.Dispatch("open", "arm", leases=(OTHERS,)))
    refused(decision, "X10.held")
    assert decision.sentence == ("cabinet is held by /robot2/authority for e2.1 since 2026-01-01T00:00:00Z")
    assert one.state.physical == 5
    granted(one.ask(rq.Dispatch("open", "arm", leases=(replace(OTHERS, subject="bell"),))), "R2")


def test_a_device_in_other_hands_is_not_used_but_another_one_is() -> None:
    lease = replace(OTHERS, subject="crane")
    refused(case(with_device(DOOR, "crane")).ask(rq.Dispatch("open", "arm", leases=(lease,))), "X10.held")
    granted(case(with_device(DOOR, "crane")).ask(rq.Dispatch("open", "spare", leases=(lease,))), "R2")


def test_what_is_redundant_is_called_so_whoever_holds_it() -> None:
    one = case()
    one.do("open")
    refused(one.ask(rq.Dispatch("open", "arm", leases=(OTHERS,), view=one.view(open=True))), "R8.redundant")


def test_retry_and_repair_need_the_lease_too() -> None:
    one = case()
    one.answer(one.run("open"))
    absent = one.wait(20).on_attempt("open", False)
    refused(one.ask(rq.Dispatch("open", "arm", leases=(OTHERS,), assessed=absent)), "X10.held")
    retry = one.ask(rq.Dispatch("open", "arm", assessed=absent))
    granted(retry, "R6")
    assert holds(one.state) == {"e.2": ("cabinet",)}  # the new attempt has taken over what the first held


def test_an_attempt_remembers_what_it_took() -> None:
    both = with_device(DOOR, "crane")
    assert needed(both, "arm") == ("cabinet", "crane")
    assert needed(both, "spare") == ("cabinet",)
    assert needed(both, "nobody") == ("cabinet",)
    one = case(both)
    assert one.run("open").leases == ("cabinet", "crane")
    assert Case().run("open").leases == ()


@pytest.mark.parametrize("answer", [Interaction.REJECTED, Interaction.NEVER_ACCEPTED])
def test_what_was_never_taken_up_holds_nothing(answer: Interaction) -> None:
    one = case()
    attempt = one.run("open")
    assert holds(one.state) == {attempt.id: ("cabinet",)}
    request = rq.Report(attempt.id, answer)
    if answer is Interaction.NEVER_ACCEPTED:
        request = rq.Reconcile(attempt.id, rq.Answer.NEVER_ACCEPTED)
    one.ask(request)
    assert holds(one.state) == {}


def test_a_hold_ends_with_proof_and_answer_in_either_order() -> None:
    one = case()
    attempt = one.run("open")
    one.wait(1).answer(attempt)
    assert holds(one.state)
    one.wait(1).assess("open", True)
    assert not holds(one.state)

    other = case()
    attempt = other.run("open")
    other.wait(1).assess("open", True)
    assert holds(other.state)  # proven, but the device is still at it
    other.answer(attempt)
    assert not holds(other.state)


@pytest.mark.parametrize("answer", [None, Interaction.LOST, Interaction.ABORTED])
def test_time_and_a_restart_end_no_hold(answer: Interaction | None) -> None:
    one = case()
    attempt = one.run("open")
    if answer is not None:
        one.answer(attempt, answer)
    one.wait(1000)
    one.ask(rq.Restart(2))
    assert holds(one.state) == {attempt.id: ("cabinet",)}


def test_stopping_keeps_hold_of_what_may_still_come() -> None:
    for answer, kept in ((Interaction.LOST, True), (Interaction.ABORTED, False)):
        one = case()
        attempt = one.run("open")
        one.answer(attempt, answer)
        granted(one.ask(rq.Stop("ann", "enough")), "R9")
        assert bool(holds(one.state)) is kept, answer
    # Without a promise that an answer is the end, it is not.
    unsure = replace(
        operation("open", effect("opened", OPEN), promises=replace(PROMISES, final_on_result=False)),
        shared=("cabinet",),
    )
    one = case(unsure)
    one.answer(one.run("open"), Interaction.ABORTED)
    one.ask(rq.Stop("ann", "enough"))
    assert holds(one.state)


def test_advice_names_what_somebody_else_may_hold() -> None:
    assert acceptable(case().state, case().now) == (
        "run step open on arm or spare (first), unless another authority holds cabinet",
    )
    assert acceptable(Case().state, Case().now)[0] == "run step open on arm or spare (first)"


def test_unshared_operations_hold_nothing() -> None:
    one = Case(plan=(Node("shut", SHUT_IT),))
    one.run("shut")
    assert holds(one.state) == {}
