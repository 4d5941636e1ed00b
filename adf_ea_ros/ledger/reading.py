"""Reading a ledger in an SQL database, the part that both databases share.

What is read is checked as it is read: a record that is not as it was written raises, and is never handed out.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.diagnose import not_as_written
from adf_ea_ros.ledger.errors import EpisodeArchived, LedgerDamaged, LedgerError
from adf_ea_ros.ledger.mark import Mark
from adf_ea_ros.ledger.record import SYSTEM, Record, episode_root, recompute
from adf_ea_ros.ledger.store import Archive, Checkpoint, Finding, Replay, Verification
from adf_ea_ros.ledger.verify import Inspection


class SqlReader(ABC):
    """The reading half of ``store.Ledger``; the backends say how to run a statement."""

    native: tuple[type[Exception], ...]  # the errors of the driver
    mark_required: bool  # a ledger with records but no mark is suspect

    def __init__(self, name: str, mark: Mark) -> None:
        """``name`` is what the ledger is called in messages."""
        self.name = name
        self.mark = mark
        self._mutex = threading.RLock()
        self._ledger = b""
        self._refusal: LedgerDamaged | None = None
        self._lost = False  # the connection must be opened anew

    # ---- for the backends

    @abstractmethod
    def _run(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Execute one statement and fetch all of its rows. Raises the driver's errors."""

    @abstractmethod
    def _translate(self, error: Exception, *, committing: bool = False) -> LedgerError:
        """The refusal that an error of the driver amounts to."""

    @abstractmethod
    def _reconnect(self) -> None:
        """Open the connection anew, and hold the lease again if it was held. Raises LedgerError."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Close the connection. Raises nothing."""

    # ---- identity

    @property
    def id(self) -> str:
        """The ledger's random id."""
        return self._ledger.hex()

    def _inspection(self) -> Inspection:
        return Inspection(self.query, self._ledger, self.mark, self.mark_required)

    def _restore(self) -> None:
        self._reconnect()
        self._lost = False

    def _identify(self) -> None:
        rows = self.query("SELECT value FROM meta WHERE key = 'ledger'")
        try:
            self._ledger = bytes.fromhex(rows[0][0])
        except (IndexError, ValueError) as exc:
            raise LedgerDamaged(f"{self.name} has tables of a ledger but not its id") from exc

    # ---- reading

    def query(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one statement, for reading."""
        with self._mutex:
            if self._lost:
                self._restore()
            try:
                return self._run(sql, args)
            except self.native as exc:
                raise self._translate(exc) from exc

    def read(self, episode: str, after: int = 0) -> Iterator[Record]:
        """The records of an episode behind ``after``, checked."""
        previous = episode_root(self._ledger, episode)
        if after:
            anchor = self._at(episode, after)
            if anchor is None:
                self._refuse_archived(episode)
                return
            previous = anchor.hash
        version = after
        while True:
            rows = self.query(
                sql.OF_EPISODE,
                (episode, version, sql.PAGE),
            )
            if not rows and version == 0:
                self._refuse_archived(episode)
            for row in rows:
                record = Record(*row)
                version += 1
                if record.version != version:
                    raise self._damage(
                        Finding("missing", "the record is missing", "", episode, version), "has a gap"
                    )
                if record.hash != recompute(record) or record.previous != previous:
                    raise self._damage(not_as_written(self.query, record), "was changed")
                previous = record.hash
                yield record
            if len(rows) < sql.PAGE:
                return

    def read_all(self, after: int = 0) -> Iterator[Record]:
        """All records behind position ``after``, each checked by itself."""
        while True:
            rows = self.query(sql.FROM_POSITION, (after, sql.PAGE))
            for row in rows:
                record = Record(*row)
                if record.hash != recompute(record):
                    raise self._damage(not_as_written(self.query, record), "was changed")
                yield record
                after = record.position
            if len(rows) < sql.PAGE:
                return

    def episodes(self) -> Iterator[str]:
        """The names of the episodes, in order."""
        name = ""
        while True:
            rows = self.query(sql.NEXT_EPISODE, (name,))
            name = rows[0][0]
            if name is None:
                return
            if name != SYSTEM:
                yield name

    def head(self, episode: str) -> Record | None:
        """The last record of an episode."""
        rows = self.query(sql.HEAD_OF_EPISODE, (episode,))
        return self._checked(rows)

    def archives(self) -> list[Archive]:
        """The archived episodes."""
        rows = self.query("SELECT episode, version, hash, file FROM archive ORDER BY episode")
        return [Archive(episode, version, value.hex(), file) for episode, version, value, file in rows]

    def _at(self, episode: str, version: int) -> Record | None:
        return self._checked(self.query(sql.AT_VERSION, (episode, version)))

    def _checked(self, rows: list[tuple[Any, ...]]) -> Record | None:
        if not rows:
            return None
        record = Record(*rows[0])
        if record.hash != recompute(record):
            raise self._damage(not_as_written(self.query, record), "was changed")
        return record

    def _refuse_archived(self, episode: str) -> None:
        rows = self.query("SELECT file FROM archive WHERE episode = ?", (episode,))
        if rows:
            raise EpisodeArchived(episode, rows[0][0])

    def _damage(self, finding: Finding, words: str) -> LedgerDamaged:
        error = LedgerDamaged(f"{self.name}: the history {words}: {finding}", findings=(finding,))
        self._refusal = self._refusal or error
        return error

    def load_checkpoint(self, episode: str) -> Checkpoint | None:
        """The last checkpoint, if what vouches for it is there."""
        rows = self.query("SELECT version, state FROM checkpoint WHERE episode = ?", (episode,))
        if not rows:
            return None
        inspection = self._inspection()
        findings = inspection.check_checkpoint(episode)
        if findings:
            raise LedgerDamaged(
                f"{self.name}: {findings[0]}", "Fold the episode from its beginning instead", findings
            )
        return Checkpoint(episode, rows[0][0], bytes(rows[0][1]))

    # ---- verification

    def verify(self, replay: Replay | None = None) -> Verification:
        """Recompute everything."""
        inspection = self._inspection()
        result = inspection.check_everything(self.read, replay)
        if not result.ok:
            self.condemn(result)
        return result

    def condemn(self, verification: Verification) -> None:
        """Refuse to append from now on, because of what a verification of this ledger found elsewhere."""
        self._refusal = LedgerDamaged(
            f"{self.name} failed its verification: {verification.findings[0]}", findings=verification.findings
        )
