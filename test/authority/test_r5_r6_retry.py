"""Rules 5 and 6: an unresolved outcome is observed; only qualified negative evidence opens a retry."""

from __future__ import annotations

import pytest
from kit import ALL, OPEN, OPEN_IT, RING, Case, S, condition, effect, granted, operation, refused
from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.model import (
    Cause,
    Disposition,
    Interaction,
    Mode,
    Node,
    Policy,
    Promises,
    Replay,
)
from adf_ea_ros.evidence.types import Verdict


def policy(
    *, limit: int = 1, replay: Replay = Replay.WHEN_ABSENT, without: dict[Cause, Disposition] | None = None
) -> Policy:
    permits = dict(ALL)
    for cause, disposition in (without or {}).items():
        permits[cause] = tuple(d for d in permits[cause] if d is not disposition)
    return Policy(permits, limit, replay)


def opening(**more: object) -> Case:
    promises = more.pop("promises", None)
    extra = {"promises": promises} if promises is not None else {}
    op = operation("open", effect("opened", OPEN), policy=policy(**more), **extra)  # type: ignore[arg-type]
    return Case(plan=(Node("open", op),))


def failed(case: Case, interaction: Interaction = Interaction.SUCCEEDED) -> Case:
    """An attempt that was answered and had no effect."""
    case.answer(case.run("open"), interaction)
    return case.wait(1)


@pytest.mark.parametrize("interaction", [Interaction.SUCCEEDED, Interaction.ABORTED, Interaction.REJECTED])
def test_retry(interaction: Interaction) -> None:
    case = failed(Case(), interaction)
    old = case.state.attempts["e.1"]
    decision = case.dispatch("open", attempt=False)
    granted(decision, "R6")
    assert decision.attempt is not None
    assert decision.attempt.mode is Mode.RETRY
    assert decision.attempt.id != old.id
    assert decision.attempt.key == old.key
    assert set(case.state.execution) == {decision.attempt.id}
    assert case.state.attempts[old.id].superseded
    assert case.state.physical == 3
    assert case.state.keys[old.key].retries == 0


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.INSUFFICIENT_EVIDENCE, Verdict.UNSATISFIED])
def test_no_qualified_negative(verdict: Verdict) -> None:
    case = failed(Case())
    found = tuple(replace(f, verdict=verdict, negative=False) for f in case.on_attempt("open", False))
    refused(case.ask(rq.Dispatch("open", "arm", assessed=found)), "R6.no_qualified_negative")


def test_negative_evidence_with_a_broken_route_or_of_old_is_none() -> None:
    case = failed(Case())
    broken = tuple(replace(f, integrity="E.role") for f in case.on_attempt("open", False))
    refused(case.ask(rq.Dispatch("open", "arm", assessed=broken)), "R6.no_qualified_negative")
    old = case.on_attempt("open", False)
    refused(case.wait(20).ask(rq.Dispatch("open", "arm", assessed=old)), "R6.no_qualified_negative")


def test_replay_never() -> None:
    refused(failed(opening(replay=Replay.NEVER)).dispatch("open", attempt=False), "R6.replay_never")


def test_could_take_effect() -> None:
    case = Case()
    case.run("open")  # no answer yet
    refused(case.wait(1).dispatch("open", attempt=False), "R6.could_take_effect")
    granted(case.wait(10).dispatch("open", attempt=False), "R6")  # the commit bound is over


def test_without_a_promise_an_attempt_could_take_effect_for_ever() -> None:
    case = failed(opening(promises=Promises()))
    refused(case.wait(10_000).dispatch("open", attempt=False), "R6.could_take_effect")


def test_negative_too_early() -> None:
    case = opening(promises=Promises(final_on_result=True, commit_bound=10 * S, visibility_delay=3 * S))
    case.answer(case.run("open"))
    answered = case.now
    refused(case.wait(1).dispatch("open", attempt=False), "R6.negative_too_early")
    granted(case.wait(3).dispatch("open", attempt=False, captured=answered + 3 * S), "R6")


def test_partial_effect() -> None:
    both = (effect("opened", OPEN), effect("lit", condition("cabinet", "lit")))
    for replay, rules in ((Replay.WHEN_ABSENT, ()), (Replay.IDEMPOTENT, ("R6",))):
        case = Case(plan=(Node("open", operation("open", *both, policy=policy(replay=replay))),))
        failed(case)
        found = case.on_attempt("open", False)
        found = (
            found[0],
            case.found(case.state.proposal.nodes["open"].operation.effects[1].requirements[0], None),
        )
        decision = case.ask(rq.Dispatch("open", "arm", assessed=found))
        granted(decision, *rules) if rules else refused(decision, "R6.partial_effect")


def test_not_permitted() -> None:
    case = failed(opening(without={Cause.EFFECT_ABSENT: Disposition.RETRY}))
    refused(case.dispatch("open", attempt=False), "R6.not_permitted")
    granted(case.dispatch("open", "spare", attempt=False), "R6")  # rebinding is permitted


def test_rebind_not_permitted() -> None:
    case = failed(opening(without={Cause.EFFECT_ABSENT: Disposition.REBIND}))
    refused(case.dispatch("open", "spare", attempt=False), "R6.rebind_not_permitted")
    granted(case.dispatch("open", attempt=False), "R6")


