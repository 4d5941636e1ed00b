"""The planner's code against a real authority core: each story, and what has no way on."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="adf_ea_ros.nodes needs rclpy")

from fake_access import FakeAccess

from adf_ea_ros.nodes.demo.planner import DemoPlanner, Plan, moves

TASK = "heat_measure_record"
PLAN = (
    Plan("heat", "heat_to", {"sample": "s1", "target": 80}),
    Plan("measure", "measure", {"sample": "s1"}, ("heat",)),
    Plan("record", "record", {"sample": "s1"}, ("measure",)),
)


@pytest.fixture
def access(tmp_path: Path) -> FakeAccess:
    return FakeAccess(tmp_path)


def work(access: FakeAccess) -> bool:
    return DemoPlanner(access, access.said.append).work(TASK, PLAN)


def test_nothing_goes_wrong(access: FakeAccess) -> None:
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a"]


def test_a_heater_without_effect_is_replaced(access: FakeAccess) -> None:
    access.dead_heaters.add("heater_a")
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a", "heater_b"]
    assert "binds heat to heater_b" in access.said


def test_missing_samples_are_awaited_and_nothing_is_reheated(access: FakeAccess) -> None:
    access.blind_for = 30
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a"]
    assert "observes heat" in access.said


def test_only_the_record_is_bound_anew(access: FakeAccess) -> None:
    access.recorder_dies_after_heating = True
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a"]
    assert access.rig.measured == 1
    assert "binds record to recorder_b" in access.said


def test_a_lost_answer_heats_once(access: FakeAccess) -> None:
    access.lost_answers.add("heater_a")
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a"]


def test_an_authority_that_dies_in_mid_heating(access: FakeAccess) -> None:
    access.crash_in_heating = True
    assert work(access), access.said
    assert access.rig.heatings == ["heater_a"]


def test_two_dead_heaters_end_in_giving_up_within_the_budget(access: FakeAccess) -> None:
    access.dead_heaters |= {"heater_a", "heater_b"}
    assert not work(access)
    assert access.stopped
    assert len(access.rig.heatings) == 2  # the contract allows one retry


def test_a_blind_probe_ends_in_giving_up_without_a_second_heating(access: FakeAccess) -> None:
    access.blind_for = 1000
    assert not work(access)
    assert access.stopped
    assert access.rig.heatings == ["heater_a"]


def test_an_authority_that_stays_away_ends_in_giving_up(access: FakeAccess) -> None:
    access.away = 1000
    assert not work(access)
    assert access.rig.heatings == []


def test_moves_reads_what_the_authority_would_accept() -> None:
    advice = ["observe step heat", "run step record on recorder_a or recorder_b (first)", "claim completion"]
    assert list(moves(advice)) == [("record", ["recorder_a", "recorder_b"])]
    aged = ["run step heat on heater_a (retry), once fresh evidence shows s1.hot == True does not hold"]
    assert list(moves(aged)) == [("heat", ["heater_a"])]
