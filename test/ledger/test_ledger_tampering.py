"""Whatever is done to a ledger behind its back is found and named, and nothing is granted on it.

Each case is done to the same history: two episodes of twelve records that interleave, of two keys each.
"Nothing is granted" means: no process becomes the writer, and the process that is the writer appends nothing
more once it has met the damage.
"""

from __future__ import annotations

import msgspec
import pytest
from histories import event, fill, found, put, refused, row, unreadable

from adf_ea_ros.ledger.errors import LedgerDamaged
from adf_ea_ros.ledger.record import (
    canonical,
    ledger_root,
    link_hash,
    recompute,
    record_hash,
)


@pytest.fixture
def history(backend):
    """Position 1 is the writer's start; a version n stands at 2n, b version n at 2n + 1."""
    ledger = backend.open()
    ledger.open_writer("the writer")
    fill(ledger, 1, 12)
    ledger.save_checkpoint("a", 10, b"state")
    ledger.close()
    return backend


def test_the_untouched_history_is_whole(history):
    with history.open() as ledger:
        assert ledger.open_writer("a successor") == 2
        assert ledger.verify().ok
        fill(ledger, 13, 13)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("payload", b'{"key":"a/heat","n":5,"type":"Settled"}'),
        ("kind", "Settled"),
        ("time", 99),
        ("generation", 7),
        ("previous", b"\1" * 32),
        ("hash", b"\1" * 32),
    ],
)
def test_edited_row(history, column, value):
    history.tamper((f"UPDATE event SET {column} = ? WHERE episode = 'a' AND version = 5", (value,)))
    assert ("edited", "a", 5) in found(history)
    assert ("edited", "a", 5) in {(f.code, f.episode, f.version) for f in refused(history)}
    unreadable(history, "a", 5)


def test_edited_row_under_a_live_writer_stops_it(history):
    with history.open() as ledger:
        ledger.open_writer("a successor")
        history.tamper("UPDATE event SET kind = 'Settled' WHERE episode = 'a' AND version = 5")
        with pytest.raises(LedgerDamaged, match="a version 5"):
            list(ledger.read("a"))
        with pytest.raises(LedgerDamaged, match="a version 5"):
            fill(ledger, 13, 13)


def test_edited_row_with_its_own_hash_made_anew(history):
    record = msgspec.structs.replace(row(history, "a", 5), kind="Settled")
    history.tamper(
        (
            "UPDATE event SET kind = 'Settled', hash = ? WHERE episode = 'a' AND version = 5",
            (recompute(record),),
        )
    )
    assert {("moved", "a", 5), ("foreign", "a", 6)} <= found(history)
    refused(history)
    unreadable(history, "a", 6)


def test_edited_link(history):
    history.tamper(("UPDATE event SET link = ? WHERE episode = 'b' AND version = 3", (b"\2" * 32,)))
    assert ("moved", "b", 3) in found(history)
    refused(history)


def test_removed_row(history):
    history.tamper("DELETE FROM event WHERE episode = 'a' AND version = 5")
    codes = found(history)
    assert ("missing", "a", 6) in codes
    assert ("missing", "", 0) in codes
    assert "record 10 is missing" in str(refused(history)[0])
    unreadable(history, "a", 5)


def test_removed_episode(history):
    history.tamper("DELETE FROM event WHERE episode = 'b'")
    assert ("missing", "", 0) in found(history)
    assert len([f for f in refused(history) if f.code == "missing"]) == 12


def test_removed_rows_closed_up_to_leave_no_gap(history):
    """The last of an episode taken out, and everything behind moved up."""
    history.tamper(
        "DELETE FROM event WHERE episode = 'a' AND version = 12",
        "UPDATE event SET position = position - 1 WHERE position = 25",
        "UPDATE event SET position = position - 1 WHERE position = 26",
    )
    assert {("moved", "b", 12), ("behind_mark", "", 0)} <= found(history)
    refused(history)


def test_cut_tail(history):
    history.tamper("DELETE FROM event WHERE position > 21")
    assert ("behind_mark", "", 0) in found(history)
    (finding,) = refused(history)
    assert "ends at record 21" in finding.meaning
    assert "mark has seen record 26" in finding.meaning


def test_cut_last_row_only(history):
    history.tamper("DELETE FROM event WHERE position = 26", "DELETE FROM checkpoint")
    assert found(history) == {("behind_mark", "", 0)}
    refused(history)


def test_reordered_versions(history):
    """Two records of one episode change places, with everything but their place."""
    one, two = row(history, "a", 4), row(history, "a", 7)
    history.tamper(*(put(here, there) for here, there in ((one, two), (two, one))))
    codes = found(history)
    assert {("reordered", "a", 4), ("reordered", "a", 7)} <= codes
    refused(history)
    unreadable(history, "a", 4)


def test_reordered_positions(history):
    """Two neighbours in the ledger change places, each whole in its own episode."""
    history.tamper(
        "UPDATE event SET position = 1000 WHERE position = 10",
        "UPDATE event SET position = 10 WHERE position = 11",
        "UPDATE event SET position = 11 WHERE position = 1000",
    )
    assert {("moved", "a", 5), ("moved", "b", 5)} <= found(history)
    refused(history)


def test_another_keys_row(history):
    """A record of the key 'measure' copied over one of the key 'heat'."""
    history.tamper(put(row(history, "a", 6), row(history, "a", 5)))
    assert ("copied", "a", 5) in found(history)
    assert "a copy of a version 6" in refused(history)[0].meaning
    unreadable(history, "a", 5)


