"""Open a ledger by its name: a file for SQLite, a URL for PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger


def open_ledger(where: str, *, mark: Path | None = None, read_only: bool = False) -> SqlLedger:
    """The ledger at ``where``: ``postgresql://...`` or the path of an SQLite file.

    The tables of a PostgreSQL ledger are in the schema ``adf_ea_ros``; a fragment names another one:
    ``postgresql://host/database#rig_2``.

    Raises:
        LedgerUnavailable, LedgerDamaged, LedgerTooNew
    """
    if where.startswith(("postgresql://", "postgres://")):
        # Only here: the driver is an optional dependency.
        from adf_ea_ros.ledger.postgres import SCHEMA, PostgresLedger  # noqa: PLC0415

        url, _, schema = where.partition("#")
        return PostgresLedger(url, schema_name=schema or SCHEMA, mark=mark, read_only=read_only)
    return SqliteLedger(Path(where), mark=mark, read_only=read_only)
