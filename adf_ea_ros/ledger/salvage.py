"""What is still sound in a ledger that is not: every record that is as it was written, and what was left out.

Where a page of the file is unreadable, its neighbours are not: the records are then fetched one by one. A
record whose own hash fits is sound in itself. Whether the history before it is whole is another question: a
record behind a fault of its episode is marked, because folding it would skip what is missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from pathlib import Path

from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.ledger.mark import MarkUnreadable
from adf_ea_ros.ledger.reading import SqlReader
from adf_ea_ros.ledger.record import Record, episode_root, recompute


class Salvage:
    """Reads what can be read. After ``records`` has ended, ``lost`` counts the positions that gave none."""

    def __init__(self, ledger: SqlReader) -> None:
        """Any ledger that can be opened at all."""
        self._ledger = ledger
        self.sound = 0
        self.lost = 0

    def records(self) -> Iterator[tuple[Record, bool]]:
        """Every sound record in the order of commits; true: something before it in its episode is not."""
        root = bytes.fromhex(self._ledger.id)
        heads: dict[str, tuple[int, bytes] | None] = {}
        for record in self._readable():
            if record is None or record.hash != recompute(record):
                self.lost += 1
                continue
            self.sound += 1
            head = heads.get(record.episode, (0, episode_root(root, record.episode)))
            whole = head is not None and (record.version, record.previous) == (head[0] + 1, head[1])
            heads[record.episode] = (record.version, record.hash) if whole else None
            yield record, not whole

    def _readable(self) -> Iterator[Record | None]:
        after, last = 0, self._last()
        while after < last:
            try:
                rows = self._ledger.query(sql.FROM_POSITION, (after, sql.PAGE))
            except LedgerError:
                for position in range(after + 1, after + sql.PAGE + 1):
                    if position <= last and not self._archived(position - 1, position + 1):
                        yield self._single(position)
                after += sql.PAGE
                continue
            for row in rows:
                record = Record(*row)
                if record.position > after + 1:
                    gap = record.position - 1 - after - self._archived(after, record.position)
                    yield from repeat(None, gap)
                after = record.position
                yield record
            if not rows:
                yield from repeat(None, last - after)
                return

    def _archived(self, after: int, before: int) -> int:
        """How many positions between the two belong to archived records: they are not lost."""
        try:
            rows = self._ledger.query(sql.COUNT_STUBS, (after, before))
        except LedgerError:
            return 0
        return int(rows[0][0])

    def _single(self, position: int) -> Record | None:
        try:
            rows = self._ledger.query(sql.AT_POSITION, (position,))
        except LedgerError:
            return None
        return Record(*rows[0]) if rows else None

    def _last(self) -> int:
        try:
            mark = self._ledger.mark.load()
        except (MarkUnreadable, OSError):
            mark = None
        seen = mark.position if mark and mark.ledger == self._ledger.id else 0
        try:
            rows = self._ledger.query(sql.HEAD)
        except LedgerError:
            rows = []
        return max(seen, rows[0][0] if rows else 0)


def explain_file(path: Path) -> list[str]:
    """What SQLite itself says is wrong with the file, in at most a few lines; empty: nothing."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("PRAGMA quick_check(5)").fetchall()
    except sqlite3.Error as exc:
        return [str(exc)]
    return [row[0] for row in rows if row[0] != "ok"]
