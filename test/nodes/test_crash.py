"""Sudden deaths in mid-heating: the attempt is asked about, never sent again."""

import pytest
from adf_ea_ros.msg import Attempt
from world import REFUSED, VERIFIED

pytestmark = [pytest.mark.ros, pytest.mark.slow]


SLOW = 2.0
"""Logical seconds per second: a process that starts takes seconds, and deadlines are in logical time."""


def running(world, ramp=2.0, **parameters):
    """A heating under way: about half a minute of logical time."""
    world.rig(heater_a__ramp=ramp, clock__factor=SLOW)
    processes = world.authority(**parameters), world.capability()
    world.begin()
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    world.seen("acceptance", request="Report", subject=f"{world.episode}.1")
    return *processes, goal


def test_the_authority_dies_and_comes_back(world):
    authority, _, goal = running(world)
    authority.kill()
    world.authority()
    world.seen("restart", request="Restart", reasons=["X1.restarted"])
    # The capability node still follows the goal, and says so.
    world.seen("reconciliation", request="Reconcile", attempt=f"{world.episode}.1", authorized=True)
    assert world.run("heat", "heater_a").outcome == REFUSED
    result = goal.result()
    assert (result.outcome, result.interaction) == (VERIFIED, Attempt.SUCCEEDED)
    attempt = world.attempt()
    assert (attempt.interaction, attempt.doubtful, attempt.generation) == (Attempt.SUCCEEDED, False, 1)
    assert world.run("measure", "probe").outcome == VERIFIED
    assert world.heated == 1


def test_an_answer_that_came_while_the_authority_was_dead_is_delivered(world):
    authority, _, goal = running(world, ramp=10.0)
    authority.kill()
    world.watcher.until(
        lambda: any(f.phase == "observing" for f in goal.feedback), 40, "the answer of the heater"
    )
    world.authority()
    world.seen("report", request="Report", attempt=f"{world.episode}.1", authorized=True, generation=2)
    assert world.attempt().interaction == Attempt.SUCCEEDED
    world.seen("proof", attempt=f"{world.episode}.1", reasons=["R4.promoted"])
    assert world.heated == 1


def test_the_capability_node_dies_and_comes_back(world):
    _, capability, _ = running(world)
    capability.kill()
    world.capability()
    world.seen("running", request="Reconcile", attempt=f"{world.episode}.1", reasons=["X2.reconciled"])
    # The new process follows the goal that the old one had sent.
    world.seen("end", request="Report", attempt=f"{world.episode}.1", authorized=True)
    world.seen("proof", attempt=f"{world.episode}.1", reasons=["R4.promoted"])
    world.watcher.until(
        lambda: world.attempt().interaction == Attempt.SUCCEEDED, what="end of the interaction"
    )
    assert world.run("heat", "heater_a").decision.reasons == ["R8.redundant"]
    assert world.run("measure", "probe").outcome == VERIFIED
    assert world.heated == 1


def test_an_attempt_that_was_never_sent_is_never_accepted(world):
    world.rig(clock__factor=SLOW)
    world.authority()
    world.capability()
    world.begin()
    # Something asked in the name of the capability node, and died before it sent anything.
    order = world.call("admit", episode=world.episode, step="heat", provider="heater_a").attempt
    assert order.interaction == Attempt.DISPATCHED
    world.call("halt", halt=True, by="test", reason="so that the capability node looks")
    world.call("halt", halt=False, by="test", reason="")
    world.seen("reconciliation", request="Reconcile", attempt=order.id, authorized=True)
    assert world.attempt().interaction == Attempt.NEVER_ACCEPTED
    world.watcher.until(
        lambda: world.run("heat", "heater_b").outcome == VERIFIED, 60, "retry on the other heater"
    )
    assert world.heated == 1


def test_everything_dies(world):
    authority, capability, _ = running(world)
    authority.kill()
    capability.kill()
    world.capability(wait=False)
    world.authority()
    world.seen("running", request="Reconcile", attempt=f"{world.episode}.1", authorized=True)
    world.seen("proof", attempt=f"{world.episode}.1", reasons=["R4.promoted"])
    assert world.run("measure", "probe").outcome == VERIFIED
    assert world.heated == 1


def test_a_heater_that_restarted_cannot_tell(world, node_process):
    rig = world.rig(heater_a__ramp=2.0, clock__factor=SLOW)
    world.authority()
    capability = world.capability()
    world.begin()
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    rig.kill()
    capability.kill()
    now = world.decisions[-1].header.stamp.sec
    world.rig(start=float(now + 20), clock__factor=SLOW)
    world.capability()
    said = world.seen("reconciliation", request="Reconcile", attempt=f"{world.episode}.1", authorized=True)
    assert said.reasons == ["X2.cannot_tell"]
    assert world.attempt().interaction == Attempt.LOST
    assert "R6.no_qualified_negative" in world.run("heat", "heater_b").decision.reasons
