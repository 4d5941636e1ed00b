"""A history for the tests that change it behind its back, and what they ask of it then."""

from __future__ import annotations

import pytest

from adf_ea_ros.ledger.errors import LedgerDamaged
from adf_ea_ros.ledger.record import canonical


def event(episode, n):
    key = "heat" if n % 2 else "measure"
    return ("Dispatched", canonical({"type": "Dispatched", "key": f"{episode}/{key}", "n": n}))


def fill(ledger, start, end):
    for n in range(start, end + 1):
        for episode in ("a", "b"):
            ledger.append(episode, n - 1, [event(episode, n)], time=n, generation=ledger.generation)


def row(backend, episode, version):
    with backend.open(read_only=True) as ledger:
        return next(r for r in ledger.read(episode) if r.version == version)


def refused(backend):
    """Nobody may write; the findings are those that say why."""
    with pytest.raises(LedgerDamaged) as refusal:
        backend.open().open_writer("a successor")
    assert refusal.value.remedy
    return refusal.value.findings


def found(backend):
    with backend.open(read_only=True) as ledger:
        result = ledger.verify()
    assert not result.ok
    for finding in result.findings:
        assert finding.meaning
        assert finding.remedy
    return {(f.code, f.episode, f.version) for f in result.findings}


def unreadable(backend, episode, version):
    """Folding the episode stops before the record, so that no state comes of it."""
    with backend.open(read_only=True) as ledger:
        seen = []
        with pytest.raises(LedgerDamaged) as damage:
            seen.extend(r.version for r in iter_into(seen, ledger.read(episode)))
        assert f"{episode} version {version}" in str(damage.value)
        assert len(seen) == version - 1


def iter_into(seen, records):
    for record in records:
        seen.append(record.version)
    return ()


def put(content, place):
    """The statement that writes one record's content where another one stands."""
    columns = ("generation", "time", "kind", "payload", "previous", "hash", "link")
    return (
        f"UPDATE event SET {' = ?, '.join(columns)} = ? WHERE position = ?",
        (*(getattr(content, name) for name in columns), place.position),
    )
