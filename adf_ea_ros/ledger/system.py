"""The records in which a ledger writes about itself, in its own episode."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from adf_ea_ros.ledger.record import Item, Record, canonical
from adf_ea_ros.ledger.store import Archive, Holder

WRITER_STARTED = "WriterStarted"
CHECKPOINT_SAVED = "CheckpointSaved"
LEDGER_ACCEPTED = "LedgerAccepted"
EPISODES_ARCHIVED = "EpisodesArchived"


class WriterStarted(msgspec.Struct, frozen=True, tag=True):
    """A process became the writer; ``took_over_from`` one that had not given up the right to write."""

    holder: Holder
    took_over_from: Holder | None


class LedgerAccepted(msgspec.Struct, frozen=True, tag=True):
    """A person took a ledger that disagrees with its mark as it is; ``lost`` says how it disagreed."""

    by: str
    reason: str
    lost: tuple[str, ...]


class CheckpointSaved(msgspec.Struct, frozen=True, tag=True):
    """A checkpoint was taken at a record; ``digest`` is the SHA-256 of its state."""

    episode: str
    version: int
    hash: str
    digest: str


class EpisodesArchived(msgspec.Struct, frozen=True, tag=True):
    """Episodes were moved to a file; ``digest`` is the SHA-256 of the file."""

    file: str
    digest: str
    episodes: tuple[Archive, ...]


SystemEvent = WriterStarted | LedgerAccepted | CheckpointSaved | EpisodesArchived


def item(event: SystemEvent) -> Item:
    """The event as it is appended."""
    return type(event).__name__, canonical(event)


def checkpoint_saved(record: Record, state: bytes) -> CheckpointSaved:
    """What vouches for ``state`` as the state after ``record``."""
    return CheckpointSaved(record.episode, record.version, record.hash.hex(), sha256(state).hexdigest())


def episodes_archived(file: str, digest: str, episodes: Sequence[Archive]) -> EpisodesArchived:
    """What vouches for an archive."""
    return EpisodesArchived(file, digest, tuple(episodes))
