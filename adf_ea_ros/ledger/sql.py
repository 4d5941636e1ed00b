"""Writing a ledger in an SQL database: all but the connection, the lock and the words of the errors."""

from __future__ import annotations

import datetime as dt
import os
import socket
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.errors import ConcurrentAppend, LedgerUnavailable, NotTheWriter
from adf_ea_ros.ledger.mark import Mark, MarkValue
from adf_ea_ros.ledger.reading import SqlReader
from adf_ea_ros.ledger.record import (
    SYSTEM,
    Item,
    Record,
    check_items,
    check_name,
    episode_root,
    extend,
    ledger_root,
)
from adf_ea_ros.ledger.store import AUDIT, Archive, Exchange, Finding, Holder, Lease
from adf_ea_ros.ledger.system import LedgerAccepted, WriterStarted, checkpoint_saved, episodes_archived, item

REMEMBERED = 1024
"""Episodes whose heads a writer keeps in memory."""


def insertion(r: Record) -> tuple[object, ...]:
    """The values of ``statements.INSERT`` for one record."""
    return (
        r.episode,
        r.version,
        r.generation,
        r.time,
        r.kind,
        r.payload,
        r.previous,
        r.hash,
        r.position,
        r.link,
        r.generation,
    )


class Overtaken(LedgerUnavailable):
    """The row was there already: somebody else has written."""


