"""Advice by the authority itself: on the readbacks of this moment, without a trace in the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from rig import SECOND, Rig

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.errors import LedgerUnavailable
from adf_ea_ros.recovery.advise import Advice, Kind, Piece
from adf_ea_ros.runtime.advising import advise_now
from adf_ea_ros.runtime.desk import Desk


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "ledger.db")


def told(rig: Rig, episode: str = "") -> Advice:
    found = advise_now(rig.service, episode, rig.now)
    assert found is not None
    return found


def first(rig: Rig) -> Piece:
    return told(rig).pieces[0]


def dispatches(rig: Rig) -> set[tuple[str, str]]:
    return {(p.step, p.provider) for p in told(rig).pieces if p.action is Kind.DISPATCH}


def test_a_story_from_the_first_step_to_the_claim(rig: Rig) -> None:
    """Whatever is advised first is done, and granted; the task ends complete."""
    episode = rig.begin()
    rig.pass_time(3)
    done = []
    for _ in range(20):
        piece = first(rig)
        done.append((piece.action.name, piece.step))
        if piece.action is Kind.CLAIM:
            assert rig.service.claim(episode, rig.now).authorized
            break
        if piece.action is Kind.DISPATCH:
            attempt = rig.run(episode, piece.step, piece.provider)
            work = {"heat": rig.heat, "measure": rig.measure, "record": rig.record}[piece.step]
            work(attempt)
            rig.pass_time(6)
        elif piece.action is Kind.WAIT:
            rig.pass_time(piece.wait // SECOND + 1)
        else:
            pytest.fail(f"{piece.sentence}; so far {done}")
    names = [step for action, step in done if action == "DISPATCH"]
    assert names == ["heat", "measure", "record"]
    assert told(rig, episode).error == "the episode is completed"


def test_a_heater_that_did_nothing(rig: Rig) -> None:
    """Not while the effect may still come, and then by another heater or the same."""
    episode = rig.begin()
    rig.pass_time(3)
    rig.heat(rig.run(episode, "heat", "heater_a"), works=False)
    rig.pass_time(7)
    assert {p for s, p in dispatches(rig) if s == "heat"} == {"heater_a", "heater_b"}
    assert rig.run(episode, "heat", first(rig).provider)


def test_a_lost_answer_is_waited_out_and_not_repeated(rig: Rig) -> None:
    episode = rig.begin()
    rig.pass_time(3)
    rig.probe_works = False
    attempt = rig.run(episode, "heat", "heater_a")
    rig.heat(attempt, Interaction.LOST, works=False)
    piece = first(rig)
    assert piece.action is Kind.WAIT
    assert not dispatches(rig)
    assert "may still take effect" in piece.sentence
    rig.pass_time(piece.wait // SECOND + 1)
    assert first(rig).action is Kind.OBSERVE  # the probe is silent: nothing says what became of it
    assert not dispatches(rig)


def test_it_changes_nothing(rig: Rig) -> None:
    episode = rig.begin()
    rig.pass_time(3)
    rig.run(episode, "heat", "heater_a")
    rig.pass_time(1)
    before = rig.service.book.state(episode)
    head = rig.ledger.head(episode)
    assert told(rig) == told(rig)
    assert rig.service.book.state(episode) is before
    assert rig.ledger.head(episode) == head
    assert rig.service.unavailable == {}


def test_what_another_episode_has_under_way_is_in_the_way(rig: Rig) -> None:
    first_one, second = rig.begin(), rig.begin()
    rig.pass_time(3)
    assert dispatches(rig)
    rig.run(first_one, "heat", "heater_a")
    assert told(rig, second).pieces[0].action is not Kind.DISPATCH
    assert any("may still change" in line for line in told(rig, second).open)


def test_a_revoked_provider_is_not_advised_before_anybody_asked(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.begin()
    rig.pass_time(3)
    assert ("heat", "heater_a") in dispatches(rig)
    real = Catalog.obstacle

    def revoked(catalog: Catalog, kind: str, name: str, now: int) -> str:
        return "revoked" if name == "heater_a" else real(catalog, kind, name, now)

    monkeypatch.setattr(Catalog, "obstacle", revoked)
    assert dispatches(rig) == {("heat", "heater_b")}
    assert rig.service.unavailable == {}


def test_the_newest_episode_unless_one_is_named(rig: Rig) -> None:
    assert advise_now(rig.service, "", rig.now) is None
    one, other = rig.begin(), rig.begin()
    assert told(rig).episode == other
    assert told(rig, one).episode == one
    assert advise_now(rig.service, "none", rig.now) is None


def test_the_desk_says_why_there_is_none(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    desk = Desk(lambda: now[0])
    assert desk.advise("") == "it is not configured"
    desk.open(rig.service)
    assert "clock" in str(desk.advise(""))
    now[0] = rig.now
    assert desk.advise("none") == "there is no episode 'none'"
    episode = rig.begin()
    found = desk.advise(episode, 2)
    assert isinstance(found, Advice)
    assert found.horizon <= 2

    def broken() -> None:
        raise LedgerUnavailable("the disk is gone")

    monkeypatch.setattr(rig.service.book, "settle", broken)
    assert "the disk is gone" in str(desk.advise(episode))
