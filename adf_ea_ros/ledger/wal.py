"""Moving commits from SQLite's write-ahead log into the database, beside the thread that commits.

A commit is durable once it is in the log. Left to itself SQLite moves the log's pages into the database in
the commit that finds 1,000 of them there, and waits for the disk twice: once in some thirty goals a robot
would wait for 20 to 80 ms.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

EVERY = 250
"""Commits between two moves: about 1,000 pages, SQLite's own measure."""
AT_MOST = 16_000
"""Pages (64 MB) at which a commit does it after all: the thread is hindered, and the log has to end."""


class LogMover:
    """A thread that moves pages after every ``EVERY`` commits; it starts with the first move."""

    def __init__(self, path: Path, patience: float) -> None:
        """Open a connection of its own to the database at ``path``. Raises sqlite3.Error."""
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=patience,
            isolation_level=None,
            check_same_thread=False,
        )
        self._commits = 0
        self._due = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    def count(self) -> None:
        """One more commit; for the thread that commits."""
        self._commits += 1
        if self._commits < EVERY:
            return
        self._commits = 0
        self._due.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ledger log", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread, after the move that it is at, and the connection."""
        self._closing = True
        self._due.set()
        if self._thread is not None:
            self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            if self._closing:
                return
            try:
                # PASSIVE waits for nobody and makes nobody wait; what a reader needs stays for now.
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            except sqlite3.Error:
                continue  # nothing is lost, the log keeps it; a disk that fails is for a commit to find
