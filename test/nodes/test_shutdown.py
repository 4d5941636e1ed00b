"""SIGTERM and SIGINT in the middle of a goal: a clean end, an open attempt, and its end at the next start."""

import pytest
from adf_ea_ros.msg import Attempt
from world import VERIFIED

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def running(world, **options):
    """A heating under way, of about half a minute of logical time."""
    world.set_up(heater_a__ramp=2.0, clock__factor=2.0, **options)
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")


def clean(process, how):
    """It ends with 0 and without a traceback."""
    assert getattr(process, how)() == 0
    assert "Traceback" not in process.output
    assert "never awaited" not in process.output


def came_to_its_end(world):
    """The attempt was found running, was followed, and is proven; nothing was heated twice."""
    first = f"{world.episode}.1"
    world.seen("running", request="Reconcile", attempt=first, authorized=True, generation=2)
    world.seen("proof", attempt=first, reasons=["R4.promoted"])
    world.watcher.until(
        lambda: world.attempt().interaction == Attempt.SUCCEEDED, what="end of the interaction"
    )
    assert world.run("heat", "heater_a").decision.reasons == ["R8.redundant"]
    assert world.heated == 1


def test_both_are_told_to_end_in_mid_goal(world):
    running(world)
    _, authority, capability = world.processes
    clean(capability, "terminate")
    # Nobody has said how it ended: stopping is no answer.
    assert world.attempt().interaction in (Attempt.DISPATCHED, Attempt.ACCEPTED)
    clean(authority, "interrupt")
    world.authority()
    world.capability()
    came_to_its_end(world)
    assert world.run("measure", "probe").outcome == VERIFIED


def test_one_process_of_both_is_interrupted_in_mid_goal(world):
    running(world, composed=True)
    clean(world.processes[-1], "interrupt")
    world.composed()
    came_to_its_end(world)
