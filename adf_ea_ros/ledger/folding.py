"""From records, which mean nothing to a ledger, to the state of the authority, which is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adf_ea_ros.authority.events import decode_event
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.state import State
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.store import Ledger

ENDED = frozenset({"completed", "stopped"})


def fold_records(episode: str, records: Iterable[Record]) -> State:
    """The state of an episode after these records, which begin with its first."""
    state = State(episode=episode)
    for record in records:
        state = fold(state, decode_event(record.payload))
    return state


def settled_episodes(ledger: Ledger) -> Iterator[str]:
    """The episodes that have ended and have no attempt whose outcome or interaction is open."""
    for episode in ledger.episodes():
        state = fold_records(episode, ledger.read(episode))
        if state.phase in ENDED and not state.execution and not state.lingering:
            yield episode
