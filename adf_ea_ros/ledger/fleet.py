"""An operator's look at what the authorities of one PostgreSQL database share, and a hand in it.

Needs no ledger of its own: it works also where every authority is dead, or where one lives and holds on to
something of which a person knows better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adf_ea_ros.ledger import shared
from adf_ea_ros.ledger.errors import LedgerUnavailable
from adf_ea_ros.ledger.record import check_name
from adf_ea_ros.ledger.store import Lease


class Fleet:
    """The common tables of the database at ``url`` (a fragment is of no matter); a context manager."""

    def __init__(self, url: str) -> None:
        """Connect.

        Raises:
            LedgerUnavailable: no PostgreSQL URL, no connection, or no authority ever wrote there.
        """
        if not url.startswith(("postgresql://", "postgres://")):
            raise LedgerUnavailable(
                f"{url} is a ledger of one authority: there is nobody to share with",
                "Name the postgresql:// URL of a database",
            )
        try:
            import psycopg  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            raise LedgerUnavailable("psycopg 3 is missing", "pip install 'adf_ea_ros[postgres]'") from error
        self._errors = psycopg.Error
        address = url.partition("#")[0]
        try:
            self._connection = psycopg.connect(address, autocommit=True, connect_timeout=5)
        except psycopg.Error as error:
            raise LedgerUnavailable(f"the database cannot be reached: {error}".strip()) from error
        if self._run(shared.PRESENT, (f"{shared.SCHEMA}.release",))[0][0] is None:
            self.close()
            raise LedgerUnavailable("no authority ever wrote in this database")

    def _run(self, text: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            cursor = self._connection.execute(text.replace("?", "%s").encode(), args)
            return cursor.fetchall() if cursor.description else []
        except self._errors as error:
            raise LedgerUnavailable(f"the database refuses: {error}".strip()) from error

    def ledgers(self) -> list[tuple[str, str]]:
        """(name, schema) of each authority that ever wrote here."""
        return shared.ledgers(self._run)

    def leases(self) -> list[Lease]:
        """Everything that is held."""
        return shared.leases(self._run)

    def release(self, subject: str, by: str, reason: str) -> Lease | None:
        """Take a lease from its holder; on record with name and reason. None where nobody holds it.

        The holder is not asked. Whoever does this vouches that nothing is still to come of its attempt.

        Raises:
            ValueError: no name, or no reason.
        """
        check_name("person", by)
        check_name("reason", reason)
        return shared.release(self._run, subject, by, reason)

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()

    def __enter__(self) -> Fleet:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
