"""What probably happened to a record that is not as it was written, said as exactly as the ledger allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adf_ea_ros.ledger.record import Record, recompute, record_hash
from adf_ea_ros.ledger.store import Finding

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs one statement (see ``statements``) and gives its rows."""

RESTORE = "Do not dispatch from this ledger; keep the file, and restore a backup or export what is sound"
ACCEPT = (
    "Restore the newest copy; if there is none, `adf-ea ledger accept` takes the ledger as it is, under your "
    "name, and what was lost must be settled by looking at the equipment"
)

_SEARCH = 10_000  # versions tried when looking for where a displaced record was written
_TWIN = "SELECT episode, version FROM event WHERE hash = ? AND position <> ? LIMIT 1"


def not_as_written(query: Query, record: Record) -> Finding:
    """The finding on a record that does not fit its own hash, or not the record before it."""
    code, meaning = _diagnose(query, record)
    return Finding(code, meaning, RESTORE, record.episode, record.version, record.position)


def _diagnose(query: Query, record: Record) -> tuple[str, str]:
    twin = query(_TWIN, (record.hash, record.position))
    if twin:
        return "copied", f"a copy of {twin[0][0]} version {twin[0][1]} stands in the place of the record"
    if record.hash == recompute(record):
        return "foreign", "the record does not continue its episode: it or its predecessor was exchanged"
    for version in range(1, _SEARCH):
        if _hash_as(record, version) == record.hash:
            return "reordered", f"what stands here was written as version {version}: records were exchanged"
    return "edited", "the record is not what was written: something in it was changed afterwards"


def _hash_as(record: Record, version: int) -> bytes:
    return record_hash(
        record.previous,
        record.episode,
        version,
        generation=record.generation,
        time=record.time,
        kind=record.kind,
        payload=record.payload,
    )
