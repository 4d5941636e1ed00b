"""SQLite's write-ahead log: its pages are moved beside the thread that commits, and close leaves none."""

from __future__ import annotations

import sqlite3

import pytest
from histories import fill

from adf_ea_ros.ledger import wal
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.testing.waiting import wait_until


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(wal, "EVERY", 20)
    with SqliteLedger(tmp_path / "ledger.sqlite") as ledger:
        ledger.open_writer("the writer")
        yield ledger


def in_database(ledger):
    """Bytes in the database itself, without the log."""
    return ledger.path.stat().st_size


def test_the_commits_of_the_writer_move_nothing_and_the_thread_does(ledger):
    before = in_database(ledger)
    fill(ledger, 1, 5)
    assert in_database(ledger) == before
    fill(ledger, 6, 200)
    wait_until(lambda: in_database(ledger) > before, 10.0, what="the log's pages to reach the database")
    assert ledger.verify().ok


def test_what_is_moved_is_what_was_written(ledger):
    fill(ledger, 1, 200)
    before = [(r.version, r.hash) for r in ledger.read("a")]
    ledger.close()
    assert not ledger.path.with_name(ledger.path.name + "-wal").exists()
    with SqliteLedger(ledger.path, read_only=True) as again:
        assert [(r.version, r.hash) for r in again.read("a")] == before


def test_few_commits_start_no_thread(ledger):
    fill(ledger, 1, 5)
    assert ledger._mover._thread is None


def test_a_move_that_fails_keeps_nobody_from_writing(ledger):
    moved = ledger._mover
    moved._connection.close()  # every move raises sqlite3.ProgrammingError from now on
    with pytest.raises(sqlite3.Error):
        moved._connection.execute("SELECT 1")
    fill(ledger, 1, 100)
    assert moved._thread.is_alive()
    assert ledger.verify().ok


def test_a_commit_does_it_where_the_thread_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr("adf_ea_ros.ledger.sqlite.AT_MOST", 50)
    with SqliteLedger(tmp_path / "ledger.sqlite") as ledger:
        ledger.open_writer("the writer")
        before = in_database(ledger)
        fill(ledger, 1, 100)
        assert in_database(ledger) > before


def test_reading_only_moves_nothing(ledger):
    with SqliteLedger(ledger.path, read_only=True) as reader:
        assert reader._mover is None
