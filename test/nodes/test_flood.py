"""Planners that flood: every call is answered, nothing grows, and the work in hand goes on."""

from collections import Counter
from pathlib import Path

import pytest
from adf_ea_ros.action import Execute
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from world import PLAN, REFUSED, VERIFIED

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.names import execute_action
from adf_ea_ros.nodes.support import GOALS

pytestmark = [pytest.mark.ros, pytest.mark.slow]

CALLS = 2000
GROWTH = 20.0
"""MB that a flood may add: what the allocator keeps, far below what requests that pile up would take."""


def resident(process):
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Flood:
    """A planner that does not wait for answers."""

    def __init__(self, world):
        self.world = world
        self.answers = Counter()
        ours = {"episode": world.episode}
        self._requests = [
            (self._client(kind, name), kind.Request(**fields))
            for kind, name, fields in (
                (srv.Admit, "admit", {**ours, "step": "heat", "provider": "heater_b"}),
                (srv.Observe, "observe", {**ours, "step": "heat"}),
                (srv.StartEpisode, "start_episode", {"task": "heat_measure_record", "planner": "flood"}),
                (srv.ReviseProposal, "revise_proposal", {**ours, "steps": PLAN, "author": "flood"}),
                (srv.GetEpisode, "get_episode", ours),
            )
        ]

    def _client(self, kind, name):
        # Its own queues are deep: what is lost must be lost by the authority, not here.
        client = self.world.watcher.node.create_client(
            kind, f"/authority/{name}", qos_profile=QoSProfile(depth=2 * CALLS)
        )
        self.world.watcher.until(client.service_is_ready, what=name)
        return client

    def pour(self, only=None):
        """Send them all, and wait until every one is answered."""
        before = self.answers.total()

        def answered(future):
            response = future.result()
            reasons = tuple(response.decision.reasons) if hasattr(response, "decision") else ()
            self.answers["overload" if "X5.overload" in reasons else "proper"] += 1

        for number in range(CALLS):
            chosen = number % len(self._requests) if only is None else only
            client, request = self._requests[chosen]
            client.call_async(request).add_done_callback(answered)
        self.world.watcher.until(
            lambda: self.answers.total() == before + CALLS, 120, f"{CALLS} answers; there are {self.answers}"
        )


def test_every_call_of_a_flood_is_answered_and_work_goes_on(world):
    world.rig(heater_a__ramp=2.0, clock__factor=4.0)
    authority = world.authority()
    world.capability()
    world.begin()
    goal = world.goal("heat", "heater_a")
    world.watcher.until(lambda: any(f.phase == "running" for f in goal.feedback), what="running")

    flood = Flood(world)
    flood.pour()
    first = resident(authority)
    flood.pour(only=1)
    assert resident(authority) - first < GROWTH
    assert flood.answers["proper"] > 0
    assert flood.answers["overload"] > CALLS / 2  # the line is short, and a refusal takes no place in it
    assert goal.result().outcome == VERIFIED  # its readbacks and its report came through
    assert world.heated == 1
    # A planner that waits for its answers is never refused for what others have sent.
    for _ in range(50):
        said = world.call("observe", episode=world.episode, step="heat").decision
        assert said.reasons == ["R5.nothing_to_observe"]


def test_goals_that_come_in_one_burst_are_all_answered(world):
    world.rig(heater_a__ramp=50.0)
    world.authority()
    world.capability(result_timeout=3600)  # of logical time, which runs fast
    world.begin()
    client = ActionClient(world.watcher.node, Execute, execute_action("heater_a"), **GOALS)
    world.watcher.until(client.server_is_ready, what="action")
    assert world.run("heat", "heater_a").outcome == VERIFIED  # both sides know each other by now
    outcomes = []

    def accepted(sent):
        sent.result().get_result_async().add_done_callback(
            lambda done: outcomes.append(done.result().result.outcome)
        )

    for _ in range(60):
        goal = Execute.Goal(episode=world.episode, step="heat")
        client.send_goal_async(goal).add_done_callback(accepted)
    world.watcher.until(lambda: len(outcomes) == 60, 60, "60 results")
    assert set(outcomes) == {REFUSED}  # it is hot already


def test_there_is_a_limit_to_episodes_and_steps(world):
    world.authority(max_episodes=2, max_steps=3, use_sim_time="false", presence_wait=0.0)
    begin = {"task": "heat_measure_record", "planner": "flood"}
    started = [world.call("start_episode", **begin) for _ in range(3)]
    assert [answer.started for answer in started] == [True, True, False]
    assert started[2].decision.reasons == ["X5.overload"]
    world.call("stop_episode", episode=started[0].episode, by="test", reason="no more use")
    assert world.call("start_episode", **begin).started

    steps = [*PLAN, msg.Step(id="again", capability="measure", arguments='{"sample": "s1"}')]
    said = world.call("revise_proposal", episode=started[1].episode, steps=steps, author="test").decision
    assert said.reasons == ["X5.overload"]
    assert not said.id  # nothing was decided
