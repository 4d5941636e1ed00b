"""``busy: preempt``: a new goal stops the one before and takes its place, as navigators do it."""

import pytest
from action_msgs.msg import GoalStatus
from test_gates import Client
from world import CONFIG, listed

pytestmark = pytest.mark.ros


@pytest.fixture
def client(world, tmp_path):
    """The demo's gate in front of a slow heater, with a choice that its file does not make."""
    gates = tmp_path / "gates.yaml"
    text = (CONFIG / "gates" / "heating.yaml").read_text()
    gates.write_text(text.replace("redundant: succeed", "redundant: succeed\nbusy: preempt"))
    world.rig(clock__factor=10.0, heater_a__ramp=2.0, samples="[s1, s2]")
    world.composed(tasks=listed([gates]), gates=listed([gates]))
    return Client(world)


def under_way(world, client, target):
    goal = client.send(target)
    assert goal.accepted
    world.watcher.until(lambda: goal.heard, what="feedback")
    return goal


def test_a_new_goal_takes_the_place_of_the_one_before(world, client):
    first = under_way(world, client, 80.0)
    second = client.send(40.0)
    assert second.accepted
    assert client.result(first).status == GoalStatus.STATUS_ABORTED
    response = client.result(second)
    assert (response.status, response.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    assert world.heated == 2  # begun, that is
    asked = [n for n, d in enumerate(world.decisions) if d.request == "Dispatch" and d.authorized]
    assert len(asked) == 2
    before = world.decisions[asked[0] : asked[1]]
    assert any(d.negative for d in before), "asked for once it was known that nothing came of the first"


def test_the_newest_of_several_goals_is_the_one_that_is_carried_out(world, client):
    first = under_way(world, client, 80.0)
    others = [client.send(target) for target in (60.0, 50.0, 40.0)]
    assert all(goal.accepted for goal in others)
    ends = [client.result(goal) for goal in (first, *others)]
    assert [end.status for end in ends] == [GoalStatus.STATUS_ABORTED] * 3 + [GoalStatus.STATUS_SUCCEEDED]
    assert "a newer goal took its place" in ends[1].result.message
    assert world.heated == 2
    assert sum(d.request == "Dispatch" and d.authorized for d in world.decisions) == 2


def test_the_same_goal_once_more_stops_nothing(world, client):
    first = under_way(world, client, 80.0)
    assert not client.send(80.0).accepted
    world.seen("a refusal", reasons=["R6.no_qualified_negative"])
    assert client.result(first).status == GoalStatus.STATUS_SUCCEEDED
    assert world.heated == 1


def test_goals_about_other_subjects_are_left_alone(world, client):
    first = under_way(world, client, 80.0)
    assert client.send(40.0, sample="s2").accepted  # whether the heater takes two is for the heater to say
    assert client.result(first).status == GoalStatus.STATUS_SUCCEEDED


def test_a_goal_that_waits_can_be_canceled(world, client):
    world.set_parameter("/rig/heater_a", "fault", "stuck")  # it neither ends nor stops
    first = under_way(world, client, 80.0)
    second = client.send(40.0)
    assert second.accepted
    assert world.watcher.result(second.cancel_goal_async(), 30, "answer to a cancel").goals_canceling
    assert client.result(second).status == GoalStatus.STATUS_CANCELED
    assert sum(d.request == "Dispatch" for d in world.decisions) == 1
    del first


def test_a_device_that_does_not_stop_keeps_its_goal(world, client):
    world.set_parameter("/rig/heater_a", "fault", "stuck")
    first = under_way(world, client, 80.0)
    second = client.send(40.0)
    response = client.result(second)
    assert response.status == GoalStatus.STATUS_ABORTED
    assert "does not stop" in response.result.message
    world.logged("does not stop")
    assert first.status in (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
    assert sum(d.request == "Dispatch" for d in world.decisions) == 1
