"""One row of the ledger, and the two hash chains it stands in.

Every record is bound twice. The *episode chain* (``previous``, ``hash``) runs through the versions of one
episode and lets an episode be checked alone, also after it was archived. The *ledger chain* (``position``,
``link``) runs through all records in the order in which they were committed, so that a missing, moved or
exchanged record is found even where its own episode looks whole. Both start from values that depend on the
random id of the ledger: a record of another ledger never fits.

The hashes use no secret. What they can show, and what they cannot, is said in ``doc/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from struct import pack
from typing import Any

import msgspec

from adf_ea_ros.contracts.conditions import Ns

SYSTEM = "@ledger"
"""The episode in which the ledger records its own affairs: writers, checkpoints, archives."""

HASH_SIZE = 32
NAME_LIMIT = 200

_RECORD = b"adf_ea_ros/ledger/1/record\n"
_LINK = b"adf_ea_ros/ledger/1/link\n"
_ROOT = b"adf_ea_ros/ledger/1/root\n"
_EPISODE = b"adf_ea_ros/ledger/1/episode\n"

Item = tuple[str, bytes]
"""What a caller wants appended: the kind of the event, and its payload as canonical JSON."""


class Record(msgspec.Struct, frozen=True):
    """One committed event.

    ``time`` is ROS time in nanoseconds as the caller gave it. ``generation`` counts the starts of a writer.
    ``payload`` is opaque to the ledger; by convention canonical JSON (see ``canonical``).
    """

    episode: str
    version: int  # 1, 2, 3, ... without gaps within the episode
    generation: int
    time: Ns
    kind: str
    payload: bytes
    previous: bytes  # hash of the record before it in the episode; of version 1: the episode's root
    hash: bytes
    position: int  # 1, 2, 3, ... without gaps within the ledger
    link: bytes


def canonical(value: Any) -> bytes:
    """The one JSON spelling of ``value``: sorted keys, no spaces, UTF-8. Accepts what msgspec encodes."""
    return msgspec.json.encode(value, order="sorted")


def ledger_root(ledger: bytes) -> bytes:
    """Where the ledger chain of the ledger with this id begins."""
    return sha256(_ROOT + ledger).digest()


def episode_root(ledger: bytes, episode: str) -> bytes:
    """Where the chain of one episode of this ledger begins."""
    return sha256(_EPISODE + ledger + episode.encode()).digest()


def record_hash(
    previous: bytes, episode: str, version: int, *, generation: int, time: Ns, kind: str, payload: bytes
) -> bytes:
    """Hash of one record's content and of the record before it.

    The encoding has no two readings: a head of fixed size carries the lengths, then the three texts follow.
    """
    name, word = episode.encode(), kind.encode()
    head = pack(">6q", version, generation, time, len(name), len(word), len(payload))
    return sha256(b"".join((_RECORD, previous, head, name, word, payload))).digest()


def link_hash(link: bytes, position: int, record: bytes) -> bytes:
    """The ledger chain's value at ``position``, from the value before it and the record's hash."""
    return sha256(b"".join((_LINK, link, pack(">q", position), record))).digest()


def recompute(record: Record) -> bytes:
    """What ``record.hash`` must be, given the rest of the record."""
    return record_hash(
        record.previous,
        record.episode,
        record.version,
        generation=record.generation,
        time=record.time,
        kind=record.kind,
        payload=record.payload,
    )


def extend(
    items: Iterable[Item],
    *,
    episode: str,
    version: int,
    previous: bytes,
    position: int,
    link: bytes,
    time: Ns,
    generation: int,
) -> list[Record]:
    """The records that ``items`` become behind the given heads of the two chains."""
    records = []
    for kind, payload in items:
        version += 1
        position += 1
        value = record_hash(
            previous, episode, version, generation=generation, time=time, kind=kind, payload=payload
        )
        link = link_hash(link, position, value)
        records.append(
            Record(episode, version, generation, time, kind, payload, previous, value, position, link)
        )
        previous = value
    return records


def check_items(episode: str, items: Sequence[Item]) -> None:
    """Raise ValueError unless names and payloads are of a form that every backend stores unchanged."""
    check_name("episode", episode)
    if not items:
        raise ValueError("there is nothing to append")
    for kind, payload in items:
        check_name("kind", kind)
        if type(payload) is not bytes:
            raise ValueError(f"the payload of a {kind} must be bytes, not {type(payload).__name__}")


def check_name(what: str, name: str) -> None:
    """Raise ValueError unless ``name`` is printable text of at most NAME_LIMIT characters."""
    if not (0 < len(name) <= NAME_LIMIT and name.isprintable()):
        raise ValueError(f"{name!r} cannot be the name of an {what}: 1 to {NAME_LIMIT} printable characters")
