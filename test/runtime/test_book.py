"""The states of an authority across restarts: what is loaded, and what a damaged checkpoint costs."""

import itertools
import sqlite3

import pytest
from rig import CONFIG, Rig

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.errors import LedgerDamaged, LedgerUnavailable
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.runtime import book as books
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService


@pytest.fixture
def rig(tmp_path, monkeypatch):
    monkeypatch.setattr(books, "CHECKPOINT_EVERY", 4)
    return Rig(tmp_path / "ledger.db")


def reopened(rig):
    rig.ledger.close()
    rig.ledger = SqliteLedger(rig.path)
    return Book(rig.ledger, rig.ledger.open_writer("test", time=rig.now))


def change(rig, statement, *values):
    rig.ledger.close()
    with sqlite3.connect(rig.path) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def test_a_damaged_checkpoint_is_got_over_by_folding_everything_and_said(rig):
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.service.tick(rig.now)
    state = rig.service.book.state(episode)
    change(rig, "UPDATE checkpoint SET state = ?", b"nonsense")
    book = reopened(rig)
    assert book.load() == [episode]
    assert book.state(episode) == state
    assert len(book.remedies) == 1
    assert episode in book.remedies[0]
    # The next tick mends it: the restart after that has nothing to say.
    rig.ledger.close()
    rig.open()
    rig.service.tick(rig.now)
    rig.ledger.close()
    later = reopened(rig)
    later.load()
    assert later.remedies == []
    assert later.state(episode) == rig.service.book.state(episode)


def test_a_damaged_record_is_not_got_over(rig):
    episode = rig.begin()
    rig.service.tick(rig.now)
    change(rig, "UPDATE event SET payload = ? WHERE episode = ? AND version = 3", b"{}", episode)
    change(rig, "UPDATE checkpoint SET state = ?", b"nonsense")
    rig.ledger = SqliteLedger(rig.path)
    with pytest.raises(LedgerDamaged):
        Book(rig.ledger, 2).load()
    with pytest.raises(LedgerDamaged):
        rig.ledger.open_writer("test", time=rig.now)


def test_what_is_over_is_not_kept(rig):
    for _ in range(3):
        episode = rig.begin()
        rig.service.stop(episode, "test", "enough", rig.now)
        assert rig.service.book.state(episode).phase == "stopped"
    book = reopened(rig)
    assert book.load() == []
    for kept in (rig.service.book, book):
        assert kept.active() == {}
        assert set(kept._saved) <= {"authority"}
        assert kept._stopped == {}


def test_a_stopped_episode_whose_attempt_may_act_still_counts_after_a_restart(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.service.stop(episode, "test", "enough", rig.now)
    book = reopened(rig)
    book.load()
    assert [a.id for _, _, a in book.unsettled(rig.now)] == [attempt.id]
    assert [a.id for _, _, a in book.unsettled(rig.now + 10**12)] == []  # its promised bound has passed


def test_deadlines_run_on_over_a_restart(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.crash()
    rig.service.tick(attempt.deadline - 1)
    assert rig.service.book.state(episode).attempts[attempt.id].interaction is Interaction.DISPATCHED
    rig.service.tick(attempt.deadline)
    assert rig.service.book.state(episode).attempts[attempt.id].interaction is Interaction.LOST


def test_a_decision_of_an_older_generation_is_void(rig):
    episode = rig.begin()
    old = rig.service.book.generation
    rig.crash()
    said = rig.service.dispatch(episode, "heat", "heater_a", rig.now, generation=old)
    assert not said.authorized
    assert any(code.startswith("X1") for code in said.reasons), said.reasons
    assert rig.service.dispatch(episode, "heat", "heater_a", rig.now, old + 1).authorized


def test_only_what_is_in_doubt_waits(rig, tmp_path):
    """An attempt on s1 is in doubt after a restart: s1 waits, s2 is heated meanwhile."""
    task = (CONFIG / "tasks" / "heat_measure_record.yaml").read_text()
    (tmp_path / "other.yaml").write_text(task.replace("heat_measure_record", "other").replace("s1", "s2"))
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.ledger.close()
    rig.ledger = SqliteLedger(rig.path)
    catalog = Catalog.load(
        [CONFIG / "contracts", CONFIG / "providers", CONFIG / "tasks", tmp_path / "other.yaml"]
    )
    rig.service = AuthorityService(catalog, Book(rig.ledger, rig.ledger.open_writer("test", time=rig.now)))
    assert rig.service.recover(rig.now) == [episode]
    assert rig.service.book.state(episode).attempts[attempt.id].doubtful
    assert not rig.service.dispatch(episode, "heat", "heater_b", rig.now).authorized
    again = rig.begin()
    assert not rig.service.dispatch(again, "heat", "heater_b", rig.now).authorized  # the same sample
    other, _ = rig.service.start_episode("other", "test", rig.now)
    step = Step("heat", "heat_to", {"sample": "s2", "target": 80})
    assert rig.service.revise(other, [step], "test", rig.now).authorized
    assert rig.service.dispatch(other, "heat", "heater_b", rig.now).authorized


def test_the_longer_an_episode_the_further_apart_its_checkpoints(rig, monkeypatch):
    saved = []
    monkeypatch.setattr(
        rig.ledger, "save_checkpoint", lambda _episode, version, _state: saved.append(version)
    )
    episode = rig.begin()
    rig.run(episode, "heat", "heater_a")
    while rig.service.book.state(episode).version < 400:
        rig.service.observe(episode, "record", rig.now)
        rig.service.tick(rig.now)
    distances = [after - before for before, after in itertools.pairwise(saved)]
    assert 4 <= distances[0] < 8
    assert distances[-1] >= 300 // books.CHECKPOINT_SHARE
    assert len(saved) < 60


def test_no_decision_is_void_because_a_checkpoint_could_not_be_saved(rig, monkeypatch):
    episode = rig.begin()
    with monkeypatch.context() as broken:

        def full(*_):
            raise LedgerUnavailable("the disk is full")

        broken.setattr(rig.ledger, "save_checkpoint", full)
        attempt = rig.run(episode, "heat", "heater_a")
        rig.service.tick(rig.now)
        assert rig.service.book.state(episode).attempts[attempt.id].interaction is Interaction.DISPATCHED
        assert "the disk is full" in rig.service.book.fault
        assert rig.ledger.load_checkpoint(episode) is None
    rig.service.tick(rig.now)
    assert rig.service.book.fault == ""
    assert rig.ledger.load_checkpoint(episode).version == rig.service.book.state(episode).version


def test_decisions_save_no_checkpoint(rig, monkeypatch):
    """A whole state is written between goals, never while a planner waits for its answer."""
    monkeypatch.setattr(rig.ledger, "save_checkpoint", lambda *_: pytest.fail("within a decision"))
    monkeypatch.setattr(rig.service.book, "tidy", lambda: None)
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    assert rig.service.book.state(episode).version > 3 * books.CHECKPOINT_EVERY
