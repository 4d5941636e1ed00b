"""Open a ledger by its name: a file for SQLite, a URL for PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from adf_ea_ros.ledger.shared import ledger_schema
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger


def open_ledger(
    where: str, *, mark: Path | None = None, read_only: bool = False, authority: str = ""
) -> SqlLedger:
    """The ledger at ``where``: ``postgresql://...`` or the path of an SQLite file.

    A fragment names the schema that holds the tables of a PostgreSQL ledger:
    ``postgresql://host/database#rig_2``. Without one it follows from the full name of the node
    ``authority`` (see ``shared.ledger_schema``), so that one URL serves all robots of a fleet.

    Raises:
        LedgerUnavailable, LedgerDamaged, LedgerTooNew
    """
    if where.startswith(("postgresql://", "postgres://")):
        # Only here: the driver is an optional dependency.
        from adf_ea_ros.ledger.postgres import PostgresLedger  # noqa: PLC0415

        url, _, schema = where.partition("#")
        return PostgresLedger(
            url, schema_name=schema or ledger_schema(authority), mark=mark, read_only=read_only
        )
    return SqliteLedger(Path(where), mark=mark, read_only=read_only)
