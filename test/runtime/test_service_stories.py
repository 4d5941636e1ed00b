"""The stories of Table 28 of the ADF-EA paper, and the ones that the demo adds, without ROS."""

from __future__ import annotations

from pathlib import Path

import pytest
from rig import Rig

from adf_ea_ros.authority.fold import replay
from adf_ea_ros.authority.model import Interaction, Mode


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "ledger.db")


def finish(rig: Rig, episode: str, recorder: str = "recorder_a") -> None:
    """Measure, record and claim, where the heating is verified."""
    rig.pass_time(5)
    rig.measure(rig.run(episode, "measure", "probe"))
    rig.pass_time(3)
    rig.record(rig.run(episode, "record", recorder))
    rig.pass_time(8)
    decision = rig.service.claim(episode, rig.now)
    assert decision.authorized, decision.sentence


def test_h1_normal(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    assert "R2.dependency" in rig.refused(episode, "measure", "probe")  # acknowledged is not verified
    finish(rig, episode)
    assert rig.heatings == ["heater_a"]


def test_h2_heater_fails_and_is_replaced(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"), works=False)
    assert rig.refused(episode, "heat", "heater_b") == ("R6.no_qualified_negative",)
    rig.pass_time(5)
    attempt = rig.run(episode, "heat", "heater_b")
    assert attempt.mode is Mode.RETRY
    rig.heat(attempt)
    finish(rig, episode)
    assert rig.heatings == ["heater_a", "heater_b"]


def test_h3_evidence_lost_means_observation_and_no_reheating(rig: Rig) -> None:
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.probe_works = False
    rig.heat(attempt)
    rig.pass_time(40)
    assert rig.refused(episode, "heat", "heater_a") == ("R6.no_qualified_negative",)
    assert rig.refused(episode, "heat", "heater_b") == ("R6.no_qualified_negative",)
    assert rig.service.observe(episode, "heat", rig.now).authorized
    rig.probe_works = True
    finish(rig, episode)
    assert rig.heatings == ["heater_a"]


def test_h4_recorder_down_keeps_the_heating(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    rig.measure(rig.run(episode, "measure", "probe"))
    rig.service.set_availability("recorder_a", "its service is not in the graph", rig.now)
    rig.pass_time(2)
    assert "R2.provider_unavailable" in rig.refused(episode, "record", "recorder_a")
    rig.record(rig.run(episode, "record", "recorder_b"))
    rig.pass_time(8)
    assert rig.service.claim(episode, rig.now).authorized
    assert rig.heatings == ["heater_a"]


def test_lost_acknowledgement_heats_once(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"), answer=None)
    assert rig.refused(episode, "heat", "heater_a") == ("R6.no_qualified_negative",)
    rig.pass_time(60)
    assert rig.refused(episode, "heat", "heater_a") == ("R8.redundant",)
    finish(rig, episode)
    assert rig.heatings == ["heater_a"]


def test_crash_keeps_budgets_obligations_and_doubt(rig: Rig) -> None:
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    before = rig.service.book.active()[episode]
    rig.crash()
    after = rig.service.book.active()[episode]
    assert after.physical == before.physical == 5
    assert after.attempts[attempt.id].doubtful
    assert after.generation == before.generation + 1
    assert "R6.no_qualified_negative" in rig.refused(episode, "heat", "heater_a")
    rig.heat(attempt)
    finish(rig, episode)
    assert rig.heatings == ["heater_a"]


def test_the_state_is_the_fold_of_the_ledger(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    finish(rig, episode)
    state = rig.service.book.state(episode)
    assert state == replay(rig.service.book.events(episode))
    assert state is not None
    assert state.phase == "completed"


def test_lost_heat_is_repaired_for_the_measurement(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    rig.temperature = 30.0
    rig.pass_time(5)
    assert rig.refused(episode, "heat", "heater_a") == ("R7.unknown_now",)  # hot and cold samples disagree
    rig.pass_time(20)
    assert "R2.precondition_false" in rig.refused(episode, "measure", "probe")
    attempt = rig.run(episode, "heat", "heater_a")
    assert attempt.mode is Mode.REPAIR
    rig.heat(attempt)
    finish(rig, episode)
    assert rig.heatings == ["heater_a", "heater_a"]


def test_a_rejected_goal_is_no_proof_of_failure(rig: Rig) -> None:
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.service.report(attempt.id, Interaction.REJECTED, rig.now)
    assert rig.refused(episode, "heat", "heater_b") == ("R6.no_qualified_negative",)
    rig.pass_time(4)
    assert rig.run(episode, "heat", "heater_b").mode is Mode.RETRY
