"""The tables of a ledger, as steps from each version of the schema to the next.

A ledger says which version it has. An older one is brought up step by step when it is opened for writing; a
newer one is refused, because an older program cannot know what it would overlook.

The history itself, the table ``event``, is guarded by triggers against changes by accident: a stray UPDATE or
DELETE in a database shell fails. The guard is no protection against intent; the hash chains show that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlite_utils

VERSION = 1
"""The schema version that this program writes."""

APPLICATION_ID = (
    0x41444645  # "ADFE" in the header of an SQLite file, so that `file` and we can tell what it is
)


_TRIGGER = """
CREATE TRIGGER event_no_{name} BEFORE {verb} ON event
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'archiving')
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END
"""
_HISTORY = """
SELECT position, episode, version, generation, datetime(time / 1000000000, 'unixepoch') AS time, kind,
       CAST(payload AS TEXT) AS payload, lower(hex(hash)) AS hash
FROM event
"""


def _sqlite_1(db: sqlite_utils.Database) -> None:
    db.table("meta").create({"key": str, "value": str}, pk="key", not_null={"value"}, strict=True)
    event = db.table("event").create(
        {
            "position": int,
            "episode": str,
            "version": int,
            "generation": int,
            "time": int,
            "kind": str,
            "payload": bytes,
            "previous": bytes,
            "hash": bytes,
            "link": bytes,
        },
        pk="position",
        not_null={"episode", "version", "generation", "time", "kind", "payload", "previous", "hash", "link"},
        strict=True,
    )
    event.create_index(["episode", "version"], unique=True)
    db.table("lease").create(
        {"id": int, "generation": int, "name": str, "pid": int, "host": str, "since": str, "released": int},
        pk="id",
        strict=True,
    )
    db.table("checkpoint").create(
        {"episode": str, "version": int, "hash": bytes, "state": bytes, "position": int},
        pk="episode",
        not_null={"version", "hash", "state", "position"},
        strict=True,
    )
    db.table("stub").create({"position": int, "hash": bytes}, pk="position", not_null={"hash"}, strict=True)
    db.table("archive").create(
        {"episode": str, "version": int, "hash": bytes, "file": str, "position": int},
        pk="episode",
        not_null={"version", "hash", "file", "position"},
        strict=True,
    )
    for verb in ("UPDATE", "DELETE"):
        db.execute(_TRIGGER.format(verb=verb, name=verb.lower()))
    # For people with a database shell: texts instead of bytes.
    db.create_view("history", _HISTORY)


SQLITE: dict[int, Callable[[sqlite_utils.Database], None]] = {1: _sqlite_1}
"""What makes each version out of the one before it."""


_POSTGRES_1 = """
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE event (
    position bigint PRIMARY KEY,
    episode text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    generation bigint NOT NULL,
    time bigint NOT NULL,
    kind text NOT NULL,
    payload bytea NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    link bytea NOT NULL,
    UNIQUE (episode, version)
);
CREATE TABLE lease (
    id bigint PRIMARY KEY, generation bigint, name text, pid bigint, host text, since text, released bigint
);
CREATE TABLE checkpoint (
    episode text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, hash bytea NOT NULL, state bytea NOT NULL,
    position bigint NOT NULL
);
CREATE TABLE stub (position bigint PRIMARY KEY, hash bytea NOT NULL);
CREATE TABLE archive (
    episode text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, hash bytea NOT NULL, file text NOT NULL,
    position bigint NOT NULL
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM meta WHERE key = 'archiving') THEN
        RAISE EXCEPTION 'the ledger is append-only';
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER event_no_change BEFORE UPDATE OR DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE VIEW history AS
    SELECT position, episode, version, generation, to_timestamp(time / 1e9) AS time, kind,
           convert_from(payload, 'UTF8') AS payload, encode(hash, 'hex') AS hash FROM event;
"""

POSTGRES: dict[int, str] = {1: _POSTGRES_1}
"""The same for PostgreSQL."""


def steps(found: int, known: dict[int, Any]) -> list[int]:
    """Which versions are still to be made, in order, from the version ``found`` (0: no tables yet)."""
    return [version for version in sorted(known) if version > found]
