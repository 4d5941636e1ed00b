"""Two robots, each with an authority in its namespace, one database, and one heater that both want."""

import sys
from contextlib import suppress
from pathlib import Path

import pytest
from adf_ea_ros.action import Execute
from rclpy.action import ActionClient
from world import AUTHORITY, CAPABILITY, CONTRACTS, PLAN, REFUSED, TASK, VERIFIED, listed, ros_args

from adf_ea_ros import srv
from adf_ea_ros.nodes.names import execute_action
from adf_ea_ros.testing.waiting import TimedOut, wait_until

sys.path.append(str(Path(__file__).parents[1] / "ledger"))
from postgres_server import WHY_NOT, PostgresServer, find_programs

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.postgres]


@pytest.fixture
def server():
    if find_programs() is None:
        pytest.skip(WHY_NOT)
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'psycopg[binary]'")
    made = PostgresServer()
    yield made
    made.close()


class Robot:
    """One robot's authority and capability node, and its planner."""

    def __init__(self, world, name, ledger, contracts):
        self.world, self.space = world, f"/{name}"
        self._common = {"contracts": listed(contracts), "use_sim_time": "true"}
        self._ledger = {"ledger": ledger, "mark": world.folder / f"{name}.mark", "tasks": listed([TASK])}
        self.authority = self._start(AUTHORITY, self._ledger)
        self._capability = self._start(
            CAPABILITY, {"authority": f"{self.space}/authority", "providers": "[heater_a]"}
        )

    def _start(self, module, parameters):
        words = ros_args({**self._common, **parameters})
        return self.world.start(module, *words, "-r", f"__ns:={self.space}")

    def restart(self):
        self.authority.kill()
        self.authority = self._start(AUTHORITY, self._ledger)

    def call(self, kind, name, **fields):
        watcher = self.world.watcher
        client = watcher.node.create_client(kind, f"{self.space}/authority/{name}")
        watcher.until(client.service_is_ready, 40, what=f"service {name}")
        for _ in range(4):
            # The answer may get lost while both sides are still discovering each other; all of these calls
            # may be made again.
            with suppress(TimedOut):
                return watcher.result(client.call_async(kind.Request(**fields)), 8)
        raise TimedOut(f"answer of {name}")

    def begin(self):
        self.authority.wait_for_line("active: generation", 40)
        self._capability.wait_for_line("in contact with the authority", 40)
        started = self.call(srv.StartEpisode, "start_episode", task="heat_measure_record", planner=self.space)
        assert started.started, started.decision.sentence
        self.episode = started.episode
        said = self.call(
            srv.ReviseProposal, "revise_proposal", episode=self.episode, steps=PLAN[:1], author="test"
        ).decision
        assert said.authorized, said.sentence

    def heat(self):
        """The goal on its way."""
        client = ActionClient(self.world.watcher.node, Execute, execute_action("heater_a", self.space))
        self.world.watcher.until(client.server_is_ready, 40, what="the action")
        sent = self.world._sent(client, Execute.Goal(episode=self.episode, step="heat"), [])
        return self.world.watcher.result(sent, what="goal").get_result_async()

    def result(self, future):
        return self.world.watcher.result(future, 60, "result").result


def test_one_heater_is_used_by_one_robot_at_a_time(world, server, tmp_path):
    shared = tmp_path / "heater_a.yaml"
    original = next(path for path in CONTRACTS if path.name == "heater_a.yaml")
    shared.write_text(f"{original.read_text()}shared_as: the_heater\n")
    contracts = [path for path in CONTRACTS if path != original] + [shared]
    world.rig(heater_a__ramp=4.0, clock__factor=2.0)
    one, two = (Robot(world, name, server.url, contracts) for name in ("robot1", "robot2"))
    one.begin()
    two.begin()

    first = one.heat()
    world.watcher.until(lambda: world.heated == 1, 40, "the first heating")
    said = two.result(two.heat())
    assert (said.outcome, said.decision.reasons) == (REFUSED, ["X10.held"])
    assert "the_heater is held by /robot1/authority" in said.decision.sentence
    one.restart()  # its heating goes on, and so does its hold
    said = two.result(two.heat())
    assert (said.outcome, said.decision.reasons) == (REFUSED, ["X10.held"])
    assert world.heated == 1
    assert one.result(first).outcome == VERIFIED

    def heated_again():
        said = two.result(two.heat())
        assert said.outcome == VERIFIED or said.decision.reasons == ["X10.held"], said.decision.sentence
        return said.outcome == VERIFIED

    wait_until(heated_again, 60, world.watcher.spin, "the second robot's turn")
    assert world.heated == 2
