"""A ledger in one SQLite file: the default, for one robot or one rig.

Write-ahead log, ``synchronous=FULL``: a commit is on the disk when ``append`` returns, also after a power cut
(as far as the disk keeps its promises). Beside the file ``NAME`` stand ``NAME.mark``, the high-water mark,
and ``NAME.lock``, the lock of the writer. All of them belong on a local disk.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlite_utils

from adf_ea_ros.ledger import schema
from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.errors import (
    LedgerDamaged,
    LedgerError,
    LedgerTooNew,
    LedgerUnavailable,
    NotTheWriter,
)
from adf_ea_ros.ledger.lock import FileLock
from adf_ea_ros.ledger.mark import Mark, MarkUnreadable
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.sql import Overtaken, SqlLedger, insertion
from adf_ea_ros.ledger.store import Holder
from adf_ea_ros.ledger.wal import AT_MOST, LogMover


class SqliteLedger(SqlLedger):
    """The ledger in the file at ``path``. See ``store.Ledger``."""

    native = (sqlite3.Error,)
    mark_required = True

    def __init__(
        self, path: Path | str, *, mark: Path | None = None, read_only: bool = False, patience: float = 2.0
    ) -> None:
        """Open the ledger, and make it if there is none and not ``read_only``.

        Args:
            path: the SQLite file.
            mark: the high-water mark; on another disk it also shows that a whole directory was put back.
            read_only: for looking; nothing beside the file is made or changed.
            patience: seconds to wait for another process that locks the database.

        Raises:
            LedgerUnavailable, LedgerDamaged, LedgerTooNew
        """
        self.path = Path(path)
        super().__init__(str(self.path), Mark(mark or self.path.with_name(self.path.name + ".mark")))
        self._lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        self._read_only = read_only
        self._patience = patience
        self._mover: LogMover | None = None
        self._check_presence()
        self._connect()
        try:
            self._check_schema()
            self._identify()
        except BaseException:
            self._disconnect()
            raise

    def _check_presence(self) -> None:
        if self.path.exists():
            return
        if self._read_only:
            raise LedgerUnavailable(f"there is no ledger {self.name}")
        try:
            mark = self.mark.load()
        except (MarkUnreadable, OSError):
            mark = None
        if mark is not None and mark.position:
            raise LedgerDamaged(
                f"the ledger {self.name} is missing, but its mark has seen {mark.position} records",
                "Restore the newest copy of the file; to begin anew, move the mark away as well",
            )

    # ---- connection

    def _connect(self) -> None:
        try:
            if self._read_only:
                self._connection = self._open_for_reading()
            else:
                self._connection = sqlite3.connect(
                    self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
                )
                self._configure()
            # The first read: a file that is no database is found here.
            self._connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            if not self._read_only:
                self._mover = LogMover(self.path, self._patience)
        except sqlite3.Error as exc:
            raise self._translate(exc) from exc

    def _open_for_reading(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        try:
            return self._open_uri(uri)
        except sqlite3.OperationalError:
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                raise
            # A read-only disk: SQLite cannot make its shared memory there. Without a log the file is
            # complete.
            return self._open_uri(uri + "&immutable=1")

    def _open_uri(self, uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return connection

    def _configure(self) -> None:
        if self._application() not in {0, schema.APPLICATION_ID}:
            raise LedgerDamaged(f"{self.name} is a database of another application", "Name another file")
        mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise LedgerUnavailable(
                f"{self.name} cannot use a write-ahead log (it stays in mode {mode})",
                "Put it on a local disk",
            )
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {AT_MOST}")

    def _application(self) -> int:
        return int(self._connection.execute("PRAGMA application_id").fetchone()[0])

    def _reconnect(self) -> None:
        self._disconnect()
        self._connect()

    def _disconnect(self) -> None:
        mover, self._mover = self._mover, None
        if mover is not None:
            mover.close()
        with suppress(AttributeError, sqlite3.Error):  # never opened, or broken: there is nothing to close
            self._connection.close()

    # ---- schema

    def _schema_version(self) -> int:
        rows = self.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'")
        if not rows:
            return 0
        rows = self.query("SELECT value FROM meta WHERE key = 'schema'")
        return int(rows[0][0]) if rows else 0

    def _check_schema(self) -> None:
        found = self._schema_version()
        if found > schema.VERSION:
            raise LedgerTooNew(
                f"{self.name} has schema {found}, and this program knows only up to {schema.VERSION}",
                "Use the version of the program that wrote it, or a later one",
            )
        if found == schema.VERSION:
            return
        if self._read_only:
            raise LedgerUnavailable(
                f"{self.name} has schema {found}", "Open it for writing once to bring it up to date"
            )
        self._migrate(found)

    def _migrate(self, found: int) -> None:
        """From schema ``found`` to the present one; a process that dies half-way leaves the old one."""
        holder = Holder("a migration", os.getpid(), os.uname().nodename, "now")
        other = self._take_lease(holder)
        if other is not None and found:
            raise NotTheWriter(
                f"{self.name} must be brought up to date, but is being written by {other}", "", other
            )
        try:
            with self._transaction():
                found = self._schema_version()  # another process may have been first
                database = sqlite_utils.Database(self._connection)
                for version in schema.steps(found, schema.SQLITE):
                    schema.SQLITE[version](database)
                if found == 0:
                    database.execute("INSERT INTO meta VALUES ('ledger', ?)", (secrets.token_hex(16),))
                    database.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
                database.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(schema.VERSION),))
        finally:
            self._drop_lease()
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # a new file is safe only when its name is
        finally:
            os.close(directory)

    # ---- for SqlLedger

    def _run(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, args).fetchall()

    def _insert(self, records: Sequence[Record]) -> int:
        if len(records) == 1:
            return self._connection.execute(sql.INSERT, insertion(records[0])).rowcount
        return self._connection.executemany(sql.INSERT, map(insertion, records)).rowcount

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._connection.execute("COMMIT")
        if self._mover is not None:
            self._mover.count()

    def _rollback(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._lost = True

    def _take_lease(self, holder: Holder) -> Holder | None:
        if self._read_only:
            raise LedgerUnavailable(f"{self.name} was opened for reading only")
        try:
            return self._lock.acquire(holder)
        except OSError as exc:
            raise LedgerUnavailable(
                f"the lock of {self.name} cannot be taken: {exc}", "See that the directory can be written"
            ) from exc

    def _drop_lease(self) -> None:
        self._lock.release()

    def _translate(self, error: Exception, *, committing: bool = False) -> LedgerError:
        # By their texts: Python 3.10 does not give SQLite's error codes.
        text = str(error)
        if "locked" in text or "busy" in text:
            return LedgerUnavailable(
                f"{self.name} has been locked by another process for {self._patience:g} s",
                "Find the process that holds a transaction open (`fuser` names it) and end it",
            )
        if "UNIQUE" in text:
            return Overtaken(f"another process has written to {self.name}", "Find out which, and end it")
        if "full" in text:
            return LedgerUnavailable(f"the disk of {self.name} is full", "Make room; nothing was written")
        if "readonly" in text or "unable to open" in text:
            return LedgerUnavailable(
                f"{self.name} cannot be written: {text}", "See to the disk and its permissions"
            )
        if "malformed" in text or "not a database" in text or "decode" in text or "corrupt" in text:
            damage = LedgerDamaged(f"{self.name} is damaged as a file: {text}")
            self._refusal = self._refusal or damage
            return damage
        self._lost = True
        return LedgerUnavailable(
            f"{self.name} failed: {text}",
            "See to the disk; the next append opens it anew",
            in_doubt=committing,
        )
