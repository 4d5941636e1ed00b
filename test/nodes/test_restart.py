"""What goes on over a restart of the authority: deadlines, refusals, and work on other samples."""

import pytest
from adf_ea_ros.msg import Attempt
from world import REFUSED, TASK, VERIFIED, listed

from adf_ea_ros import msg

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def test_one_heating_is_open_and_the_other_sample_goes_on(world, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(TASK.read_text().replace("heat_measure_record", "other").replace("s1", "s2"))
    tasks = listed([TASK, other])
    world.rig(samples="[s1,s2]", heater_a__fault="stuck", clock__factor=4.0)
    authority = world.authority(tasks=tasks)
    world.capability()
    world.begin()
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")
    first = f"{world.episode}.1"
    world.seen("acceptance", request="Report", subject=first)

    authority.kill()
    world.authority(tasks=tasks)
    world.seen("restart", request="Restart", reasons=["X1.restarted"])
    # A decision that somebody made on the authority before this one is void.
    stale = world.call(
        "admit", episode=world.episode, step="heat", provider="heater_b", generation=1
    ).decision
    assert not stale.authorized
    assert any(code.startswith("X1") for code in stale.reasons), stale.reasons

    begun = world.call("start_episode", task="other", planner="test").episode
    step = msg.Step(id="heat", capability="heat_to", arguments='{"sample": "s2", "target": 80}')
    assert world.call("revise_proposal", episode=begun, steps=[step], author="test").decision.authorized
    assert world.run("heat", "heater_b", episode=begun).outcome == VERIFIED
    assert world.run("heat", "heater_b").outcome == REFUSED  # proven by then, or open

    # The deadline was set by the authority that died; the one that lives keeps it.
    said = world.seen("deadline", request="Report", attempt=first, generation=2, authorized=True)
    assert said.header.stamp.sec >= world.attempt().deadline.sec
    assert world.attempt().interaction == Attempt.LOST
