"""Ledgers of other schema versions: older ones are brought up to date, half-made ones do not exist."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from processes import in_doomed_process

from adf_ea_ros.ledger import schema
from adf_ea_ros.ledger.errors import LedgerUnavailable, NotTheWriter
from adf_ea_ros.ledger.sqlite import SqliteLedger

ITEM = [("Kind", b"{}")]


@pytest.fixture
def older(backend):
    """A ledger with history, as this version makes them."""
    with backend.open() as ledger:
        ledger.append("e", 0, ITEM, time=0, generation=ledger.open_writer("a test"))
    return backend


@pytest.fixture
def future(monkeypatch):
    """The next version of the program: it adds a column."""
    monkeypatch.setattr(schema, "VERSION", 2)
    add = "ALTER TABLE archive ADD COLUMN note {}"
    monkeypatch.setitem(schema.SQLITE, 2, lambda db: db.execute(add.format("TEXT")))
    monkeypatch.setitem(schema.POSTGRES, 2, add.format("text"))


def notes(ledger):
    return ledger.query("SELECT COUNT(note) FROM archive")[0][0]


def test_an_older_ledger_is_brought_up_to_date_when_opened_for_writing(older, future):
    with pytest.raises(LedgerUnavailable, match="Open it for writing once"):
        older.open(read_only=True)
    with older.open() as ledger:
        assert notes(ledger) == 0
        ledger.append("e", 1, ITEM, time=0, generation=ledger.open_writer("a test"))
        assert ledger.verify().ok
    with older.open(read_only=True) as ledger:
        assert len(list(ledger.read("e"))) == 2


def test_two_may_do_it_at_once(older, future):
    older.open()
    with older.open() as ledger:
        assert notes(ledger) == 0


def test_not_while_an_older_program_writes(backend, monkeypatch):
    writer = backend.open()
    writer.open_writer("an older program")
    monkeypatch.setattr(schema, "VERSION", 2)
    monkeypatch.setitem(schema.SQLITE, 2, lambda db: db.execute("ALTER TABLE archive ADD COLUMN note TEXT"))
    monkeypatch.setitem(schema.POSTGRES, 2, "ALTER TABLE archive ADD COLUMN note text")
    with pytest.raises(NotTheWriter, match="an older program"):
        backend.open()
    monkeypatch.setattr(schema, "VERSION", 1)
    writer.append("e", 0, ITEM, time=0, generation=1)
    assert writer.verify().ok


def test_a_step_that_fails_changes_nothing(older, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 2)
    monkeypatch.setitem(schema.POSTGRES, 2, "ALTER TABLE archive ADD COLUMN note text; SELECT nonsense")

    def fails(database):
        database.execute("ALTER TABLE archive ADD COLUMN note TEXT")
        database.execute("SELECT nonsense")

    monkeypatch.setitem(schema.SQLITE, 2, fails)
    with pytest.raises(LedgerUnavailable, match="nonsense"):
        older.open()
    monkeypatch.setattr(schema, "VERSION", 1)
    with older.open() as ledger:
        assert ledger.verify().ok
        with pytest.raises(LedgerUnavailable, match="note"):
            notes(ledger)


@pytest.mark.parametrize("after", range(12))
def test_a_process_killed_while_it_makes_a_ledger_leaves_none(tmp_path, after):
    """At each statement of the making: the next process begins anew, or finds it whole."""
    path = tmp_path / "ledger.sqlite"

    def work():
        real = schema.SQLITE[1]

        def cut_short(database):
            count = 0

            def trace(_):
                nonlocal count
                count += 1
                if count > after * 2:
                    import os
                    import signal

                    os.kill(os.getpid(), signal.SIGKILL)

            database.conn.set_trace_callback(trace)
            real(database)
            database.conn.set_trace_callback(None)

        schema.SQLITE[1] = cut_short
        SqliteLedger(path)

    in_doomed_process(work)
    with SqliteLedger(path) as ledger:
        ledger.append("e", 0, ITEM, time=0, generation=ledger.open_writer("a test"))
        assert ledger.verify().ok


def test_people_can_read_the_history_in_a_database_shell(sqlite_backend):
    with sqlite_backend.open() as ledger:
        generation = ledger.open_writer("a test")
        ledger.append("e", 0, [("Kind", b'{"n":1}')], time=1_700_000_000_000_000_000, generation=generation)
    with closing(sqlite3.connect(sqlite_backend.path)) as connection:
        row = connection.execute(
            "SELECT version, time, kind, json_extract(payload, '$.n') FROM history WHERE episode = 'e'"
        ).fetchone()
    assert row == (1, "2023-11-14 22:13:20", "Kind", 1)
