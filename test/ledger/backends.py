"""The two kinds of ledger as the tests see them: open one, and change its tables behind its back."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.sqlite import SqliteLedger


class SqliteBackend:
    """A ledger in a file of its own."""

    kind = "sqlite"

    def __init__(self, directory: Path, name: str = "ledger.sqlite") -> None:
        self.path = directory / name
        self.mark = directory / f"{name}.mark"
        self.opened: list[SqlLedger] = []

    @property
    def where(self) -> str:
        return str(self.path)

    def open(self, **options: Any) -> SqlLedger:
        ledger = SqliteLedger(self.path, **{"patience": 0.2} | options)
        self.opened.append(ledger)
        return ledger

    def tamper(self, *statements: str | tuple[str, Sequence[Any]]) -> None:
        """Run statements past the guard, as somebody with a database shell would."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("INSERT INTO meta VALUES ('archiving', '')")
            for statement in statements:
                text, args = (statement, ()) if isinstance(statement, str) else statement
                connection.execute(text, args)
            connection.execute("DELETE FROM meta WHERE key = 'archiving'")
            connection.commit()

    def close(self) -> None:
        for ledger in self.opened:
            ledger.close()


class PostgresBackend(SqliteBackend):
    """A ledger in a schema of its own on the session's server."""

    kind = "postgres"

    def __init__(self, directory: Path, server: Any, schema: str) -> None:
        super().__init__(directory)
        self.mark = directory / "mark"
        self.server = server
        self.schema = schema

    @property
    def where(self) -> str:
        return f"{self.server.url}#{self.schema}"

    def open(self, **options: Any) -> SqlLedger:
        from adf_ea_ros.ledger.postgres import PostgresLedger

        settings = {"patience": 0.5, "mark": self.mark, "schema_name": self.schema} | options
        ledger = PostgresLedger(self.server.conninfo, **settings)
        self.opened.append(ledger)
        return ledger

    def tamper(self, *statements: str | tuple[str, Sequence[Any]]) -> None:
        import psycopg

        with psycopg.connect(self.server.conninfo) as connection:
            connection.execute(f"SET search_path = {self.schema}")
            connection.execute("INSERT INTO meta VALUES ('archiving', '')")
            for statement in statements:
                text, args = (statement, ()) if isinstance(statement, str) else statement
                connection.execute(text.replace("?", "%s"), args)
            connection.execute("DELETE FROM meta WHERE key = 'archiving'")
