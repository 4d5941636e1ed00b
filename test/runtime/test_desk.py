"""The desk refuses with an answer while it is closed, and tells what is decided while it is open."""

from __future__ import annotations

from pathlib import Path

import pytest
from rig import PLAN, SECOND, Rig

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.runtime.desk import Desk
from adf_ea_ros.runtime.public import Ruling


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "ledger.db")


@pytest.fixture
def told() -> list[Ruling]:
    return []


@pytest.fixture
def desk(rig: Rig, told: list[Ruling]) -> Desk:
    desk = Desk(lambda: rig.now)
    desk.watchers.append(lambda said, _: told.append(said))
    desk.watch(rig.service)
    desk.open(rig.service)
    return desk


def test_a_closed_desk_refuses_everything(rig: Rig, desk: Desk) -> None:
    desk.close("it rests")
    rulings = [
        desk.admit("e", "s", "p")[0],
        desk.report("e.1", None, Interaction.LOST),
        desk.start_episode("t", "p")[1],
        desk.revise("e", (), "a"),
        desk.observe("e", "s"),
        desk.claim("e"),
        desk.stop("e", "b", "r"),
        desk.approve("e", "s", "b", "r")[0],
        desk.withdraw("e", "s", "b", "r")[0],
        *desk.halt("b", "r"),
        *desk.resume("b"),
        *desk.set_availability("p", "r"),
    ]
    for said in rulings:
        assert said.reasons == ("X5.not_ready",)
        assert "it rests" in said.sentence
        assert said.void
    assert desk.open_attempts() == []
    assert desk.look("e.1") is None


def test_a_clock_that_has_not_started_is_a_reason(rig: Rig, desk: Desk) -> None:
    rig.now = 0
    said = desk.start_episode("heat_measure_record", "test")[1]
    assert said.reasons == ("X5.not_ready",)
    assert "/clock" in said.sentence


def test_an_order_and_its_verdict(rig: Rig, desk: Desk, told: list[Ruling]) -> None:
    episode, said = desk.start_episode("heat_measure_record", "test")
    assert said.authorized
    assert desk.revise(episode, PLAN, "test").authorized
    said, order = desk.admit(episode, "heat", "heater_a")
    assert order is not None
    assert (said.attempt, said.retry, said.physical) == (f"{episode}.1", 1, 5)
    assert (order.capability, order.provider, order.step) == ("heat_to", "heater_a", "heat")
    assert order.arguments == '{"sample":"s1","target":80.0}'
    assert order.deadline - order.dispatched == 60 * SECOND
    refused, none = desk.admit(episode, "heat", "heater_a")
    assert none is None
    assert refused.next == ("observe step heat",)
    rig.pass_time(3)
    rig.temperature = 80.0
    reported = desk.report(order.id, None, Interaction.SUCCEEDED)
    assert (reported.request, reported.authorized) == ("Report", True)
    assert reported.verdict is not Verdict.SATISFIED
    rig.pass_time(4)
    proof = next(r for r in told if "R4.promoted" in r.reasons)
    assert (proof.attempt, proof.verdict, proof.negative) == (order.id, Verdict.SATISFIED, False)
    seen = desk.look(order.id)
    assert seen is not None
    assert (seen.verdict, seen.unresolved) == (Verdict.SATISFIED, False)
    assert [r.id for r in told] == list(dict.fromkeys(r.id for r in told))  # each decision once


def test_a_missing_effect_is_told_as_negative(rig: Rig, desk: Desk, told: list[Ruling]) -> None:
    episode, _ = desk.start_episode("heat_measure_record", "test")
    desk.revise(episode, PLAN, "test")
    _, order = desk.admit(episode, "heat", "heater_a")
    assert order is not None
    desk.report(order.id, None, Interaction.SUCCEEDED)
    rig.pass_time(6)
    assert told[-1].attempt == order.id or any(r.negative and r.attempt == order.id for r in told)
    seen = desk.look(order.id)
    assert seen is not None
    assert seen.negative
    assert seen.unresolved
