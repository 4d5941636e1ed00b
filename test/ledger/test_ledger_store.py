"""What every ledger promises, on every backend."""

from __future__ import annotations

import os
import threading

import msgspec
import pytest

from adf_ea_ros.ledger import sql
from adf_ea_ros.ledger.errors import (
    ConcurrentAppend,
    LedgerDamaged,
    LedgerTooNew,
    LedgerUnavailable,
    NotTheWriter,
)
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.record import (
    SYSTEM,
    Record,
    canonical,
    episode_root,
    extend,
    ledger_root,
    link_hash,
    recompute,
)
from adf_ea_ros.ledger.store import Ledger
from adf_ea_ros.ledger.system import WriterStarted


def items(*numbers):
    return [("Counted", canonical({"type": "Counted", "n": n})) for n in numbers]


@pytest.fixture
def writer(backend):
    ledger = backend.open()
    ledger.open_writer("a test")
    return ledger


def append(ledger, episode, expected, *numbers, time=7):
    return ledger.append(episode, expected, items(*numbers), time=time, generation=ledger.generation)


def test_satisfies_the_protocol(writer):
    ledger: Ledger = writer  # for mypy; at run time, that nothing is missing:
    assert all(hasattr(ledger, name) for name in vars(Ledger) if not name.startswith("_"))


def test_what_was_appended_is_read_back(backend, writer):
    written = append(writer, "e", 0, 1, 2) + append(writer, "e", 2, 3)
    assert [r.version for r in written] == [1, 2, 3]
    assert [r.payload for r in written] == [p for _, p in items(1, 2, 3)]
    for ledger in (writer, backend.open(read_only=True)):
        assert list(ledger.read("e")) == written
        assert list(ledger.read("e", after=2)) == written[2:]
        assert list(ledger.read("e", after=3)) == []
        assert ledger.head("e") == written[-1]
        assert [r for r in ledger.read_all() if r.episode != SYSTEM] == written


def test_what_was_never_appended_is_not_there(writer):
    assert list(writer.read("nothing")) == []
    assert list(writer.read("nothing", after=4)) == []
    assert writer.head("nothing") is None
    assert writer.load_checkpoint("nothing") is None


def test_chains_are_what_the_definition_says(writer):
    """Recomputed here from the definition, on what comes back."""
    root = bytes.fromhex(writer.id)
    append(writer, "a", 0, 1)
    append(writer, "b", 0, 2, 3)
    append(writer, "a", 1, 4)
    link, heads = ledger_root(root), {}
    for number, record in enumerate(writer.read_all(), 1):
        assert record.position == number
        assert record.previous == heads.get(record.episode, episode_root(root, record.episode))
        assert record.hash == recompute(record)
        link = link_hash(link, number, record.hash)
        assert record.link == link
        heads[record.episode] = record.hash
    assert number == 5


def test_any_change_of_any_field_changes_the_hash(writer):
    (record,) = append(writer, "e", 0, 1)
    others = {
        "episode": "f",
        "version": 2,
        "generation": 2,
        "time": 8,
        "kind": "Counter",
        "payload": b"{}",
        "previous": b"\0" * 32,
    }
    assert set(others) | {"hash", "position", "link"} == set(Record.__struct_fields__)
    for field, value in others.items():
        assert recompute(msgspec.structs.replace(record, **{field: value})) != record.hash


def test_moving_text_between_fields_changes_the_hash(writer):
    """The encoding is unambiguous: the same characters, cut elsewhere, are something else."""
    (record,) = append(writer, "e", 0, 1)
    one = msgspec.structs.replace(record, kind="ab", payload=b"c")
    two = msgspec.structs.replace(record, kind="a", payload=b"bc")
    assert recompute(one) != recompute(two)


@pytest.mark.parametrize(
    "payload", [b"{}", b"", b"\x00\xff not text", '{"ä":"\u2028"}'.encode(), b"x" * 100_000], ids=range(5)
)
def test_payloads_come_back_byte_for_byte(writer, payload):
    writer.append("épisode 1", 0, [("Kind", payload)], time=-5, generation=writer.generation)
    (record,) = writer.read("épisode 1")
    assert record.payload == payload
    assert type(record.payload) is bytes
    assert record.time == -5


@pytest.mark.parametrize("found", [0, 1, 3])
def test_append_at_another_version_is_refused_and_writes_nothing(writer, found):
    append(writer, "e", 0, 1, 2)
    before = list(writer.read_all())
    with pytest.raises(ConcurrentAppend) as refusal:
        append(writer, "e", found, 9)
    assert (refusal.value.episode, refusal.value.expected, refusal.value.found) == ("e", found, 2)
    assert list(writer.read_all()) == before
    append(writer, "e", 2, 3)


