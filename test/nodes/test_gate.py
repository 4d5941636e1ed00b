"""Assured goals through real nodes: what the planner is told, and how often the rig heated."""

import json

import pytest
from action_msgs.msg import GoalStatus
from adf_ea_ros.msg import Attempt, Fact
from world import ABSENT, REFUSED, UNVERIFIED, VERIFIED

pytestmark = pytest.mark.ros

both_ports = pytest.mark.parametrize("composed", [False, True], ids=["services", "composed"])


@pytest.mark.smoke
@both_ports
def test_heat_measure_record(world, composed):
    world.set_up(composed)
    goal = world.goal("heat", "heater_a")
    result = goal.result()
    assert (result.outcome, goal.status) == (VERIFIED, GoalStatus.STATUS_SUCCEEDED)
    assert (result.attempt, result.interaction) == (f"{world.episode}.1", Attempt.SUCCEEDED)
    assert json.loads(result.response)["reached"] == 80.0
    assert result.decision.reasons == ["R4.promoted"]
    assert next(f.phase for f in goal.feedback if f.phase != "running") == "accepted"
    assert world.run("measure", "probe").outcome == VERIFIED
    assert world.run("record", "recorder_a").outcome == VERIFIED
    world.claim()
    assert world.heated == 1


@pytest.mark.smoke
def test_a_lost_result_heats_once_and_is_verified(world):
    world.set_up(heater_a__fault="lost_result")
    goal = world.goal("heat", "heater_a")
    # The evidence is there long before the deadline: the answer is waited for a while, nothing is sent again.
    world.seen("proof", attempt=f"{world.episode}.1", reasons=["R4.promoted"])
    again = world.run("heat", "heater_a")
    assert again.outcome == REFUSED
    assert again.decision.reasons == ["R8.redundant"]
    result = goal.result()
    assert result.outcome == VERIFIED
    assert result.interaction in (Attempt.ACCEPTED, Attempt.LOST)  # it did not answer, and will not
    assert world.run("measure", "probe").outcome == VERIFIED
    assert world.heated == 1


@both_ports
def test_a_success_without_effect_is_no_success(world, composed):
    world.set_up(composed, heater_a__fault="no_effect")
    goal = world.goal("heat", "heater_a")
    result = goal.result()
    assert (result.outcome, result.interaction) == (ABSENT, Attempt.SUCCEEDED)
    assert goal.status == GoalStatus.STATUS_ABORTED
    assert result.decision.negative
    assert result.decision.verdict == Fact.UNSATISFIED
    assert world.run("heat", "heater_b").outcome == VERIFIED
    assert world.heated == 1


def test_an_abort_with_the_effect_is_verified(world):
    world.set_up(heater_a__fault="abort_with_effect")
    result = world.run("heat", "heater_a")
    assert (result.outcome, result.interaction) == (VERIFIED, Attempt.ABORTED)


def test_missing_evidence_is_neither(world):
    world.set_up(probe__fault="drop")
    goal = world.goal("heat", "heater_a", evidence_timeout=20)
    result = goal.result()
    assert (result.outcome, result.interaction) == (UNVERIFIED, Attempt.SUCCEEDED)
    assert goal.status == GoalStatus.STATUS_ABORTED
    assert world.run("heat", "heater_a").decision.reasons == ["R6.no_qualified_negative"]
    observed = world.call("observe", episode=world.episode, step="heat")
    assert observed.decision.authorized, observed.decision.sentence
    world.set_parameter("/rig/probe", "fault", "none")
    world.seen("proof after all", attempt=f"{world.episode}.1", reasons=["R4.promoted"])
    assert world.heated == 1


@both_ports
def test_refusals_carry_their_decision(world, composed):
    world.set_up(composed)
    for step, provider, fields, reason in (
        ("measure", "probe", {}, "R2.dependency"),
        ("no_such_step", "probe", {}, "R2.unknown_node"),
        ("heat", "probe", {}, "R2.not_bound"),
        ("heat", "heater_a", {"named": "heater_b"}, "X5.bad_request"),
        ("heat", "heater_a", {"episode": "no_such_episode"}, "X5.unknown_episode"),
        ("", "heater_a", {"episode": ""}, "X5.unknown_episode"),
    ):
        result = world.run(step, provider, **fields)
        assert result.outcome == REFUSED
        assert reason in result.decision.reasons, (step, result.decision)
        assert result.attempt == ""
    assert world.heated == 0


def test_canceling_asks_and_concludes_nothing(world):
    world.set_up(heater_a__ramp=1.0)
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    assert goal.cancel().goals_canceling
    result = goal.result()
    assert result.interaction == Attempt.CANCELED
    assert goal.status == GoalStatus.STATUS_CANCELED
    # Only evidence says that it did not become hot.
    assert result.outcome == ABSENT
    world.logged("the cancel request was accepted")


def test_a_device_that_ignores_the_cancel_is_followed_on(world):
    world.set_up(heater_a__fault="stuck")
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    goal.cancel()
    world.logged("the cancel request was refused")
    result = goal.result()
    assert result.outcome == VERIFIED
    assert result.interaction in (Attempt.ACCEPTED, Attempt.LOST)  # it did not answer, and will not
    assert world.heated == 1


@both_ports
def test_a_missing_device_is_a_refusal_after_a_stated_wait(world, composed):
    world.set_up(composed, heater_a__fault="unavailable")
    result = world.run("heat", "heater_a")
    assert result.outcome == REFUSED
    assert result.decision.reasons == ["R2.provider_unavailable"]
    assert "not in the graph" in result.decision.sentence
    assert world.run("heat", "heater_b").outcome == VERIFIED


def test_devices_that_go_and_come_back(world):
    world.set_up()
    world.set_parameter("/rig/heater_a", "fault", "unavailable")
    world.seen("absence", request="SetAvailability", subject="heater_a")
    listed = world.call("list_capabilities", task="heat_measure_record").capabilities
    assert next(c for c in listed if c.id == "heat_to").providers == ["heater_b"]
    world.set_parameter("/rig/heater_a", "fault", "none")
    world.seen("return", request="SetAvailability", subject="heater_a", sentence="heater_a is eligible")
    assert world.run("heat", "heater_a").outcome == VERIFIED


def test_without_an_authority_nothing_is_sent(world):
    world.rig()
    world.capability(wait=False, authority_wait=0.5)
    result = world.run("heat", "heater_a", episode="any")
    assert result.outcome == REFUSED
    assert result.decision.reasons == ["X5.not_ready"]
    assert "/authority was not found within 0.5 s" in result.decision.sentence
    assert world.heated == 0


def test_a_halt_stops_dispatches_and_asks_what_is_in_flight_to_stop(world):
    world.set_up(heater_a__ramp=1.0)
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    said = world.call("halt", halt=True, by="operator", reason="smoke").decisions
    # The operator's word for episodes to come, and for the one that is under way.
    assert [(d.request, d.authorized) for d in said] == [("Halt", True)] * 2
    result = goal.result()
    assert result.interaction == Attempt.CANCELED
    assert goal.status == GoalStatus.STATUS_ABORTED  # nobody canceled the assured goal
    assert world.run("heat", "heater_b").decision.reasons == ["X8.halted"]
    world.call("halt", halt=False, by="operator", reason="")
    assert world.run("heat", "heater_b").outcome == VERIFIED
