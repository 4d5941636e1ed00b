"""Advice for an episode: the table of the four decisions, and what is never advised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1] / "authority"))

from kit import (
    ALL,
    INSIDE,
    MAX_AGE,
    OPEN,
    OPEN_IT,
    PLACED,
    PLAN,
    PROMISES,
    RING,
    Case,
    S,
    condition,
    effect,
    fact_goal,
    goal,
    operation,
)

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.model import (
    ApprovalTerms,
    Cause,
    Disposition,
    Interaction,
    Node,
    ObligationKind,
    Policy,
    Promises,
    Replay,
)
from adf_ea_ros.authority.state import State
from adf_ea_ros.recovery.advise import EFFORT, Advice, Kind, Piece, advise
from adf_ea_ros.recovery.picture import STEPS, WORLDS, picture
from adf_ea_ros.recovery.steps import strictest
from adf_ea_ros.recovery.world import Frame

NOTHING = Promises()
"""A provider that promises nothing."""


def told(case: Case, **more: object) -> Advice:
    return advise(case.state, case.now, **more)


def first(case: Case) -> Piece:
    return told(case).pieces[0]


def kinds(advice: Advice) -> list[Kind]:
    return [piece.action for piece in advice.pieces]


def alone(promises: Promises, **more: object) -> Case:
    """A task of one step whose provider promises this."""
    step = operation("open", effect("opened", OPEN), promises=promises, **more)
    return Case(goal("opened", step), plan=(Node("open", step),))


# -- the table of DESIGN: pending, established, never attempted --------------------------------------------


def test_a_first_dispatch() -> None:
    case = Case(PLACED)
    advice = told(case)
    assert advice.pieces[0].sentence == "ask to run step open on arm (first)"
    assert [(p.action, p.provider) for p in advice.pieces[:2]] == [
        (Kind.DISPATCH, "arm"),
        (Kind.DISPATCH, "spare"),
    ]
    assert kinds(advice)[-1] is Kind.HAND_OVER


def test_while_only_time_is_missing_a_wait_until_then() -> None:
    """The attempt may take effect for ten seconds: nothing is sent, and a look would not yet be the last."""
    case = Case(PLACED)
    case.run("open")
    case.wait(4)
    piece = first(case)
    assert (piece.action, piece.wait) == (Kind.WAIT, 6 * S)
    assert "attempt e.1 may still take effect" in piece.sentence
    assert Kind.DISPATCH not in kinds(told(case))


def test_with_several_under_way_a_wait_comes_before_a_lucky_look() -> None:
    nodes = (Node("a", _step(0)), Node("b", _step(1)))
    case = Case(goal("g", nodes[0].operation), plan=nodes)
    for node in nodes:
        case.run(node.id)
    assert kinds(told(case)) == [Kind.WAIT, Kind.OBSERVE, Kind.OBSERVE, Kind.HAND_OVER]
    case.wait(11)
    assert first(case).action is Kind.OBSERVE


def test_while_the_effect_may_not_show_yet_a_wait_until_it_would() -> None:
    case = alone(Promises(final_on_result=True, visibility_delay=5 * S))
    attempt = case.run("open")
    case.wait(1).answer(attempt)
    case.wait(2)
    piece = first(case)
    assert (piece.action, piece.wait) == (Kind.WAIT, 3 * S)
    assert "may not show yet" in piece.sentence


def test_where_evidence_is_missing_an_observation() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"), Interaction.LOST)
    case.wait(11)
    piece = first(case)
    assert (piece.action, piece.step) == (Kind.OBSERVE, "open")
    assert Kind.DISPATCH not in kinds(told(case))
    assert Kind.WAIT not in kinds(told(case))


def test_a_retry_once_the_effect_is_shown_to_be_absent() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    assert first(case).sentence == "ask to run step open on arm (retry)"


def test_a_repair_of_what_was_lost_and_is_needed() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    piece = first(case)
    assert piece.sentence == "ask to run step open on arm (repair)"
    assert piece.progress == 1.0


def test_what_was_lost_and_is_not_needed_any_more_is_no_obligation() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.wait(1).refresh(open=False, inside=True)
    assert "open" not in picture(case.state, case.now).steps
    assert first(case).action is Kind.CLAIM


def test_what_is_established_and_unknown_now_is_observed() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(60)
    piece = first(case)
    assert (piece.action, piece.step) == (Kind.OBSERVE, "open")


def test_at_the_end_the_claim() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.refresh(inside=True)
    advice = told(case)
    assert (advice.pieces[0].action, advice.basis) == (Kind.CLAIM, "claim")
    assert case.claim(inside=True).authorized
    over = told(case)
    assert (over.pieces, over.error) == ((), "the episode is completed")


def test_a_provider_that_promises_nothing_is_never_asked_again() -> None:
    """The effect may come at any time: look while that is permitted, then a person."""
    case = alone(NOTHING)
    case.answer(case.run("open"), Interaction.LOST)
    case.wait(1000)
    assert first(case).action is Kind.OBSERVE
    for _ in range(5):
        case.observe("open")
    advice = told(case)
    assert (kinds(advice), advice.basis) == ([Kind.HAND_OVER], "rules")
    assert advice.pieces[0].sentence.endswith("nothing that is permitted leads on")
    assert any("it may take effect at any time" in line for line in advice.open)
    assert "step open: the observation budget is spent" in advice.open


def test_an_answer_that_is_still_expected_is_waited_for() -> None:
    case = alone(Promises(final_on_result=True))
    case.run("open")
    waits = [piece for piece in told(case).pieces if piece.action is Kind.WAIT]
    assert [(piece.wait, "answer to attempt e.1" in piece.sentence) for piece in waits] == [(30 * S, True)]


def test_independent_work_goes_on_while_another_step_is_in_doubt() -> None:
    case = Case(PLACED, plan=(*PLAN, Node("ring", RING)))
    case.answer(case.run("open"), Interaction.LOST)
    case.wait(1)
    assert first(case).sentence == "ask to run step ring on arm (first)"


# -- what a rule forbids, and what no evidence can give ----------------------------------------------------


def test_no_retry_without_permission_and_then_a_person() -> None:
    never = Policy(ALL, retry_limit=1, replay=Replay.NEVER)
    case = alone(PROMISES, policy=never)
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    advice = told(case)
    assert Kind.DISPATCH not in kinds(advice)
    assert advice.pieces[0].action is Kind.HAND_OVER
    assert "step open: the contract never permits a replay" in advice.open


def test_of_two_permissions_the_stricter_one() -> None:
    """An alias repeats what another capability left unresolved: both have a say."""
    idempotent, absent, never = (
        Policy(ALL, replay=one) for one in (Replay.IDEMPOTENT, Replay.WHEN_ABSENT, Replay.NEVER)
    )
    assert strictest((idempotent, absent)) is Replay.WHEN_ABSENT
    assert strictest((idempotent, never, absent)) is Replay.NEVER
    assert strictest((idempotent,)) is Replay.IDEMPOTENT


def test_an_idempotent_step_of_which_a_part_is_missing() -> None:
    """One effect is shown to be absent, of the other nothing is known: the rules permit a replay, so it is
    advised, though the model would not plan on it.
    """
    both = (effect("opened", OPEN), effect("placed", INSIDE))
    policy = Policy(ALL, retry_limit=1, replay=Replay.IDEMPOTENT)
    step = operation("both", *both, policy=policy)
    case = Case(goal("opened", step), plan=(Node("both", step),))
    case.answer(case.run("both"), Interaction.ABORTED)
    case.wait(1)
    partly = (case.found(both[0].requirements[0], False), case.found(both[1].requirements[0], None))
    case.ask(rq.Assess("e.1", partly))
    assert first(case).sentence == "ask to run step both on arm (retry)"


def test_no_observation_where_the_contract_permits_none() -> None:
    stop = dict.fromkeys(Cause, (Disposition.STOP,))
    case = alone(PROMISES, policy=Policy(stop))
    case.answer(case.run("open"), Interaction.LOST)
    case.wait(11)
    assert kinds(told(case)) == [Kind.HAND_OVER]


def test_a_halt_leaves_a_person() -> None:
    case = Case(PLACED)
    case.ask(rq.Halt("op", "smoke"))
    advice = told(case)
    assert kinds(advice) == [Kind.HAND_OVER]
    assert any("halted by op" in line for line in advice.open)


def test_what_lacks_an_approval_alone_is_said_to_the_person() -> None:
    step = replace(operation("open", effect("opened", OPEN)), approval=ApprovalTerms(MAX_AGE, ("ann",)))
    case = Case(goal("opened", step), plan=(Node("open", step),))
    advice = told(case)
    assert kinds(advice) == [Kind.HAND_OVER]
    assert "step open: it lacks an approval alone: step 'open' has to be approved by ann" in (
        advice.pieces[0].sentence
    )
    assert case.ask(rq.Approve("open", "ann", "seen it")).authorized
    assert first(case).action is Kind.DISPATCH


def test_only_providers_that_are_there() -> None:
    case = Case(PLACED)
    case.ask(rq.SetAvailability("arm", "gone"))
    assert [p.provider for p in told(case).pieces if p.action is Kind.DISPATCH] == ["spare"]


def test_a_retry_by_another_provider_because_the_first_one_is_gone() -> None:
    """Block R permits it for that cause alone, which the model does not know; the rules do."""
    moves = dict.fromkeys(Cause, (Disposition.OBSERVE, Disposition.STOP))
    moves[Cause.PROVIDER_UNAVAILABLE] = (Disposition.REBIND,)
    case = alone(PROMISES, policy=Policy(moves, retry_limit=1, replay=Replay.WHEN_ABSENT))
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    assert Kind.DISPATCH not in kinds(told(case))
    case.ask(rq.SetAvailability("arm", "gone"))
    assert first(case).sentence == "ask to run step open on spare (retry)"


def test_an_empty_budget() -> None:
    case = Case(PLACED, physical=2)
    case.do("open")
    case.refresh(open=True)
    assert first(case).action is Kind.DISPATCH
    spent = Case(PLACED, physical=2)
    spent.answer(spent.run("open"), Interaction.ABORTED)
    spent.wait(1).assess("open", False)
    spent.run("open", attempt=False)
    spent.wait(1).answer(spent.state.attempts["e.2"], Interaction.ABORTED)
    spent.wait(1).assess("open", False)
    assert Kind.DISPATCH not in kinds(told(spent))


def test_no_completion_is_promised_over_what_is_blocked() -> None:
    """The cabinet was shut by somebody, and no step opens it."""
    plan = (Node("ring", RING), Node("put", operation("put", effect("placed", INSIDE), needs=(OPEN,))))
    case = Case(PLACED, goal("rang", RING, ObligationKind.EVENT), plan=())
    case.revise(*plan, view=case.view(open=True))
    assert first(case).completion == 1.0
    case.wait(1).refresh(open=False)
    piece = first(case)
    assert (piece.step, piece.completion) == ("ring", 0.0)


def test_no_completion_is_promised_beyond_the_physical_budget() -> None:
    """What was opened is shut again: to open it and to put the cup in takes two requests, and one is left."""
    for physical, completion in ((2, 0.0), (3, 1.0)):
        case = Case(PLACED, physical=physical)
        case.do("open")
        case.wait(1).refresh(open=False)
        piece = first(case)
        assert (piece.sentence, piece.completion) == ("ask to run step open on arm (repair)", completion)


def test_no_completion_is_promised_beyond_the_observation_budget() -> None:
    nodes = (Node("a", _step(0)), Node("b", _step(1)))
    for observation, hope in ((1, False), (2, True)):
        case = Case(goal("g", nodes[0].operation), plan=nodes, observation=observation)
        for node in nodes:
            case.answer(case.run(node.id), Interaction.LOST)
        case.wait(11)
        piece = first(case)
        assert piece.action is Kind.OBSERVE
        assert (piece.completion > 0) is hope


def test_a_goal_that_no_step_brings_about_is_never_promised() -> None:
    ready = fact_goal("ready", INSIDE, ObligationKind.STATE)
    step = operation("open", effect("opened", OPEN))
    case = Case(goal("opened", step), ready, plan=(Node("open", step),))
    piece = first(case)
    assert (piece.action, piece.completion) == (Kind.DISPATCH, 0.0)
    assert 0 < piece.progress < 1


def test_a_dispatch_that_lacks_only_a_fresh_look() -> None:
    """``decide`` would refuse it now, so it is a look that is advised, and not the dispatch."""
    case = Case(PLACED)
    case.do("open")
    assert not decide(case.state, rq.Dispatch("put", "arm"), case.now).authorized
    piece = first(case)
    assert (piece.action, piece.step) == (Kind.OBSERVE, "put")
    assert "cabinet.open == True: then step put may be asked for" in piece.sentence
    assert Kind.DISPATCH not in kinds(told(case))


def test_a_claim_that_lacks_only_a_fresh_look() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.wait(60)
    looks = [p.sentence for p in told(case).pieces if p.action is Kind.OBSERVE and not p.step]
    assert len(looks) == 1
    assert "cup.inside == True: then completion may be claimed" in looks[0]


# -- the form ----------------------------------------------------------------------------------------------


def test_before_an_episode_there_is_none() -> None:
    advice = advise(State(), 5)
    assert (advice.pieces, advice.error) == ((), "the episode is not started")


def test_the_weights_are_stated() -> None:
    assert "every alternative is as likely as every other" in told(Case(PLACED)).weights


def test_horizon_and_budget() -> None:
    case = Case(PLACED)
    assert told(case, horizon=1).horizon == 1
    assert told(case, horizon=0).horizon == 1
    assert told(case, horizon=99, budget=10**6).horizon == 6
    none = told(case, budget=0)
    assert (none.horizon, none.basis) == (0, "rules")
    assert none.pieces[0].action is Kind.DISPATCH


def test_a_handover_record() -> None:
    case = Case(PLACED)
    case.do("open")
    case.refresh(open=True)
    case.answer(case.run("put", open=True), Interaction.LOST)
    record = told(case).handoff
    assert record.requests == (("e.2", "step put on arm, lost"),)
    assert record.known == ("cabinet.open == True",)
    assert "placed: cup.inside == True" in record.owed
    assert any(line.startswith("step put: attempt e.2 on arm (lost): it took effect") for line in record.open)
    assert dict(record.spent) == {"attempts": 2, "physical requests left": 3, "observations left": 5}
    assert all("hand over" not in line for line in record.next)


def test_a_trial_stands_for_what_the_authority_would_say() -> None:
    """The runtime answers with fresh evidence; what it would refuse is not advised."""
    case = Case(PLACED)
    case.do("open")

    def fresh(request: rq.AnyRequest) -> object:
        view = case.view(open=True)
        named = isinstance(request, rq.Dispatch | rq.Claim | rq.Observe)
        return decide(case.state, replace(request, view=view) if named else request, case.now)

    assert told(case, trial=fresh).pieces[0].action is Kind.DISPATCH

    def refusing(request: rq.AnyRequest) -> object:
        return decide(State(), request, case.now)

    assert kinds(told(case, trial=refusing)) == [Kind.HAND_OVER]


@pytest.mark.parametrize("count", [1, 7, 40])
def test_a_long_plan_is_looked_at_as_far_as_the_model_goes(count: int) -> None:
    nodes = [Node(f"n{i:02}", _step(i), (f"n{i - 1:02}",) if i else ()) for i in range(count)]
    case = Case(goal("last", nodes[-1].operation), plan=tuple(nodes), physical=100)
    seen = picture(case.state, case.now)
    assert len(seen.frame.task.operations) <= STEPS + 1
    piece = first(case)
    assert (piece.action, piece.step) == (Kind.DISPATCH, "n00")
    assert (piece.completion > 0) == (count == 1)


def modelled(case: Case) -> dict[str, object]:
    """The operations of the model by their steps."""
    seen = picture(case.state, case.now)
    return dict(zip(seen.steps, seen.frame.task.operations, strict=True))


def test_what_waits_for_a_step_beyond_the_model_waits() -> None:
    nodes = [Node(f"n{i}", _step(i)) for i in range(4)]
    plan = (*nodes, Node("then", _step(9), ("n3",)))
    case = Case(goal("g", nodes[0].operation), plan=plan)
    for node in nodes:
        case.run(node.id)
    assert set(modelled(case)) == {"n0", "n1", "n2", "then", ""}
    assert modelled(case)["then"].attempts == 0


def test_the_tasks_own_order_is_in_the_model() -> None:
    a, b = _step(0), _step(1)
    case = Case(goal("first", a), goal("second", b, after=("first",)), plan=(Node("a", a), Node("b", b)))
    assert modelled(case)["b"].after == ("a",)


def test_a_goal_of_a_standing_task_asks_for_its_own_state() -> None:
    case = Case(plan=(Node("open", OPEN_IT),), standing=True, obligations=())
    case.do("open")
    case.wait(1).refresh(open=False)
    assert first(case).sentence == "ask to run step open on arm (repair)"


def test_what_was_initially_true_is_looked_at_before_it_is_done() -> None:
    """It grew old: the rules would let it run, and a look is cheaper."""
    case = Case(goal("opened", OPEN_IT, initial=True), plan=(Node("open", OPEN_IT),))
    assert "R8.initially_true" in case.dispatch("open", open=True).reasons
    case.wait(60)
    assert decide(case.state, rq.Dispatch("open", "arm"), case.now).authorized
    assert kinds(told(case))[:2] == [Kind.OBSERVE, Kind.DISPATCH]


def test_of_what_waits_for_an_earlier_step_nothing_is_said() -> None:
    case = Case(PLACED)
    assert told(case).open == ()
    case.run("open")
    assert len(told(case).open) == 1


def test_an_alias_is_the_same_obligation() -> None:
    alias = operation("unlatch", effect("unlatched", OPEN))
    assert alias.key == OPEN_IT.key
    case = Case(PLACED, plan=(*PLAN, Node("unlatch", alias)))
    case.run("open")
    assert picture(case.state, case.now).steps == ("open", "put")


def test_many_in_doubt_at_once_stay_within_bounds() -> None:
    nodes = [Node(f"n{i}", _step(i)) for i in range(9)]
    case = Case(goal("g", nodes[0].operation), plan=tuple(nodes), physical=100)
    for node in nodes:
        case.run(node.id)
    seen = picture(case.state, case.now)
    worlds = 1
    for op in seen.frame.task.operations:
        worlds *= len(op.alternatives)
    assert 1 < worlds <= WORLDS
    assert told(case).pieces[0].action is Kind.WAIT


@pytest.mark.parametrize("doubts", [0, 1, 3])
@pytest.mark.parametrize("ahead", [1, 9])
def test_an_advice_takes_so_many_transitions_and_no_more(
    doubts: int, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is what keeps an authority from being held up; there is no clock in it."""
    taken = 0
    real = Frame.step

    def counted(*arguments: object) -> object:
        nonlocal taken
        taken += 1
        return real(*arguments)

    monkeypatch.setattr(Frame, "step", counted)
    nodes = [Node(f"n{i:02}", _step(i)) for i in range(doubts + ahead)]
    case = Case(goal("g", nodes[0].operation), plan=tuple(nodes), physical=100)
    for node in nodes[:doubts]:
        case.run(node.id)
    told(case, horizon=6)
    assert 0 < taken <= 1.5 * EFFORT


def test_it_is_a_pure_library() -> None:
    program = (
        "import sys, adf_ea_ros.recovery.advise\n"
        "assert not {'rclpy', 'sqlite3', 'adf_ea_ros.ledger', 'adf_ea_ros.runtime'} & set(sys.modules)"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True)


def _step(i: int) -> object:
    return operation(f"c{i}", effect("done", condition(f"thing{i}", "done")))


def test_the_pieces_are_evaluated_by_the_promises() -> None:
    """A doubtful step with a bound leaves hope for the whole task; without one it leaves none."""
    bounded, unbounded = alone(PROMISES), alone(NOTHING)
    for case in (bounded, unbounded):
        case.answer(case.run("open"), Interaction.LOST)
        case.wait(11)
    assert first(bounded).completion == 1.0
    assert 0 < first(unbounded).completion < 0.5