@pytest.mark.parametrize(
    ("episode", "what"),
    [
        ("", items(1)),
        ("a\0b", items(1)),
        ("x" * 201, items(1)),
        (SYSTEM, items(1)),
        ("e", []),
        ("e", [("", b"{}")]),
        ("e", [("K", "text")]),
    ],
)
def test_what_cannot_be_stored_is_refused(writer, episode, what):
    with pytest.raises(ValueError, match=r"."):
        writer.append(episode, 0, what, time=0, generation=writer.generation)
    assert writer.verify().ok
    append(writer, "e", 0, 1)


def test_a_time_that_fits_nowhere_is_refused_and_undone(writer):
    with pytest.raises(Exception, match=r"."):
        append(writer, "e", 0, 1, time=2**70)
    append(writer, "e", 0, 1)
    assert writer.verify().ok


def test_appending_needs_the_right_to_write(backend, writer):
    reader = backend.open(read_only=True)
    with pytest.raises(NotTheWriter):
        reader.append("e", 0, items(1), time=0, generation=1)
    with pytest.raises(LedgerUnavailable):
        reader.open_writer("a reader")
    other = backend.open()
    with pytest.raises(NotTheWriter):
        other.append("e", 0, items(1), time=0, generation=1)


def test_a_second_writer_is_refused_with_the_holders_name(backend, writer):
    with pytest.raises(NotTheWriter) as refusal:
        backend.open().open_writer("another test")
    holder = refusal.value.holder
    assert (holder.name, holder.pid, holder.host) == ("a test", os.getpid(), os.uname().nodename)
    for word in ("a test", str(os.getpid()), os.uname().nodename, holder.since):
        assert word in str(refusal.value)
    append(writer, "e", 0, 1)


def test_each_writer_gets_a_greater_generation_and_older_ones_are_void(backend):
    for expected in (1, 2, 3):
        ledger = backend.open()
        assert ledger.open_writer("a test") == expected
        for older in range(expected):
            with pytest.raises(NotTheWriter):
                ledger.append("e", expected - 1, items(1), time=0, generation=older)
        append(ledger, "e", expected - 1, 1)
        ledger.close()
    assert [r.generation for r in backend.open(read_only=True).read("e")] == [1, 2, 3]


def test_a_writer_that_was_superseded_behind_its_back_is_refused(backend, writer):
    """Even where the lock fails: the generation in the ledger decides."""
    append(writer, "e", 0, 1)
    backend.tamper("UPDATE lease SET generation = generation + 1, name = 'usurper'")
    with pytest.raises(NotTheWriter, match="usurper"):
        append(writer, "e", 1, 2)
    assert len(list(writer.read("e"))) == 1


def test_a_writer_overtaken_behind_its_back_looks_again(backend, writer):
    """It remembers where episodes stand. What another process added is still seen, and not written over."""
    append(writer, "e", 0, 1)
    append(writer, "f", 0, 1)
    head, last = list(writer.read_all())[-1], writer.head("e")
    (stranger,) = extend(
        items(7),
        episode="e",
        version=1,
        previous=last.hash,
        position=head.position,
        link=head.link,
        time=7,
        generation=1,
    )
    row = tuple(getattr(stranger, name) for name in Record.__struct_fields__)
    columns = ", ".join(Record.__struct_fields__)
    backend.tamper((f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row))
    with pytest.raises(ConcurrentAppend) as refusal:
        append(writer, "e", 1, 8)
    assert refusal.value.found == 2
    append(writer, "f", 1, 2)
    append(writer, "e", 2, 3)
    assert writer.verify().ok


def test_a_tail_cut_off_under_a_live_writer_stays_visible(backend, writer):
    """It does not grow over the wound."""
    append(writer, "e", 0, 1, 2, 3)
    backend.tamper("DELETE FROM event WHERE version = 3 AND episode = 'e'")
    append(writer, "e", 3, 4)
    result = backend.open(read_only=True).verify()
    assert {f.code for f in result.findings} == {"missing"}


def test_memory_of_heads_is_bounded(writer, monkeypatch):
    monkeypatch.setattr(sql, "REMEMBERED", 3)
    for name in ("a", "b", "c", "d", "e"):
        append(writer, name, 0, 1)
    assert len(writer._tips) == 3
    for name in ("a", "b", "c", "d", "e"):
        append(writer, name, 1, 2)
    assert writer.verify().ok


def test_starts_are_recorded_with_whom_they_took_over_from(backend):
    first = backend.open()
    first.open_writer("first")
    first.close()
    second = backend.open()
    second.open_writer("second")
    second._drop_lease()  # as if it had died: the lease is free, and nobody gave it back
    third = backend.open()
    third.open_writer("third")
    starts = [msgspec.json.decode(r.payload, type=WriterStarted) for r in third.read(SYSTEM)]
    assert [s.holder.name for s in starts] == ["first", "second", "third"]
    assert [s.took_over_from and s.took_over_from.name for s in starts] == [None, None, "second"]


