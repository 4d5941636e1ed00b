"""Recomputing a ledger: what is checked, and what each thing that can be wrong is called.

Two passes, each in pages, so that memory does not grow with history. The first goes through the ledger in the
order of commits and recomputes every hash and every link. The second goes through each episode by version.
Then come the things outside the chains: the high-water mark, the lease, the checkpoints, the archives.

A fault in one record is one finding: the passes go on from what is stored behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import takewhile

import msgspec

from adf_ea_ros.ledger import statements as sql
from adf_ea_ros.ledger.diagnose import ACCEPT, RESTORE, Query, not_as_written
from adf_ea_ros.ledger.errors import LedgerDamaged, LedgerError
from adf_ea_ros.ledger.mark import Mark, MarkUnreadable, MarkValue
from adf_ea_ros.ledger.record import SYSTEM, Record, episode_root, ledger_root, link_hash, recompute
from adf_ea_ros.ledger.store import Archive, Checkpoint, Finding, Replay, Verification
from adf_ea_ros.ledger.system import (
    EPISODES_ARCHIVED,
    WRITER_STARTED,
    EpisodesArchived,
    checkpoint_saved,
    item,
)

LISTED = 100
"""Findings beyond this many are counted only."""

Entry = tuple[int, bytes, Record | None]  # position, hash, and the record unless it was archived


class Inspection:
    """One verification of one ledger, over any way to query it.

    Every ``check_...`` returns what it found, at most LISTED findings, and counts the others in ``more``.
    """

    def __init__(self, query: Query, ledger: bytes, mark: Mark, mark_required: bool) -> None:
        """``ledger`` is the id; ``mark_required``: records without a mark are a finding."""
        self.query = query
        self.ledger = ledger
        self.mark = mark
        self.mark_required = mark_required
        self.records = 0
        self.archived = 0
        self.episodes = 0
        self.more = 0
        self._found: list[Finding] = []
        self._positions: set[int] = set()

    def _add(
        self, code: str, meaning: str, remedy: str, *, episode: str = "", version: int = 0, position: int = 0
    ) -> None:
        self._note(Finding(code, meaning, remedy, episode, version, position))

    def _note(self, finding: Finding) -> None:
        if finding.position in self._positions:
            return  # one fault of one record shows in several ways
        if len(self._positions) >= LISTED or len(self._found) >= LISTED:
            self.more += 1
            return
        if finding.position:
            self._positions.add(finding.position)
        self._found.append(finding)

    def _taken(self) -> tuple[Finding, ...]:
        found, self._found = tuple(self._found), []
        return found

    @staticmethod
    def raise_on(name: str, findings: Sequence[Finding]) -> None:
        """Raise LedgerDamaged if there are any."""
        if findings:
            others = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
            raise LedgerDamaged(f"{name}: {findings[0]}{others}", findings[0].remedy, tuple(findings))

    def head(self) -> tuple[int, bytes]:
        """Position and link of the newest record."""
        rows = self.query(sql.HEAD, ())
        return (rows[0][0], rows[0][1]) if rows else (0, ledger_root(self.ledger))

    # ---- the mark

    def check_mark(self) -> tuple[Finding, ...]:
        """Whether the ledger contains what its mark has seen of it."""
        try:
            mark = self.mark.load()
        except (MarkUnreadable, OSError) as exc:
            meaning = f"the mark {self.mark.path} is unreadable ({exc}): a missing tail would not be noticed"
            self._add("mark_unreadable", meaning, ACCEPT)
            return self._taken()
        position, _ = self.head()
        if mark is None:
            if self.mark_required and position:
                meaning = f"the mark {self.mark.path} is missing: a missing tail would not be noticed"
                self._add("no_mark", meaning, ACCEPT)
        elif mark.ledger != self.ledger.hex():
            meaning = f"the mark {self.mark.path} belongs to another ledger: this one was put in its place"
            self._add("other_ledger", meaning, ACCEPT)
        elif position < mark.position:
            self._add("behind_mark", self._behind(mark, position), ACCEPT, position=position + 1)
        elif mark.position:
            rows = self.query(sql.AT_POSITION, (mark.position,))
            if rows and Record(*rows[0]).link.hex() != mark.link:
                meaning = (
                    f"the history up to record {mark.position} is not the one that the mark has seen: "
                    "it was written anew, with new hashes"
                )
                self._add("rewritten", meaning, RESTORE, position=mark.position)
        return self._taken()

    def _behind(self, mark: MarkValue, position: int) -> str:
        rows = self.query(sql.LEASE, ())
        gone = f"the ledger ends at record {position}, but its mark has seen record {mark.position}: "
        if (rows[0][4] if rows else 0) < mark.generation:
            return gone + "an older copy was put in its place"
        return gone + "its tail was cut off, or an older copy was put in its place"

    # ---- the chains

    def check_chain(self, start: int = 0) -> tuple[Finding, ...]:
        """Recompute hashes and links behind position ``start``."""
        position, generation = start, 0
        link: bytes | None = ledger_root(self.ledger)
        if start:
            rows = self.query(sql.AT_POSITION, (start,))
            link = Record(*rows[0]).link if rows else None
        for here, value, record in merge(self._rows(start), self._stubs(start), key=lambda entry: entry[0]):
            if here != position + 1:
                meaning = f"{_span('record', position + 1, here - 1)} missing"
                self._add("missing", meaning, RESTORE, position=position + 1)
                link = None
            position = here
            expected = None if link is None else link_hash(link, here, value)
            if record is None:
                self.archived += 1
                link = expected
                continue
            self.records += 1
            link = record.link
            self._check_record(record, expected, generation)
            generation = max(generation, record.generation)
        return self._taken()

    def _check_record(self, record: Record, expected: bytes | None, generation: int) -> None:
        where = {"version": record.version, "position": record.position}
        if record.hash != recompute(record):
            self._note(not_as_written(self.query, record))
        elif expected is not None and record.link != expected:
            meaning = (
                "the record does not stand where it was written: records were exchanged, or hashes made anew"
            )
            self._add("moved", meaning, RESTORE, episode=record.episode, **where)
        if record.generation < generation:
            meaning = f"a writer of generation {record.generation} wrote after one of generation {generation}"
            self._add("generation", meaning, RESTORE, episode=record.episode, **where)

    def _rows(self, after: int) -> Iterator[Entry]:
        while rows := self.query(sql.FROM_POSITION, (after, sql.PAGE)):
            for row in rows:
                record = Record(*row)
                after = record.position
                yield after, record.hash, record

    def _stubs(self, after: int) -> Iterator[Entry]:
        while rows := self.query(sql.STUBS, (after, sql.PAGE)):
            for position, value in rows:
                yield position, value, None
            after = rows[-1][0]

    def check_episodes(self) -> tuple[Finding, ...]:
        """That each episode is whole and in order."""
        name, version, previous, position = "", 0, b"", 0
        for episode, here, place, before, value in self._by_version():
            if episode != name:
                self.episodes += episode != SYSTEM
                name, version, previous, position = episode, 0, episode_root(self.ledger, episode), 0
            code, meaning = "", ""
            if here != version + 1:
                code, meaning = "missing", f"{_span('version', version + 1, here - 1)} missing before it"
            elif before != previous:
                code, meaning = "foreign", "the record does not continue the one before it"
            elif place <= position:
                code, meaning = "reordered", "the record was committed before its predecessor"
            if code:
                self._add(code, meaning, RESTORE, episode=episode, version=here, position=place)
            version, previous, position = here, value, place
        return self._taken()

    def _by_version(self) -> Iterator[tuple[str, int, int, bytes, bytes]]:
        name = ""
        while (name := self.query(sql.NEXT_EPISODE, (name,))[0][0]) is not None:
            version = -1
            while rows := self.query(sql.CHAIN_OF_EPISODE, (name, version, sql.PAGE)):
                for row in rows:
                    yield row[0], row[1], row[2], row[3], row[4]
                version = rows[-1][1]

    # ---- the rest

    def check_lease(self) -> tuple[Finding, ...]:
        """That the lease says what the last start of a writer recorded."""
        lease = self.query(sql.LEASE, ())
        started = self.query(sql.LAST_OF_KIND, (SYSTEM, WRITER_STARTED))
        if [row[4] for row in lease] != [row[0] for row in started]:
            self._add("lease", "the lease does not agree with the last recorded start of a writer", RESTORE)
        return self._taken()

    def check_checkpoint(self, episode: str) -> tuple[Finding, ...]:
        """That a checkpoint is what was saved, at a record that is still there."""
        for version, value, state, kind, payload, owner in self.query(sql.CHECKPOINT, (episode,)):
            at = self.query(sql.AT_VERSION, (episode, version))
            record = Record(*at[0]) if at else None
            if record is None or record.hash != value:
                meaning = "the checkpoint was taken at a record that is not there"
            elif owner != SYSTEM or (kind, payload) != item(checkpoint_saved(record, state)):
                meaning = "the checkpoint is not the one that was saved"
            else:
                continue
            remedy = "Fold the episode from its beginning; the next checkpoint replaces this one"
            self._add("checkpoint", meaning, remedy, episode=episode, version=version)
        return self._taken()

    def check_checkpoints(
        self, read: Callable[[str], Iterator[Record]], replay: Replay | None
    ) -> tuple[Finding, ...]:
        """All of them; with ``replay``, also that they are what the records before them fold to."""
        found: list[Finding] = []
        name = ""
        while (name := self.query(sql.NEXT_CHECKPOINT, (name,))[0][0]) is not None:
            wrong = self.check_checkpoint(name)
            found += wrong
            if replay is not None and not wrong and not self._replays(name, read(name), replay):
                meaning = "the checkpoint is not what the records before it fold to"
                version = self.query(sql.CHECKPOINT, (name,))[0][0]
                found.append(Finding("checkpoint", meaning, RESTORE, name, version))
        return tuple(found)

    def _replays(self, episode: str, records: Iterator[Record], replay: Replay) -> bool:
        version, _, state, *_ = self.query(sql.CHECKPOINT, (episode,))[0]
        checkpoint = Checkpoint(episode, version, bytes(state))
        try:
            return replay(checkpoint, takewhile(lambda record: record.version <= version, records))
        except LedgerDamaged:
            return True  # the chains have listed why it cannot be told

    def check_archives(self) -> tuple[Finding, ...]:
        """That every archived episode was recorded as such, and has no records here."""
        for episode, version, value, file, kind, payload, owner in self.query(sql.ARCHIVES, ()):
            archive = Archive(episode, version, value.hex(), file)
            if owner != SYSTEM or kind != EPISODES_ARCHIVED or archive not in _archives(payload):
                meaning = f"no record says that it was archived to {file}"
                self._add("archive", meaning, RESTORE, episode=episode)
            elif self.query(sql.HEAD_OF_EPISODE, (episode,)):
                meaning = "the episode was archived, and yet it has records here"
                self._add("archive", meaning, RESTORE, episode=episode, version=version)
        return self._taken()

    def check_everything(
        self, read: Callable[[str], Iterator[Record]], replay: Replay | None = None
    ) -> Verification:
        """All of it; a part that cannot be read is a finding."""
        found: list[Finding] = []
        parts: list[Callable[[], tuple[Finding, ...]]] = [
            self.check_mark,
            self.check_chain,
            self.check_episodes,
            self.check_lease,
            lambda: self.check_checkpoints(read, replay),
            self.check_archives,
        ]
        for part in parts:
            try:
                found += part()
            except LedgerError as exc:
                found += self._taken()
                if not any(finding.code == "unreadable" for finding in found):
                    found.append(Finding("unreadable", exc.reason, exc.remedy))
        try:
            position, link = self.head()
        except LedgerError:
            position, link = 0, b""
        return Verification(
            ledger=self.ledger.hex(),
            records=self.records,
            episodes=self.episodes,
            archived=self.archived,
            position=position,
            link=link.hex(),
            findings=tuple(found[:LISTED]),
            more=self.more + max(0, len(found) - LISTED),
        )


def _span(what: str, first: int, last: int) -> str:
    return f"{what} {first} is" if first == last else f"{what}s {first} to {last} are"


def _archives(payload: bytes) -> tuple[Archive, ...]:
    return msgspec.json.decode(payload, type=EpisodesArchived).episodes
