"""One authority service per run, on a SQLite ledger that many runs share: real appends, without a file for
each.

The ledger is the product's own SQLite ledger, with every commit synchronous. For the controlled comparison,
whose costs are reported, it lies on the disk; for the other studies in memory (``/dev/shm``, where there is
one). When a name of a run comes again, a new ledger begins, so that names need no numbers.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService

_SHM = Path("/dev/shm")  # noqa: S108 - folders of our own are made in it
MEMORY = _SHM if _SHM.is_dir() else None
"""Where a temporary folder lies in memory; None: nowhere, so that it lies on the disk."""


class Shelf:
    """The ledgers of this process. They go when it ends."""

    def __init__(self) -> None:
        """Nothing is opened before it is needed."""
        self._folders: dict[bool, Path] = {}
        self._on_disk = False
        self._ledger: SqliteLedger | None = None
        self._generation = 0
        self._count = 0
        self._names: set[str] = set()

    def use_disk(self, on_disk: bool) -> None:
        """Where the next ledgers lie."""
        if on_disk != self._on_disk and self._ledger is not None:
            self._ledger.close()
            self._ledger = None
        self._on_disk = on_disk

    def book(self, name: str) -> Book:
        """A book that knows nothing of the runs before it, and has room for an episode of this name."""
        if self._ledger is None or name in self._names:
            self._open()
        assert self._ledger is not None
        self._names.add(name)
        return Book(self._ledger, self._generation)

    def _open(self) -> None:
        folder = self._folders.get(self._on_disk)
        if folder is None:
            base = None if self._on_disk else MEMORY
            folder = self._folders[self._on_disk] = Path(tempfile.mkdtemp(prefix="adf_ea_studies_", dir=base))
            atexit.register(self._close, folder)
        if self._ledger is not None:
            self._ledger.close()
        self._count += 1
        self._names.clear()
        self._ledger = SqliteLedger(folder / f"{self._count}.sqlite")
        self._generation = self._ledger.open_writer("studies")

    def _close(self, folder: Path) -> None:
        if self._ledger is not None:
            self._ledger.close()
        shutil.rmtree(folder, ignore_errors=True)


SHELF = Shelf()


@functools.cache
def catalog(folder: Path) -> Catalog:
    """The product's catalog of a library."""
    return Catalog.load([folder])


def service_for(folder: Path, name: str) -> AuthorityService:
    """A service for one run."""
    return AuthorityService(catalog(folder), SHELF.book(name))
