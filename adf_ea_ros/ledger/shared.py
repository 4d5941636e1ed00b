"""What the ledgers of one PostgreSQL database have in common: who writes which, and who holds what.

Each authority has a ledger of its own, in a schema of its own. Beside them stands one schema more, with three
tables: ``authority`` (one row a name: its ledger, its process), ``lease`` (one row a subject that is held)
and ``release`` (each lease that a person took from its holder: who and why; it is only added to).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from adf_ea_ros.ledger.errors import LeaseHeld
from adf_ea_ros.ledger.store import Exchange, Holder, Lease

SCHEMA = "adf_ea_ros_shared"
"""The PostgreSQL schema that the authorities of a database share."""
LEDGER_SCHEMA = "adf_ea_ros"
"""The PostgreSQL schema of the ledger of the authority ``/authority``; the others' names begin with it."""
NAME_BYTES = 63
"""What PostgreSQL keeps of a name; the rest falls away in silence."""

Run = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs one statement, with ``?`` for a value, and gives its rows."""

PREPARE = """
CREATE SCHEMA IF NOT EXISTS adf_ea_ros_shared;
CREATE TABLE IF NOT EXISTS adf_ea_ros_shared.authority (
    name text COLLATE "C" PRIMARY KEY, schema text NOT NULL, ledger text NOT NULL,
    pid bigint NOT NULL, host text NOT NULL, since text NOT NULL
);
CREATE TABLE IF NOT EXISTS adf_ea_ros_shared.lease (
    subject text COLLATE "C" PRIMARY KEY, ledger text NOT NULL, holder text NOT NULL,
    attempt text NOT NULL, since text NOT NULL
);
CREATE TABLE IF NOT EXISTS adf_ea_ros_shared.release (
    number bigserial PRIMARY KEY, subject text NOT NULL, ledger text NOT NULL, holder text NOT NULL,
    attempt text NOT NULL, since text NOT NULL, released text NOT NULL, by text NOT NULL, reason text NOT NULL
);
CREATE OR REPLACE FUNCTION adf_ea_ros_shared.moment() RETURNS text LANGUAGE sql AS $$
    SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
CREATE OR REPLACE FUNCTION adf_ea_ros_shared.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'releases are only added to';
END $$;
CREATE OR REPLACE TRIGGER release_no_change BEFORE UPDATE OR DELETE ON adf_ea_ros_shared.release
    FOR EACH ROW EXECUTE FUNCTION adf_ea_ros_shared.refuse_change();
"""
PRESENT = "SELECT to_regclass(?)::text"

_TAKE = """
INSERT INTO adf_ea_ros_shared.lease (subject, ledger, holder, attempt, since)
VALUES (?, ?, ?, ?, adf_ea_ros_shared.moment())
ON CONFLICT (subject) DO UPDATE SET attempt = excluded.attempt WHERE lease.ledger = excluded.ledger
RETURNING subject
"""
_FREE = "DELETE FROM adf_ea_ros_shared.lease WHERE subject = ? AND ledger = ?"
_HELD = """
SELECT subject, holder, attempt, since, ledger FROM adf_ea_ros_shared.lease
WHERE subject = ANY(?) ORDER BY subject
"""
_ALL_HELD = "SELECT subject, holder, attempt, since, ledger FROM adf_ea_ros_shared.lease ORDER BY subject"
_NOTE_WRITER = """
INSERT INTO adf_ea_ros_shared.authority (name, schema, ledger, pid, host, since) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET schema = excluded.schema, ledger = excluded.ledger, pid = excluded.pid,
    host = excluded.host, since = excluded.since
"""
_WRITER = "SELECT name, pid, host, since, schema FROM adf_ea_ros_shared.authority WHERE name = ?"
_WRITERS = "SELECT name, schema FROM adf_ea_ros_shared.authority ORDER BY name"
_RELEASE = """
WITH gone AS (DELETE FROM adf_ea_ros_shared.lease WHERE subject = ? RETURNING *)
INSERT INTO adf_ea_ros_shared.release (subject, ledger, holder, attempt, since, released, by, reason)
SELECT subject, ledger, holder, attempt, since, adf_ea_ros_shared.moment(), ?, ? FROM gone
RETURNING subject, holder, attempt, since, ledger
"""
_LAST_RELEASE = """
SELECT by, reason, released FROM adf_ea_ros_shared.release WHERE subject = ? AND attempt = ? AND ledger = ?
ORDER BY number DESC LIMIT 1
"""


def ledger_schema(authority: str) -> str:
    """The schema of an authority's ledger, where its URL names none: by the full name of its node.

    ``/authority`` has ``adf_ea_ros``, ``/robot1/authority`` has ``adf_ea_ros/robot1/authority``.
    """
    return LEDGER_SCHEMA if authority in ("", "/authority") else f"{LEDGER_SCHEMA}{authority}"


def lock_key(what: bytes) -> int:
    """The key of an advisory lock."""
    return int.from_bytes(what[:8], "big", signed=True)


def name_key(authority: str) -> int:
    """The key of the lock on an authority's name, which is its own across the database."""
    return lock_key(sha256(b"adf_ea_ros/authority\n" + authority.encode()).digest())


def note_writer(run: Run, holder: Holder, schema: str, ledger: str) -> None:
    """Record which ledger the authority of this name writes."""
    run(_NOTE_WRITER, (holder.name, schema, ledger, holder.pid, holder.host, holder.since))


def writer(run: Run, name: str) -> Holder:
    """Who has an authority's name, as far as was recorded."""
    rows = run(_WRITER, (name,))
    if not rows:
        return Holder(name, 0, "an unknown machine", "now")
    found, pid, host, since, schema = rows[0]
    return Holder(f"{found} with the ledger {schema}", pid, host, since)


def ledgers(run: Run) -> list[tuple[str, str]]:
    """(name, schema) of every authority that ever wrote in this database."""
    return [(row[0], row[1]) for row in run(_WRITERS, ())]


def leases(run: Run, subjects: Sequence[str] | None = None) -> list[Lease]:
    """Who holds these subjects, or any, in order of subject."""
    rows = run(_ALL_HELD, ()) if subjects is None else run(_HELD, (list(subjects),))
    return [Lease(*row) for row in rows]


def exchange(run: Run, ledger: str, holder: str, wanted: Exchange) -> None:
    """Take and give back, within the transaction of the records that say why.

    Raises:
        LeaseHeld: another ledger holds one of them; the transaction must be undone.
    """
    for subject in sorted(wanted.take):
        if not run(_TAKE, (subject, ledger, holder, wanted.attempt)):
            raise LeaseHeld(subject)
    for subject in sorted(wanted.free):
        run(_FREE, (subject, ledger))


def release(run: Run, subject: str, by: str, reason: str) -> Lease | None:
    """Take a lease from its holder, on a person's word; nothing where nobody holds it."""
    rows = run(_RELEASE, (subject, by, reason))
    return Lease(*rows[0]) if rows else None


def released(run: Run, subject: str, attempt: str, ledger: str) -> str:
    """Who took a lease from an attempt, and why; empty where nobody did."""
    rows = run(_LAST_RELEASE, (subject, attempt, ledger))
    by, reason, when = rows[0] if rows else ("", "", "")
    return f"{by} released it at {when}: {reason}" if rows else ""
