"""Public feedback: what is owed, known and acceptable, in sentences that can be acted on."""

from __future__ import annotations

from kit import (
    OPEN,
    OPEN_IT,
    PLACED,
    PLAN,
    RING,
    RUNG,
    SHUT_IT,
    Case,
    condition,
    effect,
    fact_goal,
    goal,
    granted,
    operation,
)

from adf_ea_ros.authority.feedback import feedback
from adf_ea_ros.authority.model import Disposition, Interaction, Node, ObligationKind, Policy, Replay


def test_before_anything() -> None:
    case = Case(PLACED)
    said = feedback(case.state, case.now)
    assert said.owed == ("placed: cup.inside == True",)
    assert said.known == ()
    assert said.next == ("run step open on arm or spare (first)",)
    assert (said.physical, said.observation) == (5, 5)


def test_after_an_answer_that_proves_nothing() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"))
    said = feedback(case.state, case.now)
    assert "the outcome of step open on arm (succeeded, effect not shown)" in said.owed
    assert said.next == ("observe step open",)


def test_after_qualified_negative_evidence() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    assert feedback(case.state, case.now).next == ("run step open on arm or spare (retry)",)


def test_after_a_loss() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    said = feedback(case.state, case.now)
    assert "cabinet.open == True was lost and is needed again" in said.owed
    assert said.next == ("run step open on arm or spare (repair)",)


def test_at_the_end() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.refresh(inside=True)
    said = feedback(case.state, case.now)
    assert said.next == ("claim completion",)
    assert "cup.inside == True" in said.known
    assert case.claim(inside=True).authorized
    assert feedback(case.state, case.now).next == ()


def test_what_is_advised_is_what_would_be_granted() -> None:
    """The advice comes from ``decide`` itself: every piece of it, taken, is granted."""
    plan = (Node("open", OPEN_IT), Node("ring", RING))
    case = Case(PLACED, plan=plan)
    for line in feedback(case.state, case.now).next:
        _, _, step, _, provider, *_ = line.split()
        assert Case(PLACED, plan=plan).dispatch(step, provider).authorized


def test_it_reads_as_sentences_and_names_no_internals() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"))
    text = str(feedback(case.state, case.now))
    assert text.startswith("Owed: placed: cup.inside == True; the outcome of step open")
    assert "Left: 4 physical requests, 5 observations." in text
    assert case.state.attempts["e.1"].key not in text


def advice(case: Case) -> tuple[str, ...]:
    return feedback(case.state, case.now).next


def test_what_has_only_grown_old_is_asked_for_with_the_request() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(60)
    assert advice(case) == (
        "run step put on arm or spare (first), once fresh evidence shows cabinet.open == True",
    )
    granted(case.dispatch("put", open=True), "R2")


def test_a_precondition_that_nobody_looked_at_yet() -> None:
    case = Case(plan=(Node("ring", RING), Node("open", OPEN_IT)))
    case.revise(
        Node("put", operation("put", effect("placed", RUNG), needs=(OPEN,))), view=case.view(open=True)
    )
    case.wait(60)
    assert advice(case) == (
        "run step put on arm or spare (first), once fresh evidence shows cabinet.open == True",
    )


def test_what_somebody_would_have_to_do_is_not_left_to_evidence() -> None:
    """The put needs the cabinet open, which only the step before it can bring about."""
    case = Case(PLACED)
    case.wait(60)
    assert advice(case) == ("run step open on arm or spare (first)",)


def test_what_was_seen_to_be_false_is_not_hoped_for() -> None:
    case = Case(plan=())
    case.revise(
        Node("put", operation("put", effect("placed", RUNG), needs=(OPEN,))), view=case.view(open=True)
    )
    case.refresh(open=False)
    assert advice(case) == ()
    case.wait(60)
    assert advice(case) == (), "it was false when last seen"


def test_what_an_attempt_may_have_changed_is_not_as_it_was() -> None:
    case = Case(PLACED, plan=(*PLAN, Node("shut", SHUT_IT)))
    case.do("open")
    case.refresh(open=True)
    case.wait(1)
    case.do("shut")
    case.wait(60)
    assert advice(case) == ("observe step open",), "it was open before it was shut: the put has to wait"


