"""The high-water mark: how far this machine has seen the ledger go, in a file of its own.

A hash chain cannot show that its last records are missing, or that an older copy was put in the ledger's
place: a shorter chain is a whole chain. The mark can, because it is not part of the ledger. It is written
after every commit and before the append is acknowledged, in place and in one system call, so that it survives
the death of the process. It is forced to the disk only now and then (start, checkpoints, end): after a power
cut it may lag behind the ledger, never run ahead of it. A mark is therefore a lower bound.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import msgspec

_SIZE = 256  # one write of less than a disk sector: after a power cut it is there whole, or the one before is


class MarkValue(msgspec.Struct, frozen=True):
    """What a mark says: the ledger with this id was at least here, under this generation."""

    ledger: str
    position: int
    link: str
    generation: int


class MarkUnreadable(Exception):
    """There is a mark, but it is not one that was written whole."""


class _Line(msgspec.Struct):
    mark: MarkValue
    check: str


class Mark:
    """The mark file at ``path``. Errors of the disk do not fail an append: it is already durable by then."""

    def __init__(self, path: Path) -> None:
        """Touches nothing yet."""
        self.path = path
        self.fault = ""  # why the last write failed; empty: it did not
        self._file = -1

    def load(self) -> MarkValue | None:
        """The mark, or None where there is none.

        Raises:
            MarkUnreadable: the file's content is not a mark.
            OSError: the file cannot be read.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise MarkUnreadable(str(exc)) from exc
        if line.check != _check(line.mark):
            raise MarkUnreadable("its checksum does not fit")
        return line.mark

    def write(self, value: MarkValue) -> None:
        """Put ``value`` in the file's place. A failure is kept in ``fault``."""
        line = msgspec.json.encode(_Line(value, _check(value))).ljust(_SIZE - 1) + b"\n"
        try:
            if self._file < 0:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.pwrite(self._file, line, 0)
            self.fault = ""
        except OSError as exc:
            self.fault = str(exc)

    def sync(self) -> None:
        """Force the mark to the disk."""
        try:
            if self._file >= 0:
                os.fsync(self._file)
        except OSError as exc:
            self.fault = str(exc)

    def close(self) -> None:
        """Force it to the disk and let the file go. A later ``write`` opens it again."""
        self.sync()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _check(value: MarkValue) -> str:
    return sha256(msgspec.json.encode(value)).hexdigest()[:16]
