"""The interface to a ledger, the same for every backend (section 3.4 of the ADF-EA paper: retained state).

A ledger keeps what happened, in order, and knows nothing of what it means. One process writes; any number
read. An append is durable when it returns: the caller may let its effects happen only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger.record import Item, Record

AUDIT = 10_000
"""How many of the newest records are checked before a writer may write (about 50 ms)."""


class Holder(msgspec.Struct, frozen=True):
    """Who holds, or last held, the right to write."""

    name: str
    pid: int
    host: str
    since: str  # wall time, ISO 8601 in UTC
    generation: int = 0

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid} on {self.host}, since {self.since})"


class Lease(msgspec.Struct, frozen=True):
    """A subject that several ledgers of one store share, in one holder's hands."""

    subject: str
    holder: str  # name of the writer
    attempt: str  # what it is held for
    since: str  # wall time of the store, ISO 8601 in UTC
    ledger: str  # id of the holder's ledger


class Exchange(msgspec.Struct, frozen=True):
    """What changes hands with an append: subjects that ``attempt`` takes, and subjects given back."""

    attempt: str = ""
    take: tuple[str, ...] = ()
    free: tuple[str, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True):
    """The caller's state after the record ``version`` of an episode, as opaque bytes."""

    episode: str
    version: int
    state: bytes


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a ledger: where, what it means, and what to do. ``code`` is stable."""

    code: str
    meaning: str
    remedy: str
    episode: str = ""
    version: int = 0  # 0: not about one record
    position: int = 0

    def __str__(self) -> str:
        where = f"{self.episode} version {self.version}: " if self.version else ""
        return f"{where}{self.meaning} [{self.code}]"


class Verification(msgspec.Struct, frozen=True):
    """What a complete check found. ``records`` counts what was recomputed.

    ``position`` and ``link`` are the head of the ledger. Note it somewhere else: only that can show
    later that a whole ledger, together with its high-water mark, was replaced by an older copy.
    """

    ledger: str
    records: int
    episodes: int
    archived: int  # records whose content is in an archive; their hashes are still checked
    position: int
    link: str
    findings: tuple[Finding, ...] = ()
    more: int = 0  # findings beyond those that are listed

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings


class Archive(msgspec.Struct, frozen=True):
    """One archived episode: how far it went, and which file has it."""

    episode: str
    version: int
    hash: str
    file: str


Replay = Callable[[Checkpoint, Iterator[Record]], bool]
"""Whether a checkpoint is what the records up to it, from the first, fold to."""


class Ledger(Protocol):
    """Append-only store of events. Every method may raise LedgerUnavailable or LedgerDamaged."""

    @property
    def id(self) -> str:
        """The random id that the ledger got when it was made; 32 hexadecimal digits."""
        ...

    def open_writer(self, holder: str, *, time: Ns = 0, audit: int | None = AUDIT) -> int:
        """Become the one writer; the generation, greater than that of every writer before.

        The newest ``audit`` records (None: all) are recomputed first, and the head is compared with the mark.

        Raises:
            NotTheWriter: another process has the right to write; the message names it.
            LedgerDamaged: the check failed; the right to write is not taken.
        """
        ...

    def append(
        self,
        episode: str,
        expected_version: int,
        items: Sequence[Item],
        *,
        time: Ns,
        generation: int,
        exchange: Exchange | None = None,
    ) -> list[Record]:
        """Append all ``items`` or none; durable on return. ``expected_version`` is 0 for a new episode.

        What is exchanged changes hands with them, or not at all.

        Raises:
            ConcurrentAppend: the episode is at another version.
            LeaseHeld: another ledger of the store holds what was to be taken.
            NotTheWriter: ``generation`` is not that of the writer, or is an older one.
            EpisodeArchived: the episode takes no more records.
            LedgerUnavailable: not written, or ``in_doubt``: then call again with the same arguments.
            ValueError: a name or payload that cannot be stored.
        """
        ...

    def read(self, episode: str, after: int = 0) -> Iterator[Record]:
        """The records of an episode behind version ``after``, each checked against the chain as it is read.

        Raises:
            LedgerDamaged: at the first record that is not as it was written.
            EpisodeArchived: its records are in a file.
        """
        ...

    def read_all(self, after: int = 0) -> Iterator[Record]:
        """All records behind position ``after``, in the order they were committed, each checked."""
        ...

    def episodes(self) -> Iterator[str]:
        """The names of the episodes that have records here, in order of name; without the ledger's own."""
        ...

    def head(self, episode: str) -> Record | None:
        """The last record of an episode."""
        ...

    def archives(self) -> list[Archive]:
        """The episodes that were moved to files."""
        ...

    def leases(self, subjects: Sequence[str]) -> list[Lease]:
        """Who holds these subjects; nobody where no other ledger shares the store."""
        ...

    def lost_lease(self, subject: str, attempt: str) -> str:
        """Who took the lease on a subject from an attempt of this ledger, and why; empty: nobody did."""
        ...

    def own_leases(self) -> list[Lease]:
        """What this ledger holds."""
        ...

    def save_checkpoint(self, episode: str, version: int, state: bytes) -> None:
        """Keep ``state`` as the state after ``version``, in place of an earlier one. Only for the writer."""
        ...

    def load_checkpoint(self, episode: str) -> Checkpoint | None:
        """The last checkpoint of an episode, bound to the record it was taken at.

        Raises:
            LedgerDamaged: it is not what was saved. ``read`` from the beginning still gives the state.
        """
        ...

    def verify(self, replay: Replay | None = None) -> Verification:
        """Recompute everything; with ``replay``, also every checkpoint by a fold from the beginning.

        Does not raise on damage: it lists it. A writer whose ledger fails refuses to append from then on.
        """
        ...

    def close(self) -> None:
        """Give up the right to write, if held, and release the store. May be called again."""
        ...
