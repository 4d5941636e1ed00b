"""Clients of the raw action type through a drop-in gate, and what each of them is told."""

from contextlib import suppress

import pytest
from action_msgs.msg import GoalStatus
from adf_ea_ros.action import Heat
from rclpy.action import ActionClient
from world import CONFIG, listed

from adf_ea_ros.testing.waiting import TimedOut

pytestmark = pytest.mark.ros

RAW, GATE = "/rig/heater_a/heat", "/bench/heat"
GATES = listed([CONFIG / "gates"])
both_ports = pytest.mark.parametrize("composed", [False, True], ids=["services", "composed"])


def start(world, composed=True, rig=None, **more):
    world.rig(**{"clock__factor": 10.0, **(rig or {})})
    if composed:
        world.composed(tasks=GATES, gates=GATES, **more)
    else:
        world.authority(tasks=GATES)
        world.capability(gates=GATES, **more)


class Client:
    """What anybody would write against the heater's own action: it knows its name and its type, no more."""

    def __init__(self, world, name=GATE):
        self.watcher = world.watcher
        self.client = ActionClient(world.watcher.node, Heat, name)
        self.watcher.until(self.client.server_is_ready, what=name)

    def send(self, target=80.0, sample="s1"):
        feedback = []
        goal = Heat.Goal(sample=sample, target=target)
        for _ in range(4):  # a server that was killed stays in the graph for a while, and does not answer
            future = self.client.send_goal_async(goal, lambda m: feedback.append(m.feedback.temperature))
            with suppress(TimedOut):
                self.watcher.until(future.done, 10)
                break
        handle = future.result()
        handle.heard = feedback
        # At once: a result is kept for ten seconds of the robot's clock, which may run fast.
        handle.future = handle.get_result_async() if handle.accepted else None
        return handle

    def result(self, handle):
        return self.watcher.result(handle.future, 60, "result")

    def run(self, *goal, **fields):
        handle = self.send(*goal, **fields)
        return self.result(handle) if handle.accepted else None


@pytest.mark.smoke
@both_ports
def test_a_raw_client_through_the_gate(world, composed):
    start(world, composed)
    client = Client(world)
    first = client.send()
    assert first.accepted
    response = client.result(first)
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert (response.result.success, response.result.reached) == (True, 80.0)  # the heater's own words
    assert first.heard
    # The same once more: there is nothing to do, and the gate calls that a success.
    again = client.run()
    assert (again.status, again.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    assert world.heated == 1
    # What the contract does not allow is rejected, and the decision is told.
    assert client.run(300.0) is None
    refused = world.seen("a refusal", reasons=["R1.grounding"])
    world.logged(f"decision {refused.id}")
    assert client.run(float("nan")) is None
    assert world.heated == 1


def test_a_goal_that_was_given_up_and_sent_again_is_not_carried_out_again(world):
    start(world, composed=False, rig={"heater_a__fault": "lost_result"})
    client = Client(world)
    first = client.send()
    assert first.accepted
    assert not client.send().accepted
    world.seen("a refusal", reasons=["R6.no_qualified_negative"])
    response = client.result(first)  # the heater never says so, the probe does
    assert (response.status, response.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    assert client.run().status == GoalStatus.STATUS_SUCCEEDED
    assert world.heated == 1


def test_the_status_is_what_is_so_and_not_what_was_said(world):
    start(world)
    client = Client(world)
    for fault, target, status, success in (
        ("abort_with_effect", 80.0, GoalStatus.STATUS_SUCCEEDED, True),
        ("abort_without_effect", 40.0, GoalStatus.STATUS_ABORTED, False),
        ("no_effect", 60.0, GoalStatus.STATUS_ABORTED, False),
    ):
        world.set_parameter("/rig/heater_a", "fault", fault)
        response = client.run(target)
        assert (response.status, response.result.success) == (status, success), fault
        assert ("over-current" in response.result.message) == fault.startswith("abort")
    assert world.heated == 1


def test_canceling_passes_through_both_ways(world):
    start(world, rig={"heater_a__ramp": 1.0})
    client = Client(world)
    goal = client.send()
    world.watcher.until(lambda: goal.heard, what="feedback")
    assert world.watcher.result(goal.cancel_goal_async(), 30, "answer to a cancel").goals_canceling
    assert client.result(goal).status == GoalStatus.STATUS_CANCELED
    # It is known to have failed for good, so another goal may have its place. This one cannot be stopped.
    world.set_parameter("/rig/heater_a", "fault", "stuck")
    stuck = client.send(40.0)
    assert stuck.accepted
    world.watcher.until(lambda: stuck.heard, what="feedback")
    assert not world.watcher.result(stuck.cancel_goal_async(), 30, "answer to a cancel").goals_canceling


def test_without_an_authority_every_goal_is_rejected(world):
    world.rig()
    world.capability(wait=False, gates=GATES, authority_wait=0.5)
    assert Client(world).run() is None
    world.logged("X5.not_ready")
    assert world.heated == 0


@pytest.mark.slow
def test_accounts_outlive_both_processes(world):
    world.rig(clock__factor=5.0, heater_a__ramp=3.0)  # done within its commit bound of 30 s
    authority, capability = world.authority(tasks=GATES), world.capability(gates=GATES)
    client = Client(world)
    first = client.send()
    world.watcher.until(lambda: first.heard, what="feedback")
    capability.kill()
    authority.kill()
    world.authority(tasks=GATES)
    world.capability(gates=GATES)
    # Another client, or the same one, asks for the same: refused in doubt, redundant once it is proven.
    again = Client(world)
    world.watcher.until(lambda: again.run() is not None, 60, what="an accepted goal")
    assert [d.request for d in world.decisions].count("Begin") == 1
    assert world.seen("redundancy", reasons=["R8.redundant"])
    assert world.heated == 1
