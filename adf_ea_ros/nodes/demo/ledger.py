"""What the demo reads back from the ledger file after all processes have ended."""

from __future__ import annotations

from adf_ea_ros.authority.events import AnyEvent, decode_event
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.runtime.book import OFFICE


def episode_name(ledger: SqlLedger) -> str:
    """The episode of the demo: its ledger holds one; empty where none was begun."""
    return next((name for name in ledger.episodes() if name != OFFICE), "")


def episode_records(ledger: SqlLedger) -> list[Record]:
    """Its records, each checked against the chain as it is read."""
    name = episode_name(ledger)
    return list(ledger.read(name)) if name else []


def episode_events(ledger: SqlLedger) -> list[AnyEvent]:
    """Its events."""
    return [decode_event(record.payload) for record in episode_records(ledger)]
