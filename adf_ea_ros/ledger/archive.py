"""Records in a file of JSON lines: exports, and archives that verify by themselves.

The first line says which ledger the records are from, the last how many there are and the SHA-256 of all
lines before it. A payload stands in its line as it was written, byte for byte, so that every hash can be
recomputed from the file alone. The hashes of an episode's last records stay in the ledger, which thereby
vouches for the file.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger.diagnose import RESTORE
from adf_ea_ros.ledger.errors import LedgerDamaged, LedgerUnavailable
from adf_ea_ros.ledger.record import Record, episode_root, recompute
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.store import Archive, Finding, Verification

FORMAT = 1


class Header(msgspec.Struct, frozen=True, tag=True):
    """First line. ``ledger`` is the id of the ledger."""

    format: int
    ledger: str


class Line(msgspec.Struct, frozen=True, tag="Record", omit_defaults=True):
    """One record. ``payload`` is its JSON as it is, or ``opaque`` has it in base 64 where it is none."""

    position: int
    episode: str
    version: int
    generation: int
    time: Ns
    kind: str
    previous: str
    hash: str
    link: str
    payload: msgspec.Raw = msgspec.Raw(b"null")
    opaque: str | None = None
    after_fault: bool = (
        False  # in an export of a damaged ledger: something before it in its episode is not sound
    )

    def record(self) -> Record:
        """The record that the line was made of."""
        return Record(
            self.episode,
            self.version,
            self.generation,
            self.time,
            self.kind,
            bytes(self.payload) if self.opaque is None else b64decode(self.opaque),
            bytes.fromhex(self.previous),
            bytes.fromhex(self.hash),
            self.position,
            bytes.fromhex(self.link),
        )


class Trailer(msgspec.Struct, frozen=True, tag=True):
    """Last line: the number of records, and the SHA-256 of all lines before this one."""

    records: int
    digest: str


def line(record: Record, *, after_fault: bool = False) -> Line:
    """The line of one record."""
    whole = _is_line_of_json(record.payload)
    return Line(
        position=record.position,
        episode=record.episode,
        version=record.version,
        generation=record.generation,
        time=record.time,
        kind=record.kind,
        previous=record.previous.hex(),
        hash=record.hash.hex(),
        link=record.link.hex(),
        payload=msgspec.Raw(record.payload if whole else b"null"),
        opaque=None if whole else b64encode(record.payload).decode(),
        after_fault=after_fault,
    )


def _is_line_of_json(payload: bytes) -> bool:
    if b"\n" in payload or payload != payload.strip():
        return False
    try:
        msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def write(stream: BinaryIO, ledger: str, lines: Iterable[Line]) -> Trailer:
    """Write a whole file of the ledger with this id."""
    encoder = msgspec.json.Encoder()
    digest = sha256()
    count = -1
    for entry in _with_header(ledger, lines):
        text = encoder.encode(entry) + b"\n"
        digest.update(text)
        stream.write(text)
        count += 1
    trailer = Trailer(count, digest.hexdigest())
    stream.write(encoder.encode(trailer) + b"\n")
    return trailer


def _with_header(ledger: str, lines: Iterable[Line]) -> Iterator[Header | Line]:
    yield Header(FORMAT, ledger)
    yield from lines


def read(path: Path) -> Iterator[Header | Line | Trailer]:
    """The lines of a file.

    Raises:
        LedgerDamaged: a line is not of the format.
        LedgerUnavailable: the file cannot be read.
    """
    decoder = msgspec.json.Decoder(Header | Line | Trailer)
    try:
        with path.open("rb") as stream:
            for number, text in enumerate(stream, 1):
                try:
                    yield decoder.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError) as exc:
                    raise LedgerDamaged(
                        f"{path}:{number} is not a line of a ledger's file: {exc}", RESTORE
                    ) from exc
    except OSError as exc:
        raise LedgerUnavailable(f"{path} cannot be read: {exc}") from exc


def verify_file(path: Path, ledger: SqlLedger | None = None) -> Verification:
    """Recompute a file: every hash, every episode from its beginning, the digest.

    With the ledger it came from, also that the episodes end where and how the ledger remembers.
    """
    check = _FileCheck()
    digest, trailer = sha256(), None
    encoder = msgspec.json.Encoder()
    try:
        for entry in read(path):
            if trailer is not None:
                check.add("edited", "there are lines behind the last line")
            if isinstance(entry, Trailer):
                trailer = entry
                continue
            digest.update(encoder.encode(entry) + b"\n")
            check.take(entry)
    except LedgerDamaged as exc:
        check.add("unreadable", exc.reason)
    if trailer is None:
        check.add("missing", "the last line is missing: the file was cut off")
    elif (trailer.records, trailer.digest) != (check.records, digest.hexdigest()):
        check.add("edited", "the file is not what was written: its digest does not fit")
    if ledger is not None:
        check.compare(ledger)
    return Verification(
        check.ledger.hex(), check.records, len(check.heads), 0, check.position, "", tuple(check.findings)
    )


class _FileCheck:
    def __init__(self) -> None:
        self.ledger = b""
        self.records = 0
        self.position = 0
        self.heads: dict[str, tuple[int, bytes]] = {}
        self.findings: list[Finding] = []

    def add(self, code: str, meaning: str, record: Record | None = None) -> None:
        where = (record.episode, record.version, record.position) if record else ("", 0, 0)
        self.findings.append(Finding(code, meaning, RESTORE, *where))

    def take(self, entry: Header | Line) -> None:
        if isinstance(entry, Header):
            self.ledger = bytes.fromhex(entry.ledger)
            return
        record = entry.record()
        self.records += 1
        self.position = max(self.position, record.position)
        start = (0, episode_root(self.ledger, record.episode))
        version, previous = self.heads.get(record.episode, start)
        if record.hash != recompute(record):
            self.add("edited", "the record is not what was written", record)
        elif record.version != version + 1:
            self.add("missing", f"it does not follow version {version}", record)
        elif record.previous != previous:
            self.add("foreign", "the record does not continue the one before it", record)
        self.heads[record.episode] = (record.version, record.hash)

    def compare(self, ledger: SqlLedger) -> None:
        if ledger.id != self.ledger.hex():
            self.add("other_ledger", "the file was written by another ledger")
        known = {a.episode: (a.version, bytes.fromhex(a.hash)) for a in ledger.archives()}
        for episode, head in self.heads.items():
            if known.get(episode, head) != head:
                self.add("edited", f"episode {episode} does not end as the ledger remembers")
            elif episode not in known:
                self.add("archive", f"the ledger does not know that episode {episode} was archived")


def archive_episodes(ledger: SqlLedger, episodes: Sequence[str], path: Path, *, time: Ns) -> list[Archive]:
    """Move episodes from the ledger to a new file; only for its writer. The file is safe before they go.

    Raises:
        LedgerUnavailable: the file exists or cannot be written; nothing was moved.
        LedgerDamaged: an episode is not as it was written; nothing was moved.
        ConcurrentAppend: an episode went on meanwhile; nothing was moved.
        ValueError: there is no such episode.
    """
    heads = []
    for episode in episodes:
        head = ledger.head(episode)
        if head is None:
            raise ValueError(f"there is no episode {episode!r} in the ledger")
        heads.append(Archive(episode, head.version, head.hash.hex(), path.name))
    lines = (line(record) for episode in episodes for record in ledger.read(episode))
    _write_new(path, ledger.id, lines)
    verification = verify_file(path)
    if not verification.ok:
        raise LedgerDamaged(f"the archive {path} does not verify: {verification.findings[0]}")
    digest = _digest(path)
    ledger.retire(heads, digest, time=time)
    return heads


def _write_new(path: Path, ledger: str, lines: Iterable[Line]) -> None:
    try:
        with path.open("xb") as stream:
            try:
                write(stream, ledger, lines)
                stream.flush()
                os.fsync(stream.fileno())
            except BaseException:
                path.unlink()  # half an archive is worse than none
                raise
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as exc:
        raise LedgerUnavailable(f"the archive {path} cannot be written: {exc}", "Nothing was moved") from exc


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 16):
            digest.update(block)
    return digest.hexdigest()