class SqlLedger(SqlReader):
    """A ledger in an SQL database. See ``store.Ledger`` for what the public methods promise."""

    def __init__(self, name: str, mark: Mark) -> None:
        """``name`` is what the ledger is called in messages."""
        super().__init__(name, mark)
        self._generation = 0
        self._process = 0
        self._doubt: list[Record] = []  # what may or may not have been committed
        self._head = (0, b"")  # position and link of the newest record, where any episode is in _tips
        self._tips: dict[str, tuple[int, bytes]] = {}  # version and hash at which episodes stand

    @property
    def generation(self) -> int:
        """The generation of the writer that this object is; 0: it is none."""
        return self._generation

    @abstractmethod
    def _insert(self, records: Sequence[Record]) -> int:
        """Run INSERT for each record; how many rows that made. Raises the driver's errors."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin the writer's transaction. Raises the driver's errors."""

    @abstractmethod
    def _commit(self) -> None:
        """Commit it, durably. Raises the driver's errors."""

    @abstractmethod
    def _rollback(self) -> None:
        """Undo it, whatever state the connection is in. Raises nothing."""

    @abstractmethod
    def _take_lease(self, holder: Holder) -> Holder | None:
        """Take the right to write, or say who has it. Raises LedgerError."""

    @abstractmethod
    def _drop_lease(self) -> None:
        """Let the right to write go. Raises nothing."""

    # ---- what ledgers of one store share

    def leases(self, _subjects: Sequence[str]) -> list[Lease]:
        """Who holds these subjects: nobody else can, where no other ledger shares the store."""
        return []

    def own_leases(self) -> list[Lease]:
        """What this ledger holds."""
        return []

    def lost_lease(self, _subject: str, _attempt: str) -> str:
        """Who took a lease from an attempt of this ledger, and why."""
        return ""

    def _exchange(self, wanted: Exchange) -> None:
        """Let leases change hands, within the writer's transaction. Raises LeaseHeld, the driver's errors."""

    # ---- writing

    def open_writer(self, holder: str, *, time: Ns = 0, audit: int | None = AUDIT) -> int:
        """Become the one writer."""
        check_name("holder", holder)
        with self._mutex:
            if self._generation:
                raise NotTheWriter(f"{self.name} is already open for writing in this object")
            return self._start(holder, time, audit, None)

    def accept(self, by: str, reason: str, *, time: Ns = 0) -> int:
        """Become the writer of a ledger that is whole in itself but does not agree with its mark.

        For a person, after a backup was restored: what the mark has seen and the ledger lacks is lost, and
        recorded as lost with the person's name and reason. Records that are not as written cannot be
        accepted.
        """
        check_name("person", by)
        check_name("reason", reason)
        with self._mutex:
            return self._start(by, time, None, reason)

    def _start(self, name: str, time: Ns, audit: int | None, reason: str | None) -> int:
        since = dt.datetime.now(dt.timezone.utc).isoformat(timespec="milliseconds")
        holder = Holder(name, os.getpid(), socket.gethostname(), since)
        other = self._take_lease(holder)
        if other is not None:
            raise NotTheWriter(
                f"{self.name} is being written by {other}",
                "Stop that process first, or start this one on a ledger of its own",
                other,
            )
        try:
            lost = self._audit(audit, accept=reason is not None)
            self._generation = self._record_start(holder, time, lost, reason)
        except BaseException:
            self._drop_lease()
            raise
        self._process = os.getpid()
        self._refusal = None
        self.mark.sync()
        return self._generation

    def _audit(self, audit: int | None, *, accept: bool) -> tuple[Finding, ...]:
        inspection = self._inspection()
        findings = inspection.check_mark()
        lost = findings if accept else ()
        if not accept:
            inspection.raise_on(self.name, findings)
        newest = inspection.head()[0]
        start = 0 if audit is None else max(0, newest - audit)
        inspection.raise_on(self.name, inspection.check_chain(start))
        if newest == 0:
            # Before the first record: a ledger with records and no mark is refused from here on.
            self.mark.write(MarkValue(self.id, 0, ledger_root(self._ledger).hex(), 0))
            self.mark.sync()
        return lost

    def _record_start(self, holder: Holder, time: Ns, lost: tuple[Finding, ...], reason: str | None) -> int:
        with self._transaction():
            rows = self._run(sql.LEASE)
            before = Holder(*rows[0][:5]) if rows else None
            released = bool(rows and rows[0][5])
            generation = (before.generation if before else 0) + 1
            holder = msgspec.structs.replace(holder, generation=generation)
            items = [item(WriterStarted(holder, None if released else before))]
            if reason is not None:
                items.insert(0, item(LedgerAccepted(holder.name, reason, tuple(f.meaning for f in lost))))
            self._run("DELETE FROM lease")
            self._run(
                sql.TAKE_LEASE,
                (generation, holder.name, holder.pid, holder.host, holder.since),
            )
            records = self._record(items, time, generation)
        self._remember(records[-1])
        return generation

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
        """Append all or none, durably."""
        check_items(episode, items)
        if episode == SYSTEM:
            raise ValueError(f"{SYSTEM} is the ledger's own episode")
        with self._mutex:
            self._require(generation)
            if self._doubt:
                settled = self._settle(episode, expected_version, items, time)
                if settled:
                    return settled
            try:
                return self._append(episode, expected_version, items, time, exchange)
            except Overtaken:
                # What is remembered of the ledger's heads is not what is there: look, and then decide.
                return self._append(episode, expected_version, items, time, exchange)

    def _append(
        self, episode: str, expected_version: int, items: Sequence[Item], time: Ns, exchange: Exchange | None
    ) -> list[Record]:
        with self._transaction():
            tip = self._tips.get(episode)
            position, link, version, value = (*self._head, *tip) if tip else self._tip(episode)
            if version != expected_version:
                version = self._tip(episode)[2] if tip else version
                raise ConcurrentAppend(episode, expected_version, version)
            records = self._write(episode, version, value, position, link, items, time)
            if exchange is not None:
                self._exchange(exchange)
            self._doubt = records
        self._remember(records[-1])
        return records

    def _require(self, generation: int) -> None:
        if self._refusal is not None:
            raise self._refusal
        if self._generation == 0 or self._process != os.getpid():
            raise NotTheWriter(
                f"{self.name} is not open for writing in this process", "Call open_writer first"
            )
        if generation != self._generation:
            raise NotTheWriter(
                f"a decision of generation {generation} is void, the ledger is at {self._generation}",
                "Decide again on the present state",
            )

    def _tip(self, episode: str) -> tuple[int, bytes, int, bytes]:
        """Position and link of the ledger's head, version and hash of the episode's; within a transaction."""
        rows = self._run(sql.TIP, (episode,))
        if not rows:
            return 0, ledger_root(self._ledger), 0, episode_root(self._ledger, episode)
        position, link, version, value = rows[0]
        if version is None:
            self._refuse_archived(episode)
            return position, link, 0, episode_root(self._ledger, episode)
        return position, link, version, value

    def _superseded(self) -> NotTheWriter:
        rows = self._run(sql.LEASE)
        holder = Holder(*rows[0][:5]) if rows else None
        self._generation = 0
        return NotTheWriter(
            f"{self.name} is written by {holder or 'nobody'} now, under a later generation",
            "Decisions of this process are void; start it anew if it should write",
            holder,
        )

    def _record(self, items: Sequence[Item], time: Ns, generation: int) -> list[Record]:
        """Append to the ledger's own episode, within a transaction."""
        position, link, version, value = self._tip(SYSTEM)
        return self._write(SYSTEM, version, value, position, link, items, time, generation)

    def _write(
        self,
        episode: str,
        version: int,
        previous: bytes,
        position: int,
        link: bytes,
        items: Sequence[Item],
        time: Ns,
        generation: int = 0,
    ) -> list[Record]:
        """Make records of the items behind these heads and insert them, if this is still the writer."""
        records = extend(
            items,
            episode=episode,
            version=version,
            previous=previous,
            position=position,
            link=link,
            time=time,
            generation=generation or self._generation,
        )
        if self._insert(records) != len(records):
            raise self._superseded()
        return records

    def _settle(self, episode: str, expected: int, items: Sequence[Item], time: Ns) -> list[Record] | None:
        """After a commit of unknown outcome: its records, if they are there and are what is asked for."""
        if self._lost:
            self._restore()
        doubt, self._doubt = self._doubt, []
        last = doubt[-1]
        found = self._at(last.episode, last.version)
        if found is None or found.hash != last.hash:
            return None
        self._remember(last)
        same = [(r.kind, r.payload) for r in doubt] == list(items) and doubt[0].time == time
        if same and doubt[0].episode == episode and doubt[0].version == expected + 1:
            return doubt
        return None

    def _remember(self, record: Record) -> None:
        self._doubt = []
        if len(self._tips) >= REMEMBERED:
            del self._tips[next(iter(self._tips))]
        self._tips[record.episode] = (record.version, record.hash)
        self._head = (record.position, record.link)
        self.mark.write(MarkValue(self.id, record.position, record.link.hex(), record.generation))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._lost:
            self._restore()
        try:
            self._begin()
            yield
        except BaseException as exc:
            self._undo()
            if isinstance(exc, self.native):
                raise self._translate(exc) from exc
            raise
        try:
            self._commit()
        except self.native as exc:
            doubt = self._doubt
            self._undo()
            error = self._translate(exc, committing=True)
            if isinstance(error, LedgerUnavailable) and error.in_doubt:
                self._doubt = doubt
            raise error from exc

    def _undo(self) -> None:
        self._doubt = []
        self._tips.clear()
        self._rollback()

    # ---- checkpoints

    def save_checkpoint(self, episode: str, version: int, state: bytes) -> None:
        """Keep the state after ``version``; a record of the ledger's own episode vouches for it."""
        with self._mutex:
            self._require(self._generation)
            record = self._at(episode, version)
            if record is None:
                raise ValueError(f"there is no version {version} of episode {episode!r}")
            with self._transaction():
                event = checkpoint_saved(record, state)
                saved = self._record([item(event)], record.time, self._generation)[-1]
                self._run("DELETE FROM checkpoint WHERE episode = ?", (episode,))
                self._run(
                    sql.SAVE_CHECKPOINT,
                    (episode, version, record.hash, state, saved.position),
                )
            self._remember(saved)
            self.mark.sync()

    # ---- archives

    def retire(self, archives: Sequence[Archive], digest: str, *, time: Ns) -> None:
        """Let the records of episodes go that are in a file with this digest; their hashes stay.

        Raises:
            ConcurrentAppend: one of them does not end where its archive does.
        """
        with self._mutex:
            self._require(self._generation)
            with self._transaction():
                self._run(
                    "INSERT INTO meta VALUES ('archiving', '')"
                )  # the guard against deletion lets it pass
                event = item(episodes_archived(archives[0].file, digest, archives))
                last = self._record([event], time, self._generation)[-1]
                for archive in archives:
                    self._retire(archive, last.position)
                self._run("DELETE FROM meta WHERE key = 'archiving'")
            self._remember(last)
            self.mark.sync()

    def _retire(self, archive: Archive, position: int) -> None:
        rows = self._run(sql.HEAD_OF_EPISODE, (archive.episode,))
        version, value = (rows[0][1], rows[0][7]) if rows else (0, b"")
        if version != archive.version or value.hex() != archive.hash:
            raise ConcurrentAppend(archive.episode, archive.version, version)
        self._run(sql.ADD_STUBS, (archive.episode,))
        self._run("DELETE FROM event WHERE episode = ?", (archive.episode,))
        self._run("DELETE FROM checkpoint WHERE episode = ?", (archive.episode,))
        self._run(
            sql.ADD_ARCHIVE,
            (archive.episode, archive.version, bytes.fromhex(archive.hash), archive.file, position),
        )

    # ---- ending

    def close(self) -> None:
        """Give up the right to write and the connection."""
        with self._mutex:
            if self._generation and self._process == os.getpid():
                with suppress(*self.native):  # else the next writer says that it took over, which is as true
                    self._run("UPDATE lease SET released = 1 WHERE generation = ?", (self._generation,))
                self._drop_lease()
            self._generation = 0
            self.mark.close()
            self._disconnect()

    def __enter__(self) -> SqlLedger:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
