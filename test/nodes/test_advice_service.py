"""Advice of the authority node: as a service, by the client, and from its ledger without any node."""

import json
import subprocess
import sys

import pytest
from adf_ea_ros.msg import Advice
from world import VERIFIED

from adf_ea_ros import srv
from adf_ea_ros.nodes import frontdesk
from adf_ea_ros.nodes.client import Planner

pytestmark = pytest.mark.ros

COMMAND = "from adf_ea_ros.cli.main import main; main()"


def test_advice_is_what_is_granted_next(world, domain):
    world.set_up(composed=True)
    assert world.call("advise", episode="none").error == "there is no episode 'none'"
    asked = world.call("advise", horizon=3)
    assert (asked.found, asked.error) == (True, "")
    best = asked.advice[0]
    assert (best.action, best.step) == (Advice.DISPATCH, "heat")
    assert best.progress > 0
    assert asked.advice[-1].action == Advice.HAND_OVER
    assert asked.open[-1].startswith("assumed: every alternative is as likely as every other one")
    assert json.loads(asked.handoff)["requests"] == []

    result = world.run(best.step, best.provider)
    assert result.outcome == VERIFIED
    after = world.call("advise", episode=world.episode)
    assert (after.advice[0].action, after.advice[0].step) == (Advice.DISPATCH, "measure")
    assert all(piece.step != "heat" for piece in after.advice)

    with Planner(domain_id=domain.domain, timeout=20.0) as planner:
        said = planner.advise(2, episode=world.episode)
    assert said.found
    assert (said.horizon <= 2, said.advice[0].step) == (True, "measure")

    ledger = str(world.folder / "ledger.db")
    program = [sys.executable, "-c", COMMAND, "advise", ledger, "--at-last", "--json"]
    done = subprocess.run(
        program, env=domain.environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["episode"] == world.episode
    assert {"dispatch", "observe"} & {piece["action"] for piece in told["pieces"]}

    assert world.call("stop_episode", episode=world.episode, by="test", reason="enough").decision.authorized
    over = world.call("advise", episode=world.episode)
    assert (over.found, list(over.advice), over.error) == (True, [], "the episode is stopped")
    assert json.loads(over.handoff)["spent"]


def test_an_answer_all_the_same_where_the_line_is_full_or_the_request_fails():
    full = frontdesk._overload(srv.Advise, "advise", srv.Advise.Request(), "busy", 5)
    assert (full.found, full.error) == (False, "X5.overload: busy")
    failed = frontdesk._failed(srv.Advise, "advise")(None)
    assert not failed.found
    assert "advise failed on this request" in failed.error