def test_episodes_are_listed_in_order_without_the_ledgers_own(writer):
    for name in ("b", "a", "c/1", "Z", "ä"):
        append(writer, name, 0, 1)
    assert list(writer.episodes()) == ["Z", "a", "b", "c/1", "ä"]


def test_a_checkpoint_comes_back_and_the_next_replaces_it(backend, writer):
    append(writer, "e", 0, 1, 2, 3)
    writer.save_checkpoint("e", 2, b"two\0")
    writer.save_checkpoint("e", 3, b"three")
    for ledger in (writer, backend.open(read_only=True)):
        checkpoint = ledger.load_checkpoint("e")
        assert (checkpoint.version, checkpoint.state) == (3, b"three")
    append(writer, "e", 3, 4)
    assert [r.version for r in writer.read("e", after=3)] == [4]
    assert writer.verify().ok


def test_a_checkpoint_needs_a_record_and_the_right_to_write(backend, writer):
    append(writer, "e", 0, 1)
    with pytest.raises(ValueError, match="no version 2"):
        writer.save_checkpoint("e", 2, b"")
    with pytest.raises(NotTheWriter):
        backend.open().save_checkpoint("e", 1, b"")


def fold(checkpoint, records):
    return checkpoint.state == canonical(sum(msgspec.json.decode(r.payload)["n"] for r in records))


def test_replay_from_zero_equals_the_checkpoint_or_is_found(writer):
    append(writer, "e", 0, *range(1, 1200))
    writer.save_checkpoint("e", 1000, canonical(sum(range(1, 1001))))
    assert writer.verify(fold).ok
    writer.save_checkpoint("e", 1000, canonical(17))
    (finding,) = writer.verify(fold).findings
    assert (finding.code, finding.episode, finding.version) == ("checkpoint", "e", 1000)


def test_verification_counts_what_it_recomputed(writer):
    append(writer, "a", 0, *range(700))
    append(writer, "b", 0, 1)
    result = writer.verify()
    assert result.ok
    assert (result.records, result.episodes, result.position, result.archived) == (702, 2, 702, 0)
    assert result.link == next(writer.read_all(after=701)).link.hex()


def test_appending_from_several_threads_is_serialized(writer):
    def work(name):
        for n in range(20):
            append(writer, name, n, n)

    threads = [threading.Thread(target=work, args=(f"e{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert writer.verify().ok
    assert all(writer.head(f"e{i}").version == 20 for i in range(4))


def test_a_reader_sees_commits_of_a_live_writer(backend, writer):
    reader = backend.open(read_only=True)
    assert list(reader.episodes()) == []
    append(writer, "e", 0, 1)
    assert list(reader.episodes()) == ["e"]
    assert reader.verify().ok


def test_closing_twice_is_fine_and_a_closed_ledger_refuses(writer):
    writer.close()
    writer.close()
    with pytest.raises(NotTheWriter):
        writer.append("e", 0, items(1), time=0, generation=1)


def test_history_is_guarded_against_accidents(backend, writer):
    append(writer, "e", 0, 1)
    for statement in ("UPDATE event SET kind = 'x'", "DELETE FROM event"):
        with pytest.raises(Exception, match="append-only"):
            backend.tamper("DELETE FROM meta WHERE key = 'archiving'", statement)
    assert writer.verify().ok


def test_a_newer_schema_is_refused_for_reading_and_writing(backend, writer):
    writer.close()
    backend.tamper("UPDATE meta SET value = '99' WHERE key = 'schema'")
    for read_only in (True, False):
        with pytest.raises(LedgerTooNew, match="schema 99"):
            backend.open(read_only=read_only)


def test_opening_by_name(backend, writer):
    append(writer, "e", 0, 1)
    with open_ledger(backend.where, read_only=True) as ledger:
        assert ledger.id == writer.id
        assert list(ledger.episodes()) == ["e"]


def test_there_is_nothing_to_read_where_there_is_no_ledger(backend):
    with pytest.raises(LedgerUnavailable, match="there is no"):
        backend.open(read_only=True)


def test_a_condemned_ledger_takes_no_more(backend, writer):
    append(writer, "e", 0, 1, 2)
    backend.tamper(
        "UPDATE event SET payload = CAST('{}' AS {}) WHERE episode = 'e' AND version = 1".replace(
            "AS {}", "AS BLOB" if backend.kind == "sqlite" else "AS bytea"
        )
    )
    result = backend.open(read_only=True).verify()
    assert not result.ok
    writer.condemn(result)
    with pytest.raises(LedgerDamaged, match="e version 1"):
        append(writer, "e", 2, 3)