def test_another_keys_payload(history):
    other = row(history, "a", 6)
    history.tamper(("UPDATE event SET payload = ? WHERE episode = 'a' AND version = 5", (other.payload,)))
    assert ("edited", "a", 5) in found(history)
    refused(history)
    unreadable(history, "a", 5)


def test_another_episodes_row(history):
    history.tamper(put(row(history, "b", 5), row(history, "a", 5)))
    assert ("copied", "a", 5) in found(history)
    assert "a copy of b version 5" in refused(history)[0].meaning
    unreadable(history, "a", 5)


def test_another_episodes_row_renamed(history):
    """A record of another episode in the place, with hash and links made to fit its new name."""
    old, other = row(history, "a", 5), row(history, "b", 5)
    value = record_hash(
        old.previous,
        "a",
        5,
        generation=other.generation,
        time=other.time,
        kind=other.kind,
        payload=other.payload,
    )
    history.tamper(put(msgspec.structs.replace(other, previous=old.previous, hash=value, link=old.link), old))
    assert {("moved", "a", 5), ("foreign", "a", 6)} <= found(history)
    refused(history)


def test_inserted_row(history):
    """An invented record at the end of an episode, hashed and linked as the ledger would."""
    last = row(history, "a", 12)
    payload = canonical({"type": "Settled"})
    value = record_hash(last.hash, "a", 13, generation=1, time=13, kind="Settled", payload=payload)
    insert = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    history.tamper(
        (insert, (27, "a", 13, 1, 13, "Settled", payload, last.hash, value, link_hash(last.link, 27, value)))
    )
    assert found(history) == {("moved", "a", 13)}
    refused(history)


def test_inserted_row_that_knows_the_chains_is_not_found(history):
    """The honest limit: the hashes hold no secret. Who can write the ledger can add to it."""
    with history.open(read_only=True) as ledger:
        (head,) = ledger.read_all(after=25)
    last = row(history, "a", 12)
    payload = canonical({"type": "Settled"})
    value = record_hash(last.hash, "a", 13, generation=1, time=13, kind="Settled", payload=payload)
    insert = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    history.tamper(
        (insert, (27, "a", 13, 1, 13, "Settled", payload, last.hash, value, link_hash(head.link, 27, value)))
    )
    with history.open(read_only=True) as ledger:
        assert ledger.verify().ok


def test_history_written_anew_with_new_hashes(history):
    """One record changed and every hash and link behind it recomputed: only the mark can show it."""
    with history.open(read_only=True) as ledger:
        root = bytes.fromhex(ledger.id)
        records = list(ledger.read_all())
    statements, heads, link = ["DELETE FROM checkpoint"], {}, ledger_root(root)
    for old in records:
        kind = "Settled" if (old.episode, old.version) == ("a", 5) else old.kind
        new = msgspec.structs.replace(old, kind=kind, previous=heads.get(old.episode, old.previous))
        value = recompute(new)
        link = link_hash(link, old.position, value)
        heads[old.episode] = value
        statements.append(put(msgspec.structs.replace(new, hash=value, link=link), old))
    history.tamper(*statements)
    assert found(history) == {("rewritten", "", 0)}
    refused(history)


def test_older_generation_wrote_after_a_newer_one(backend):
    ledger = backend.open()
    ledger.open_writer("first")
    ledger.append("a", 0, [event("a", 1)], time=1, generation=1)
    ledger.close()
    ledger = backend.open()
    ledger.open_writer("second")
    ledger.append("a", 1, [event("a", 2)], time=2, generation=2)
    backend.tamper("UPDATE lease SET generation = 1")
    ledger._generation = 1
    ledger.append("a", 2, [event("a", 3)], time=3, generation=1)
    ledger.close()
    assert {("generation", "a", 3), ("lease", "", 0)} <= found(backend)
    refused(backend)


def test_edited_lease(history):
    history.tamper("UPDATE lease SET generation = 9")
    assert ("lease", "", 0) in found(history)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE checkpoint SET state = ?",
        "UPDATE checkpoint SET hash = ?",
        ("UPDATE checkpoint SET version = 11", ()),
        ("UPDATE checkpoint SET position = 4", ()),
        ("UPDATE checkpoint SET position = 400", ()),
    ],
    ids=["state", "hash", "version", "voucher", "no voucher"],
)
def test_edited_checkpoint_is_not_loaded(history, change):
    history.tamper((change, (b"other",)) if isinstance(change, str) else change)
    with history.open(read_only=True) as ledger:
        with pytest.raises(LedgerDamaged, match="checkpoint"):
            ledger.load_checkpoint("a")
        assert len(list(ledger.read("a"))) == 12  # the fold from the beginning is still there
    assert any(code == "checkpoint" and episode == "a" for code, episode, _ in found(history))


def test_checkpoint_of_another_episode(history):
    with history.open() as ledger:
        ledger.open_writer("a successor")
        ledger.save_checkpoint("b", 10, b"state of b")
    history.tamper(
        "UPDATE checkpoint SET episode = 'c' WHERE episode = 'a'",
        "UPDATE checkpoint SET episode = 'a' WHERE episode = 'b'",
    )
    with history.open(read_only=True) as ledger, pytest.raises(LedgerDamaged, match="checkpoint"):
        ledger.load_checkpoint("a")
    found(history)


def test_every_single_byte_of_a_payload_counts(history):
    record = row(history, "b", 8)
    for index in range(len(record.payload)):
        payload = bytearray(record.payload)
        payload[index] ^= 1
        changed = msgspec.structs.replace(record, payload=bytes(payload))
        assert recompute(changed) != record.hash
    assert recompute(record) == record.hash