def test_a_loss_that_was_seen_a_while_ago() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    case.wait(60)
    lost = "cabinet.open == True does not hold"
    assert advice(case) == (f"run step open on arm or spare (repair), once fresh evidence shows {lost}",)
    granted(case.dispatch("open", open=False), "R7")


def test_a_goal_of_a_standing_task_that_was_lost() -> None:
    case = Case(plan=(Node("open", OPEN_IT),), standing=True)
    case.do("open")
    case.refresh(open=True)
    assert advice(case) == ()
    case.wait(1).refresh(open=False)
    assert advice(case) == ("run step open on arm or spare (repair)",)


def test_a_failure_that_was_seen_a_while_ago() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    case.wait(60)
    shown = "cabinet.open == True does not hold"
    assert advice(case) == (f"run step open on arm or spare (retry), once fresh evidence shows {shown}",)
    granted(case.dispatch("open", attempt=False), "R6")


def test_where_no_observation_is_left_the_evidence_that_would_do_is_named() -> None:
    case = Case(PLACED, observation=0)
    case.answer(case.run("open"))
    assert advice(case) == (), "sent in this very moment: no sample can be later"
    case.wait(60)
    shown = "cabinet.open == True does not hold"
    assert advice(case) == (f"run step open on arm or spare (retry), once fresh evidence shows {shown}",)


def test_no_evidence_helps_where_the_contract_never_permits_a_replay() -> None:
    never = Policy({c: tuple(Disposition) for c in OPEN_IT.policy.permits}, 1, Replay.NEVER)
    case = Case(PLACED, observation=0, plan=())
    case.revise(Node("open", operation("open", effect("opened", OPEN), policy=never)))
    case.answer(case.run("open"))
    case.wait(60)
    assert advice(case) == ()


def test_a_claim_waits_for_a_look_at_the_goals_alone() -> None:
    case = Case(PLACED, fact_goal("opened", OPEN, ObligationKind.STATE))
    case.do("open")
    case.do("put", open=True)
    case.wait(60)
    shown = "cup.inside == True and cabinet.open == True"
    assert advice(case) == (f"claim completion, once fresh evidence shows {shown}",)
    granted(case.claim(inside=True, open=True), "R9")


def test_only_a_few_of_many_facts_are_named() -> None:
    facts = [condition(f"lamp{i}", "lit") for i in range(8)]
    case = Case(*(fact_goal(f"lit{i}", c, ObligationKind.STATE) for i, c in enumerate(facts)), plan=())
    (line,) = advice(case)
    assert line.startswith(
        "claim completion, once fresh evidence shows lamp0.lit == True and lamp1.lit == True"
    )
    assert line.endswith("lamp4.lit == True and 3 more")


def test_the_next_step_of_a_long_plan_is_found() -> None:
    lamps = [condition(f"lamp{i:02}", "lit") for i in range(60)]
    plan = [
        Node(f"light{i:02}", operation("light", effect("lit", lamp)), (f"light{i - 1:02}",) if i else ())
        for i, lamp in enumerate(lamps)
    ]
    case = Case(plan=(), physical=99)
    case.revise(*reversed(plan))
    assert advice(case) == ("run step light00 on arm or spare (first)",)
    case.do("light00")
    assert advice(case) == ("run step light01 on arm or spare (first)",)


def test_no_more_is_named_than_the_request_needs() -> None:
    """That the bell was silent has grown old as well, but ringing it does not rest on that."""
    rung = goal("rung", RING, ObligationKind.EVENT)
    plan = (Node("open", OPEN_IT), Node("ring", operation("ring", *RING.effects, needs=(OPEN,)), ("open",)))
    case = Case(rung, PLACED, plan=plan)
    case.do("open")
    case.refresh(open=True, rung=False)
    case.wait(60)
    assert advice(case) == (
        "run step ring on arm or spare (first), once fresh evidence shows cabinet.open == True",
    )
