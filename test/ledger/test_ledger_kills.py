"""The short form of ``kills.py``: random SIGKILLs lose nothing that was acknowledged."""

from __future__ import annotations

from collections import Counter

import pytest
from backends import SqliteBackend
from kills import inspect, postgres_ledgers, run, sqlite_ledgers

from adf_ea_ros.ledger.sqlite import SqliteLedger

RUNS = 30
LOST = ("does not open", "unsound", "acknowledged and missing")


def test_sqlite(tmp_path):
    result = run(RUNS, 1, sqlite_ledgers(tmp_path))
    assert [result[name] for name in LOST] == [0, 0, 0]
    assert result["acknowledged"] > RUNS


@pytest.mark.postgres
def test_postgres(tmp_path, postgres_server):
    result = run(RUNS, 2, postgres_ledgers(tmp_path, postgres_server.conninfo, "kills"))
    assert [result[name] for name in LOST] == [0, 0, 0]
    assert result["acknowledged"] > RUNS


@pytest.fixture
def ledger(tmp_path):
    with SqliteLedger(tmp_path / "0.sqlite") as ledger:
        generation = ledger.open_writer("a test")
        ledger.append("episode 0", 0, [("Counted", b"{}")] * 2, time=0, generation=generation)
        yield ledger


@pytest.mark.parametrize(
    ("version", "change", "name"),
    [
        (2, "", ""),
        (3, "", "acknowledged and missing"),
        (1, "UPDATE event SET kind = 'x' WHERE version = 1", "does not open"),
        (1, "UPDATE lease SET generation = 7", "unsound"),
    ],
)
def test_the_check_would_notice(ledger, tmp_path, version, change, name):
    """The same inspection on a ledger with something wrong."""
    record = ledger.head("episode 0")
    ledger.close()
    if change:
        SqliteBackend(tmp_path, "0.sqlite").tamper(change)
    faults = Counter()
    acknowledged = {(0, version): record.hash} if version > 1 else {}
    inspect(lambda: SqliteLedger(tmp_path / "0.sqlite"), acknowledged, faults)
    assert {key for key, count in faults.items() if count} >= ({name} - {""})
    assert bool(+faults) == bool(name)
