"""What is older than a start looks is looked through beside the writer, which then writes no more."""

import pytest
from histories import fill

from adf_ea_ros.ledger.errors import LedgerDamaged
from adf_ea_ros.ledger.inspector import Inspector
from adf_ea_ros.testing.waiting import wait_until


def inspected(where, mark=None):
    inspector = Inspector(where, mark)
    result = wait_until(lambda: inspector.poll() or not inspector.running, 60)
    return inspector, result


def test_a_whole_ledger(backend):
    with backend.open() as ledger:
        ledger.open_writer("the writer")
        fill(ledger, 1, 12)
        inspector, result = inspected(backend.where, backend.mark)
        assert result.ok, result
        assert result.position == ledger.head("a").position + 1 == 25
        assert not inspector.running


def test_an_old_record_that_a_start_did_not_look_at(backend):
    with backend.open() as ledger:
        ledger.open_writer("the writer")
        fill(ledger, 1, 12)
    backend.tamper("UPDATE event SET kind = 'Settled' WHERE episode = 'a' AND version = 2")
    with backend.open() as ledger:
        ledger.open_writer("a successor", audit=4)
        _, result = inspected(backend.where, backend.mark)
        assert [(f.code, f.episode, f.version) for f in result.findings] == [("edited", "a", 2)]
        fill(ledger, 13, 13)  # the writer cannot know yet
        ledger.condemn(result)
        with pytest.raises(LedgerDamaged, match="a version 2"):
            fill(ledger, 14, 14)


def test_no_ledger(tmp_path):
    inspector, _ = inspected(str(tmp_path / "nothing.db"))
    assert "nothing.db" in inspector.fault


def test_given_up():
    inspector = Inspector("/dev/null/no")
    inspector.close()
    assert not inspector.running
    assert inspector.poll() is None
