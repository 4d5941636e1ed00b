"""Exports and archives: files that verify by themselves, and ledgers that stay whole without them."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest

from adf_ea_ros.ledger import archive
from adf_ea_ros.ledger.archive import archive_episodes, line, verify_file
from adf_ea_ros.ledger.errors import (
    ConcurrentAppend,
    EpisodeArchived,
    LedgerDamaged,
    LedgerUnavailable,
    NotTheWriter,
)
from adf_ea_ros.ledger.record import SYSTEM, canonical
from adf_ea_ros.ledger.salvage import Salvage


def append(ledger, episode, expected, number=1):
    items = [("Counted", canonical({"type": "Counted", "n": n})) for n in range(number)]
    return ledger.append(episode, expected, items, time=5, generation=ledger.generation)


@pytest.fixture
def writer(backend):
    ledger = backend.open()
    ledger.open_writer("a test")
    for version in range(3):
        for episode in ("old", "older", "live"):
            append(ledger, episode, version)
    ledger.save_checkpoint("old", 2, b"state")
    return ledger


def test_an_archived_episode_verifies_in_its_file_and_its_ledger_without_it(backend, writer, tmp_path):
    before = {name: list(writer.read(name)) for name in ("old", "older")}
    path = tmp_path / "2026.jsonl"
    archives = archive_episodes(writer, ["old", "older"], path, time=9)
    assert [(a.episode, a.version, a.file) for a in archives] == [
        ("old", 3, "2026.jsonl"),
        ("older", 3, "2026.jsonl"),
    ]
    for ledger in (writer, backend.open(read_only=True)):
        result = ledger.verify()
        assert result.ok
        assert (result.archived, result.records, result.episodes) == (6, 3 + 3, 1)
        assert list(ledger.episodes()) == ["live"]
        assert ledger.archives() == archives
        assert ledger.load_checkpoint("old") is None
        for reading in (
            lambda ledger=ledger: list(ledger.read("old")),
            lambda ledger=ledger: list(ledger.read("old", 2)),
        ):
            with pytest.raises(EpisodeArchived, match=r"2026\.jsonl"):
                reading()
        check = verify_file(path, ledger)
        assert check.ok
        assert (check.records, check.episodes, check.ledger) == (6, 2, ledger.id)
    assert verify_file(path).ok
    there = [entry.record() for entry in archive.read(path) if isinstance(entry, archive.Line)]
    assert there == before["old"] + before["older"]


def test_life_goes_on_after_archiving(backend, writer, tmp_path):
    archive_episodes(writer, ["old"], tmp_path / "file", time=9)
    append(writer, "live", 3)
    for expected in (0, 3):
        with pytest.raises((EpisodeArchived, ConcurrentAppend)):
            append(writer, "old", expected)
    archive_episodes(writer, ["older"], tmp_path / "file 2", time=10)
    writer.close()
    with backend.open() as ledger:
        ledger.open_writer("another test", audit=None)
        append(ledger, "live", 4)
        assert ledger.verify().ok
        assert [r.kind for r in ledger.read(SYSTEM)].count("EpisodesArchived") == 2
    assert verify_file(tmp_path / "file 2", backend.open(read_only=True)).ok


def test_what_cannot_be_archived_stays(backend, writer, tmp_path):
    whole = list(writer.read_all())
    (tmp_path / "there").write_text("something")
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        archive_episodes(writer, ["old"], tmp_path / "there", time=9)
    assert (tmp_path / "there").read_text() == "something"
    with pytest.raises(LedgerUnavailable):
        archive_episodes(writer, ["old"], tmp_path / "no such directory" / "file", time=9)
    with pytest.raises(ValueError, match="no episode 'none'"):
        archive_episodes(writer, ["none"], tmp_path / "file", time=9)
    with pytest.raises(NotTheWriter):
        archive_episodes(backend.open(read_only=True), ["old"], tmp_path / "file 2", time=9)
    assert list(writer.read_all()) == whole


def test_an_episode_that_goes_on_meanwhile_is_not_archived(writer, tmp_path, monkeypatch):
    retire = writer.retire

    def late(*args, **options):
        append(writer, "old", 3)
        retire(*args, **options)

    monkeypatch.setattr(writer, "retire", late)
    with pytest.raises(ConcurrentAppend):
        archive_episodes(writer, ["older", "old"], tmp_path / "file", time=9)
    assert list(writer.episodes()) == ["live", "old", "older"]
    assert writer.verify().ok


def test_a_damaged_episode_is_not_archived(backend, writer, tmp_path):
    backend.tamper("UPDATE event SET kind = 'x' WHERE episode = 'old' AND version = 2")
    with pytest.raises(LedgerDamaged, match="old version 2"):
        archive_episodes(writer, ["old"], tmp_path / "file", time=9)
    assert not (tmp_path / "file").exists()


def change(path, edit):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(edit(lines)))


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda lines: [text.replace('"n":0', '"n":1') for text in lines], "edited"),
        (lambda lines: [*lines[:2], *lines[3:]], "missing"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "missing"),
        (lambda lines: lines[:-1], "missing"),
        (lambda lines: [*lines[:-1], lines[-1].replace('"records":3', '"records":2')], "edited"),
        (lambda lines: [*lines, lines[1]], "edited"),
        (lambda lines: [*lines[:2], "nonsense\n", *lines[2:]], "unreadable"),
        (lambda lines: [*lines[:2], lines[2][:40]], "unreadable"),
        (lambda lines: [], "missing"),
    ],
    ids=["edited", "removed", "reordered", "cut", "count", "added", "nonsense", "torn", "empty"],
)
def test_a_changed_archive_is_found(writer, tmp_path, edit, code):
    path = tmp_path / "file"
    archive_episodes(writer, ["old"], path, time=9)
    change(path, edit)
    assert code in {f.code for f in verify_file(path).findings}


def test_an_archive_of_another_ledger_is_found(writer, tmp_path):
    from adf_ea_ros.ledger.sqlite import SqliteLedger

    path = tmp_path / "file"
    archive_episodes(writer, ["old"], path, time=9)
    with SqliteLedger(tmp_path / "other.sqlite") as other:
        other.open_writer("a test")
        assert "other_ledger" in {f.code for f in verify_file(path, other).findings}
    text = path.read_text()
    (tmp_path / "copy").write_text(text.replace(writer.id, "0" * 32))
    assert not verify_file(tmp_path / "copy").ok


def test_an_archive_written_anew_is_found_by_its_ledger(writer, tmp_path):
    """A file can be made to fit itself; the ledger still knows how the episode ended."""
    path = tmp_path / "file"
    archive_episodes(writer, ["old"], path, time=9)
    lines = [entry for entry in archive.read(path) if isinstance(entry, archive.Line)]
    with path.open("wb") as stream:
        archive.write(stream, writer.id, lines[:2])
    assert verify_file(path).ok
    assert {f.code for f in verify_file(path, writer).findings} == {"edited"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE archive SET version = 2",
        "UPDATE archive SET file = 'elsewhere'",
        "UPDATE archive SET position = 2",
        "UPDATE stub SET position = position + 100",
        "DELETE FROM stub",
    ],
)
def test_tampering_with_what_archiving_leaves_is_found(backend, writer, tmp_path, statement):
    archive_episodes(writer, ["old"], tmp_path / "file", time=9)
    writer.close()
    backend.tamper(statement)
    assert not backend.open(read_only=True).verify().ok


def test_payloads_that_are_no_json_survive_an_export(writer):
    payloads = [b"\xff\x00", b"[1,\n2]", b"", b" {}", b"{}"]
    items = [("Opaque", payload) for payload in payloads]
    writer.append("odd", 0, items, time=0, generation=writer.generation)
    stream = io.BytesIO()
    archive.write(stream, writer.id, map(line, writer.read("odd")))
    for text in stream.getvalue().splitlines():
        json.loads(text)  # every line is JSON for any reader
    decoder = archive.msgspec.json.Decoder(archive.Header | archive.Line | archive.Trailer)
    lines = [decoder.decode(text) for text in stream.getvalue().splitlines()]
    assert [entry.record() for entry in lines[1:-1]] == list(writer.read("odd"))


def test_what_is_sound_is_told_from_what_is_behind_a_fault(backend, writer):
    backend.tamper("UPDATE event SET kind = 'x' WHERE episode = 'old' AND version = 2")
    salvage = Salvage(backend.open(read_only=True))
    sound = [(r.episode, r.version, behind) for r, behind in salvage.records() if r.episode != SYSTEM]
    assert ("old", 1, False) in sound
    assert ("old", 3, True) in sound
    assert all(not behind for episode, _, behind in sound if episode != "old")
    assert (salvage.sound, salvage.lost) == (10, 1)


def test_salvage_of_a_ledger_with_archives_misses_nothing(backend, writer, tmp_path):
    archive_episodes(writer, ["old"], tmp_path / "file", time=9)
    salvage = Salvage(backend.open(read_only=True))
    list(salvage.records())
    assert (salvage.sound, salvage.lost) == (6 + 3, 0)  # older, live; start, checkpoint, archive


def test_reading_verifying_and_archiving_keep_memory_flat(writer, tmp_path):
    """Five thousand records are about five megabytes here; none of these may hold them."""
    pad = "x" * 400
    for start in range(0, 5_000, 1000):
        items = [("Padded", canonical({"n": n, "pad": pad})) for n in range(1000)]
        writer.append("long", start, items, time=0, generation=writer.generation)

    def peak(work):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    limit = 1_500_000
    assert peak(lambda: list(writer.read("long"))) > 2 * limit  # so the measure can tell
    assert peak(lambda: sum(1 for _ in writer.read("long"))) < limit
    assert peak(writer.verify) < limit
    assert peak(lambda: archive_episodes(writer, ["long"], tmp_path / "file", time=9)) < limit
