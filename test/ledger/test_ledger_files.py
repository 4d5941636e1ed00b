"""What is done to the files of a ledger: copies, marks, other files, damaged pages."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import msgspec
import pytest
from histories import event, fill, found, put, refused, row, unreadable
from processes import in_doomed_process

from adf_ea_ros.ledger.errors import LedgerDamaged, LedgerUnavailable
from adf_ea_ros.ledger.record import (
    SYSTEM,
    Record,
    recompute,
)
from adf_ea_ros.ledger.salvage import Salvage, explain_file
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.ledger.system import LedgerAccepted


def copy_of(backend):
    copy = backend.path.with_name("copy")
    shutil.copy(backend.path, copy)
    return copy


def put_back(backend, copy):
    for suffix in ("-wal", "-shm"):
        backend.path.with_name(backend.path.name + suffix).unlink(missing_ok=True)
    shutil.copy(copy, backend.path)


@pytest.fixture
def file_history(sqlite_backend):
    ledger = sqlite_backend.open()
    ledger.open_writer("the writer")
    fill(ledger, 1, 12)
    ledger.close()
    return sqlite_backend


def test_older_copy_put_back(file_history):
    copy = copy_of(file_history)
    with file_history.open() as ledger:
        ledger.open_writer("a successor")
        fill(ledger, 13, 13)
    put_back(file_history, copy)
    assert found(file_history) == {("behind_mark", "", 0)}
    (finding,) = refused(file_history)
    assert "an older copy was put in its place" in finding.meaning


def test_older_copy_put_back_after_the_death_of_the_writer(file_history):
    """The log that was not yet in the file is lost as well."""
    copy = copy_of(file_history)

    def write():
        ledger = SqliteLedger(file_history.path)
        ledger.open_writer("a successor")
        fill(ledger, 13, 13)

    in_doomed_process(write)
    assert file_history.path.with_name("ledger.sqlite-wal").stat().st_size > 0
    put_back(file_history, copy)
    refused(file_history)


def test_older_copy_together_with_its_mark_is_found_only_by_a_mark_elsewhere(file_history, tmp_path):
    """The honest limit of a mark that stands beside the ledger, and what helps."""
    elsewhere = tmp_path / "elsewhere" / "mark"
    with file_history.open(mark=elsewhere) as ledger:
        ledger.accept("the test", "a mark on another disk")
    copy, old_mark = copy_of(file_history), file_history.mark.read_bytes()
    with file_history.open(mark=elsewhere) as ledger:
        ledger.open_writer("a successor")
        head = fill(ledger, 13, 13) or ledger.verify()
    put_back(file_history, copy)
    file_history.mark.write_bytes(old_mark)
    with file_history.open(read_only=True) as ledger:
        result = ledger.verify()
        assert result.ok
        assert (result.position, result.link) != (head.position, head.link)  # so write the head down
    with file_history.open(mark=elsewhere, read_only=True) as ledger:
        assert [f.code for f in ledger.verify().findings] == ["behind_mark"]


def test_another_ledger_put_in_place(file_history, tmp_path):
    other = SqliteLedger(tmp_path / "other.sqlite")
    other.open_writer("the writer")
    fill(other, 1, 12)
    other.close()
    put_back(file_history, tmp_path / "other.sqlite")
    assert found(file_history) == {("other_ledger", "", 0)}
    refused(file_history)


def test_a_row_of_another_ledger(file_history, tmp_path):
    """Same names, same content, same place, and yet not of this ledger."""
    other = SqliteLedger(tmp_path / "other.sqlite")
    other.open_writer("the writer")
    fill(other, 1, 12)
    stranger = next(r for r in other.read("a") if r.version == 5)
    other.close()
    file_history.tamper(put(stranger, row(file_history, "a", 5)))
    assert ("foreign", "a", 5) in found(file_history) or ("moved", "a", 5) in found(file_history)
    refused(file_history)
    unreadable(file_history, "a", 5)


def test_missing_file(file_history):
    file_history.path.unlink()
    with pytest.raises(LedgerDamaged, match="missing, but its mark has seen 25 records"):
        file_history.open()
    assert not file_history.path.exists()


def test_missing_mark(file_history):
    file_history.mark.unlink()
    assert found(file_history) == {("no_mark", "", 0)}
    refused(file_history)


@pytest.mark.parametrize("text", [b"", b"nonsense", b"\0" * 256])
def test_unreadable_mark(file_history, text):
    file_history.mark.write_bytes(text)
    assert found(file_history) == {("mark_unreadable", "", 0)}
    refused(file_history)


def test_edited_mark(file_history):
    text = file_history.mark.read_bytes()
    assert b'"position":25' in text
    file_history.mark.write_bytes(text.replace(b'"position":25', b'"position":21'))
    assert found(file_history) == {("mark_unreadable", "", 0)}


def test_a_person_can_accept_what_is_left_and_it_is_on_record(file_history):
    copy = copy_of(file_history)
    with file_history.open() as ledger:
        ledger.open_writer("a successor")
        fill(ledger, 13, 13)
    put_back(file_history, copy)
    with file_history.open() as ledger:
        generation = ledger.accept("Ada", "restored from Sunday's backup")
        assert ledger.verify().ok
        ledger.append("a", 12, [event("a", 13)], time=13, generation=generation)
        records = [r for r in ledger.read(SYSTEM) if r.kind == "LedgerAccepted"]
    accepted = msgspec.json.decode(records[0].payload, type=LedgerAccepted)
    assert (accepted.by, accepted.reason) == ("Ada", "restored from Sunday's backup")
    assert "mark has seen record 28" in accepted.lost[0]
    with file_history.open() as ledger:
        ledger.open_writer("the next")


def test_nobody_can_accept_an_edited_row(file_history):
    file_history.tamper("UPDATE event SET kind = 'Settled' WHERE episode = 'a' AND version = 5")
    file_history.mark.unlink()
    with file_history.open() as ledger, pytest.raises(LedgerDamaged, match="a version 5"):
        ledger.accept("Ada", "it is fine")


def test_a_file_that_is_no_ledger(tmp_path):
    for name, content in (("text", b"hello, this is no database at all" * 10), ("short", b"SQL")):
        path = tmp_path / name
        path.write_bytes(content)
        for read_only in (True, False):
            with pytest.raises((LedgerDamaged, LedgerUnavailable), match=name):
                SqliteLedger(path, read_only=read_only)
        assert path.read_bytes() == content


def test_a_database_of_another_application(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")
        connection.execute("CREATE TABLE t (x)")
    before = path.read_bytes()
    with pytest.raises(LedgerDamaged, match="another application"):
        SqliteLedger(path)
    assert path.read_bytes() == before


def corrupt(path, page_of):
    """Overwrite the page of the table's tree that ``page_of`` chooses; the page size is SQLite's default."""
    with closing(sqlite3.connect(path)) as connection:
        pages = [
            number
            for (number,) in connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY pageno"
            )
        ]
    with path.open("r+b") as file:
        file.seek((page_of(pages) - 1) * 4096)
        file.write(b"\xa5" * 4096)


def has_dbstat():
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("SELECT * FROM dbstat")
    except sqlite3.OperationalError:
        return False
    return True


@pytest.mark.skipif(
    not has_dbstat(), reason="this SQLite was built without its dbstat table, which finds the page"
)
def test_a_damaged_page_is_named_and_what_is_sound_is_saved(sqlite_backend):
    ledger = sqlite_backend.open()
    ledger.open_writer("the writer")
    fill(ledger, 1, 400)
    ledger.close()
    corrupt(sqlite_backend.path, lambda pages: pages[len(pages) // 2])
    with sqlite_backend.open(read_only=True) as damaged:
        result = damaged.verify()
        assert "unreadable" in {f.code for f in result.findings}
        salvage = Salvage(damaged)
        records = list(salvage.records())
    assert explain_file(sqlite_backend.path)
    assert salvage.lost > 0
    assert salvage.sound + salvage.lost == 801
    assert salvage.sound > 700
    for record, _ in records:
        assert isinstance(record, Record)
        assert recompute(record) == record.hash
    first_fault = {
        e: min(r.version for r, behind in records if behind and r.episode == e) for e in ("a", "b")
    }
    for record, behind in records:
        if record.episode in first_fault:
            assert behind == (record.version >= first_fault[record.episode])
    with pytest.raises(LedgerDamaged):
        sqlite_backend.open().open_writer("a successor")
