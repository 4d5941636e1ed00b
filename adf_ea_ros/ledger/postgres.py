"""A ledger in a PostgreSQL database: the shared store of a fleet.

The right to write is a session advisory lock: the server takes it back when the writer's connection ends,
however it ends. A writer that loses its connection takes the lock again before it goes on, and finds out
whether another one has written under a later generation in between.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import psycopg
    from psycopg import errors
    from psycopg import sql as names
    from psycopg.conninfo import conninfo_to_dict
except ImportError as exc:  # pragma: no cover - depends on the installation
    raise ImportError("a PostgreSQL ledger needs psycopg 3: pip install 'adf_ea_ros[postgres]'") from exc

from adf_ea_ros.ledger import schema, shared
from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.errors import (
    LedgerDamaged,
    LedgerError,
    LedgerTooNew,
    LedgerUnavailable,
    NotTheWriter,
)
from adf_ea_ros.ledger.lock import alive
from adf_ea_ros.ledger.mark import Mark
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.sql import Overtaken, SqlLedger, insertion
from adf_ea_ros.ledger.store import Exchange, Holder, Lease

SCHEMA = shared.LEDGER_SCHEMA
"""The PostgreSQL schema that holds a ledger's tables, unless another is named."""

# The server notices within about 15 s that the machine of a writer is gone, and gives the lock free.
_SESSION = """
SET synchronous_commit = on;
SET tcp_keepalives_idle = 5;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 2;
SET idle_in_transaction_session_timeout = '30s';
SET timezone = 'UTC';
"""


_END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = ? AND pid <> pg_backend_pid() AND datname = current_database()
"""


def state_directory() -> Path:
    """Where marks of ledgers without a file of their own are kept on this machine."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "adf_ea_ros"


