"""A decision of the authority that never reaches the capability node is asked for."""

from __future__ import annotations

import pytest
from world import CAPABILITY, CONTRACTS, VERIFIED, listed, ros_args

pytestmark = pytest.mark.ros


def test_a_goal_whose_verdict_is_lost_on_its_way_ends_all_the_same(world):
    """With an hour for the evidence: a node that only waited would still wait when this test is over."""
    world.rig()
    world.authority()
    given = ros_args({"contracts": listed(CONTRACTS), "use_sim_time": "true", "authority_wait": 10.0})
    capability = world.start(CAPABILITY, *given, "-r", "/authority/decisions:=/nowhere")
    capability.wait_for_line("in contact with the authority", 40)
    world.begin()
    result = world.run("heat", "heater_a", evidence_timeout=3600)
    assert result.outcome == VERIFIED
    assert world.heated == 1