def leaving(without: Cause, expires: int = -1) -> Case:
    """A step to open the cabinet at the arm, which may be left for the spare one except for this cause."""
    op = operation("open", effect("opened", OPEN), policy=policy(without={without: Disposition.REBIND}))
    arm, spare = op.bindings
    return Case(plan=(Node("open", replace(op, bindings=(replace(arm, expires=expires), spare))),))


@pytest.mark.parametrize("gone", ["revoked", "expired"])
def test_where_a_provider_may_not_be_used_any_more_that_is_the_cause(gone: str) -> None:
    """Block R is asked about the unavailable provider then, and no longer about the absent effect."""
    for without, permitted in ((Cause.EFFECT_ABSENT, True), (Cause.PROVIDER_UNAVAILABLE, False)):
        case = failed(leaving(without, 101 * S if gone == "expired" else -1))
        if gone == "revoked":
            case.ask(rq.SetAvailability("arm", "revoked"))
        decision = case.dispatch("open", "spare", attempt=False)
        granted(decision, "R6") if permitted else refused(decision, "R6.rebind_not_permitted")


def test_an_unavailable_provider_is_no_cause_while_it_may_be_used() -> None:
    granted(failed(leaving(Cause.PROVIDER_UNAVAILABLE)).dispatch("open", "spare", attempt=False), "R6")


def test_retry_budget_is_shared_by_aliases_and_providers() -> None:
    case = failed(Case())
    granted(case.dispatch("open", "spare", attempt=False), "R6")
    case.answer(case.state.attempts["e.2"])
    case.wait(1)
    refused(case.dispatch("open", "arm", attempt=False), "R6.retry_budget")
    alias = replace(OPEN_IT, capability="unlatch")
    case.revise(Node("unlatch", alias))
    refused(case.dispatch("unlatch", attempt=False), "R6.retry_budget")


def test_physical_budget_binds_a_retry_too() -> None:
    case = failed(Case(plan=(Node("open", OPEN_IT),), physical=1))
    refused(case.dispatch("open", attempt=False), "R2.budget")


def test_evidence_that_arrives_with_the_request_promotes_first() -> None:
    case = failed(Case())
    refused(case.dispatch("open", attempt=True, open=True), "R8.redundant")
    assert case.state.established(OPEN_IT.key)


# -- rule 5 -----------------------------------------------------------------------------------------------


def test_observe() -> None:
    case = Case()
    case.run("open")
    before = case.state
    granted(case.observe("open"), "R5")
    assert case.state.observation == before.observation - 1
    assert case.state.physical == before.physical
    assert case.state.execution == before.execution


def test_observe_with_evidence_at_hand_promotes_and_spends_nothing() -> None:
    case = Case()
    case.run("open")
    granted(case.wait(1).observe("open", attempt=True), "R4")
    assert case.state.observation == 5


@pytest.mark.parametrize(
    ("cause", "prepare"),
    [
        (Cause.EVIDENCE_INSUFFICIENT, lambda case: None),
        (Cause.OUTCOME_UNKNOWN, lambda case: case.answer(case.state.attempts["e.1"], Interaction.LOST)),
        (
            Cause.EVIDENCE_CONFLICTING,
            lambda case: case.ask(
                rq.Assess(
                    "e.1", tuple(replace(f, verdict=Verdict.UNKNOWN) for f in case.on_attempt("open", None))
                )
            ),
        ),
    ],
)
def test_observation_not_permitted_for_its_cause(cause: Cause, prepare) -> None:
    case = opening(without={cause: Disposition.OBSERVE})
    case.run("open")
    prepare(case)
    conflicting = cause is Cause.EVIDENCE_CONFLICTING
    found = () if conflicting else case.on_attempt("open", None)
    refused(case.ask(rq.Observe("open", (), found)), "R5.not_permitted")


def test_observation_budget() -> None:
    case = Case(observation=1)
    case.run("open")
    granted(case.observe("open"), "R5")
    refused(case.observe("open"), "R5.budget")


def test_observation_limit_of_the_contract() -> None:
    limited = operation(
        "open", effect("opened", OPEN), policy=Policy(ALL, 1, Replay.WHEN_ABSENT, observations=1)
    )
    case = Case(plan=(Node("open", limited),))
    case.run("open")
    granted(case.observe("open"), "R5")
    refused(case.observe("open"), "R5.limit")


def test_nothing_to_observe() -> None:
    refused(Case().observe("open"), "R5.nothing_to_observe")
    case = Case()
    case.do("open")
    refused(case.observe("open", open=True), "R5.nothing_to_observe")
    refused(case.ask(rq.Observe("nothing")), "R2.unknown_node")


def test_an_established_state_that_is_not_known_now_may_be_observed() -> None:
    case = Case()
    case.do("open")
    granted(case.wait(30).observe("open", open=None), "R5")
    assert case.state.observation == 4


def test_an_event_of_which_a_trace_was_seen_is_not_absent_once_the_trace_is_gone() -> None:
    case = Case(plan=(Node("ring", RING), Node("open", OPEN_IT)))
    for step, reasons in (("ring", ("R6.no_qualified_negative",)), ("open", ())):
        case.answer(case.run(step))
        seen = tuple(
            replace(f, verdict=Verdict.UNKNOWN, support=1) for f in case.wait(1).on_attempt(step, None)
        )
        case.ask(rq.Assess(case.state.keys[case.state.proposal.nodes[step].operation.key].latest, seen))
        decision = case.wait(20).dispatch(step, attempt=False)
        refused(decision, *reasons) if reasons else granted(decision, "R6")  # a state may come and go