class PostgresLedger(SqlLedger):
    """The ledger in one schema of the database that ``conninfo`` names. See ``store.Ledger``."""

    native = (psycopg.Error,)
    mark_required = False  # another machine may have written all of it; each keeps a mark of what it has seen

    def __init__(
        self,
        conninfo: str,
        *,
        schema_name: str = SCHEMA,
        mark: Path | None = None,
        read_only: bool = False,
        patience: float = 2.0,
    ) -> None:
        """Open the ledger, and make it if there is none and not ``read_only``.

        Args:
            conninfo: a libpq connection string or URL.
            schema_name: the schema of its tables; one database can hold several ledgers.
            mark: the high-water mark; by default in the user's state directory, named by the ledger's id.
            read_only: for looking.
            patience: seconds to wait for a connection, or for another transaction's lock.

        Raises:
            LedgerUnavailable, LedgerDamaged, LedgerTooNew
        """
        if len(schema_name.encode()) > shared.NAME_BYTES:
            raise LedgerUnavailable(
                f"the schema name {schema_name!r} is longer than the {shared.NAME_BYTES} bytes of PostgreSQL",
                "Name a shorter one behind # in the ledger's URL",
            )
        known = conninfo_to_dict(conninfo)
        name = f"ledger {schema_name} in {known.get('dbname') or known.get('user') or 'the default database'}"
        super().__init__(f"{name} at {known.get('host') or 'the local server'}", Mark(Path(os.devnull)))
        self._conninfo = conninfo
        self._schema_name = schema_name
        self._read_only = read_only
        self._patience = patience
        self._translated: dict[str, bytes] = {}
        self._holder_name = ""  # of the writer that this object is, or would be
        self._session = f"adf_ea_ros {os.getpid()} {secrets.token_hex(8)}"
        self._connect()
        try:
            self._check_schema()
            self._identify()
        except BaseException:
            self._disconnect()
            raise
        self.mark = Mark(mark or state_directory() / f"{self.id}.mark")

    # ---- connection

    def _connect(self) -> None:
        try:
            self._connection = psycopg.connect(
                self._conninfo,
                autocommit=True,
                connect_timeout=max(2, round(self._patience)),
                application_name=self._session,
            )
            self._connection.execute(_SESSION.encode())
            self._connection.execute(f"SET lock_timeout = {round(self._patience * 1000)}".encode())
            path = names.SQL("SET search_path = {}").format(names.Identifier(self._schema_name))
            self._connection.execute(path)
            if self._read_only:
                self._connection.execute("SET default_transaction_read_only = on")
            durable = self._connection.execute("SHOW fsync").fetchone()
        except psycopg.Error as exc:
            raise self._translate(exc) from exc
        if durable != ("on",):
            raise LedgerUnavailable(
                f"{self.name}: the server runs with fsync off, so that a commit is not durable", "Turn it on"
            )

    def _reconnect(self) -> None:
        self._disconnect()
        self._connect()
        if not self._generation:
            return
        self._lost = False
        holder = self._lock()
        if holder is None:
            return
        if holder.generation != self._generation:
            self._generation = 0
            reason = f"{self.name} was taken over by {holder} while the connection was lost"
            raise NotTheWriter(reason, "Start this process anew if it should write", holder)
        self._lost = True
        raise LedgerUnavailable(
            f"{self.name}: the server still keeps the connection that was lost", "The next append tries again"
        )

    def _disconnect(self) -> None:
        with suppress(AttributeError, psycopg.Error):  # never opened, or broken: there is nothing to close
            self._connection.close()

    # ---- schema

    def _schema_version(self) -> int:
        rows = self._run("SELECT to_regclass('meta')::text")
        if rows[0][0] is None:
            return 0
        rows = self._run("SELECT value FROM meta WHERE key = 'schema'")
        return int(rows[0][0]) if rows else 0

    def _check_schema(self) -> None:
        try:
            found = self._schema_version()
        except psycopg.Error as exc:
            raise self._translate(exc) from exc
        if found > schema.VERSION:
            raise LedgerTooNew(
                f"{self.name} has schema {found}, and this program knows only up to {schema.VERSION}",
                "Use the version of the program that wrote it, or a later one",
            )
        if found < schema.VERSION:
            if self._read_only:
                if found == 0:
                    raise LedgerUnavailable(
                        f"there is no {self.name}", self._where_else() or "Open it for writing once"
                    )
                raise LedgerUnavailable(f"{self.name} has schema {found}", "Open it for writing once")
            self._bring_up_to_date(found)

    def _where_else(self) -> str:
        """The ledgers that the database has."""
        if self._run(shared.PRESENT, (f"{shared.SCHEMA}.authority",))[0][0] is None:
            return ""
        found = [f"#{schema} ({name})" for name, schema in shared.ledgers(self._run)]
        return f"The database has these: {', '.join(found)}" if found else ""

    def _bring_up_to_date(self, found: int) -> None:
        if found == 0:
            self._migrate()
            return
        self._identify()
        holder = self._lock()
        if holder is not None:
            reason = f"{self.name} must be brought up to date, but is being written by {holder}"
            raise NotTheWriter(reason, "Stop that process first", holder)
        self._migrate()
        self._drop_lease()

    def _migrate(self) -> None:
        """Up to the present schema in one transaction, one process at a time."""
        with self._making_tables(), self._transaction():
            create = names.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(names.Identifier(self._schema_name))
            self._connection.execute(create)
            found = self._schema_version()
            for version in schema.steps(found, schema.POSTGRES):
                self._connection.execute(schema.POSTGRES[version].encode())
            if found == 0:
                self._run("INSERT INTO meta VALUES ('ledger', ?)", (secrets.token_hex(16),))
            self._run("DELETE FROM meta WHERE key = 'schema'")
            self._run("INSERT INTO meta VALUES ('schema', ?)", (str(schema.VERSION),))

    @contextmanager
    def _making_tables(self) -> Iterator[None]:
        """One process at a time. The lock is taken before the transaction begins: only a new transaction
        hears of the tables that another one has just made, and does not try to make them again.
        """
        self.query("SELECT pg_advisory_lock(?)", (schema.APPLICATION_ID,))
        try:
            yield
        finally:
            with suppress(psycopg.Error):  # a lost session has lost its lock as well
                self._run("SELECT pg_advisory_unlock(?)", (schema.APPLICATION_ID,))

    # ---- what the ledgers of a database share

    def _prepare_shared(self) -> None:
        """Make the common tables, where the first ledger of a database has not made them."""
        if self.query(shared.PRESENT, (f"{shared.SCHEMA}.release",))[0][0] is not None:
            return
        with self._making_tables(), self._transaction():
            self._connection.execute(shared.PREPARE.encode())

    def leases(self, subjects: Sequence[str]) -> list[Lease]:
        """Who holds these subjects: of other ledgers only."""
        return [one for one in shared.leases(self.query, subjects) if one.ledger != self.id]

    def own_leases(self) -> list[Lease]:
        """What this ledger holds."""
        return [one for one in shared.leases(self.query) if one.ledger == self.id]

    def lost_lease(self, subject: str, attempt: str) -> str:
        """Who took a lease from an attempt of this ledger, and why."""
        return shared.released(self.query, subject, attempt, self.id)

    def _exchange(self, wanted: Exchange) -> None:
        shared.exchange(self._run, self.id, self._holder_name, wanted)

    # ---- for SqlLedger

    def _run(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(self._statement(sql), args)
        return cursor.fetchall() if cursor.description else []

    def _statement(self, text: str) -> bytes:
        known = self._translated.get(text)
        if known is None:
            known = self._translated[text] = text.replace("?", "%s").encode()
        return known

    def _insert(self, records: Sequence[Record]) -> int:
        if len(records) == 1:
            return self._connection.execute(self._statement(sql.INSERT), insertion(records[0])).rowcount
        with self._connection.cursor() as cursor:
            cursor.executemany(self._statement(sql.INSERT), map(insertion, records))
            return cursor.rowcount

    def _begin(self) -> None:
        self._connection.execute("BEGIN")

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def _rollback(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._lost = True

    def _lock(self) -> Holder | None:
        """Take the advisory lock, or say who has it; waits a little for a session that is about to end."""
        key = shared.lock_key(self._ledger)
        deadline = time.monotonic() + self._patience
        while not self.query("SELECT pg_try_advisory_lock(?)", (key,))[0][0]:
            holder = self._holder()
            # A session of this object that was lost: what it was doing must be over before anything is read.
            ending = bool(self.query(_END_SESSIONS, (self._session,))) or not alive(holder)
            if time.monotonic() > deadline or not (ending or holder.generation == self._generation):
                return holder
            time.sleep(0.01)
        return self._lock_name(deadline)

    def _lock_name(self, deadline: float) -> Holder | None:
        """The same for the name of an authority: in one database it belongs to one, whatever its ledger."""
        if not self._holder_name.startswith("/"):
            return None  # a tool, not a node
        key = shared.name_key(self._holder_name)
        while not self.query("SELECT pg_try_advisory_lock(?)", (key,))[0][0]:
            holder = shared.writer(self.query, self._holder_name)
            if alive(holder) or time.monotonic() > deadline:
                self._drop_lease()
                return holder
            time.sleep(0.01)
        return None

    def _holder(self) -> Holder:
        rows = self.query(sql.LEASE)
        return Holder(*rows[0][:5]) if rows else Holder("a nameless process", 0, "an unknown machine", "now")

    def _take_lease(self, holder: Holder) -> Holder | None:
        if self._read_only:
            raise LedgerUnavailable(f"{self.name} was opened for reading only")
        if self._lost:
            self._restore()
        self._prepare_shared()
        self._holder_name = holder.name
        other = self._lock()
        if other is None and holder.name.startswith("/"):
            shared.note_writer(self.query, holder, self._schema_name, self.id)
        return other

    def _drop_lease(self) -> None:
        with suppress(psycopg.Error):  # the lock ends with the session in any case
            self._run("SELECT pg_advisory_unlock_all()")

    def _translate(self, error: Exception, *, committing: bool = False) -> LedgerError:
        text = str(error).strip().partition("\n")[0]
        if isinstance(error, errors.UniqueViolation):
            return Overtaken(f"another process has written to {self.name}", "Find out which, and end it")
        if isinstance(error, (errors.LockNotAvailable, errors.QueryCanceled)):
            return LedgerUnavailable(
                f"{self.name} has been locked by another transaction for {self._patience:g} s",
                "Find it in pg_stat_activity and end it",
            )
        if isinstance(error, (errors.DiskFull, errors.InsufficientResources)):
            return LedgerUnavailable(
                f"{self.name}: the server has no room: {text}", "Make room; nothing was written"
            )
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return LedgerUnavailable(f"{self.name} is read-only: {text}", "Connect to the primary server")
        if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
            damage = LedgerDamaged(f"{self.name} is damaged: {text}")
            self._refusal = self._refusal or damage
            return damage
        if isinstance(error, errors.OperationalError | errors.InterfaceError) or self._gone():
            self._lost = True
            return LedgerUnavailable(
                f"{self.name} cannot be reached: {text}",
                "See to the server; the next append connects again",
                in_doubt=committing,
            )
        return LedgerUnavailable(f"{self.name} failed: {text}", "See the server's log", in_doubt=committing)

    def _gone(self) -> bool:
        connection = getattr(self, "_connection", None)
        return connection is None or connection.closed
