"""The episodes of one authority: their states in memory, their events in the ledger, always in that order.

A decision becomes real when its events are durable. Until then nothing of it is visible: not in the state,
not to a listener, not on a wire. If the append fails the decision is void.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import AnyEvent, decode_event, encode_event
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.model import Attempt
from adf_ea_ros.authority.rules.x11_standing import spent
from adf_ea_ros.authority.state import State, decode_state, encode_state
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger.errors import (
    ConcurrentAppend,
    LeaseHeld,
    LedgerDamaged,
    LedgerError,
    LedgerUnavailable,
)
from adf_ea_ros.ledger.store import Exchange, Ledger
from adf_ea_ros.runtime.leases import Leases

CHECKPOINT_EVERY = 4096
"""Least events between checkpoints of an episode: bounds what a restart folds, some 150,000 a second."""
CHECKPOINT_SHARE = 16
"""A long episode is checkpointed after this part of its events: one checkpoint writes the whole state, and
always after as many events would cost more with each of them."""

OFFICE = "authority"
"""The episode under which refusals that concern no episode are kept."""


def latest(ledger: Ledger) -> str:
    """The episode with the newest record; empty where there is none."""
    heads = ((name, ledger.head(name)) for name in ledger.episodes() if name != OFFICE)
    return max(heads, key=lambda pair: pair[1].position if pair[1] else 0, default=("", None))[0]


class Book:
    """States by episode. Not thread-safe: the caller serializes, since budgets are spent under one hand."""

    def __init__(self, ledger: Ledger, generation: int) -> None:
        """``generation`` is what ``ledger.open_writer`` returned."""
        self.ledger = ledger
        self.generation = generation
        self._states: dict[str, State] = {}
        self._stopped: dict[str, State] = {}  # with an outcome that nothing has settled
        self._saved: dict[str, int] = {}
        self._loaded = False
        self._unsaved: set[str] = set()  # whose checkpoint is due
        self.remedies: list[str] = []
        """What was found wrong and got over, in words for an operator."""
        self._doubt: tuple[str, Decision, Ns, Exchange | None] | None = None
        self.leases = Leases()
        self.fault = ""
        """Why the last decision could not be written; empty where it was."""

    def load(self) -> list[str]:
        """Fold every episode that is in the ledger; the names of those that are active.

        Raises:
            LedgerDamaged: a record is not as it was written. Nothing may be granted on such a ledger.
        """
        if self._loaded:
            return list(self.active())  # this is the one writer: nothing can have changed behind its back
        for episode in list(self.ledger.episodes()):
            head = self.ledger.head(episode)
            if head is not None and head.kind == "Completed":
                continue  # nothing of it is open: a restart costs nothing for what is done
            state = self._fold(episode)
            self.leases.keep(episode, state)
            if state.phase == "active" or episode == OFFICE:
                self._states[episode] = state
            elif state.execution:
                self._stopped[episode] = state
            else:
                self._saved.pop(episode)
        self._loaded = True
        self.remedies += self.leases.discrepancies(self.ledger)
        return list(self.active())

    def state(self, episode: str) -> State | None:
        """The state of an episode: from memory where it is active, folded from the ledger where it ended."""
        found = self._states.get(episode)
        if found is None and self.ledger.head(episode) is not None:
            found = self._fold(episode)
            self._saved.pop(episode)  # nothing is kept of what is over
        return found

    def active(self) -> dict[str, State]:
        """The active episodes."""
        return {name: state for name, state in self._states.items() if name != OFFICE}

    def unsettled(self, now: Ns) -> Iterator[tuple[str, State, Attempt]]:
        """Open attempts of every episode; those that owe nothing any more, or whose episode was stopped, for
        as long as they could take effect.
        """
        for name, state in self.active().items():
            for opened in state.execution:
                if not spent(state, state.attempts[opened], now):
                    yield name, state, state.attempts[opened]
            for opened in state.lingering:
                if state.attempts[opened].could_take_effect(now):
                    yield name, state, state.attempts[opened]
        for name, state in list(self._stopped.items()):
            still = [state.attempts[a] for a in state.execution if state.attempts[a].could_take_effect(now)]
            if not still:
                del self._stopped[name]
            for attempt in still:
                yield name, state, attempt

    def office(self) -> State:
        """The state under which refusals that concern no episode are counted."""
        return self._states.get(OFFICE, State(episode=OFFICE))

    def commit(self, episode: str, before: State, decision: Decision, now: Ns) -> None:
        """Append a decision's events durably, then let its state be the episode's.

        Raises:
            LeaseHeld: another authority has taken what the decision needs: decide again.
            LedgerError: not written; the decision is void and the state unchanged.
        """
        items = [(type(event).__name__, encode_event(event)) for event in decision.events]
        exchange = self.leases.exchange(episode, decision)
        try:
            self.ledger.append(
                episode, before.version, items, time=now, generation=self.generation, exchange=exchange
            )
        except LeaseHeld:
            raise
        except LedgerError as error:
            self.fault = str(error)
            if isinstance(error, LedgerUnavailable) and error.in_doubt:
                # It may have been written. Nothing else may be, until the same call says whether it was.
                self._doubt = (episode, decision, now, exchange)
            raise
        self.fault = ""
        self._keep(episode, decision.after)

    def settle(self) -> None:
        """Find out what became of an append whose outcome is not known. Call it before reading a state.

        Raises:
            LedgerError: it is still not known; nothing may be decided.
        """
        if self._doubt is None:
            return
        episode, decision, now, exchange = self._doubt
        items = [(type(event).__name__, encode_event(event)) for event in decision.events]
        before = decision.after.version - len(decision.events)
        try:
            self.ledger.append(
                episode, before, items, time=now, generation=self.generation, exchange=exchange
            )
        except ConcurrentAppend:
            if [(r.kind, r.payload) for r in self.ledger.read(episode, before)] != items:
                raise
        except LeaseHeld:  # so it was not written, and another authority was first
            self._doubt = None
            return
        self._doubt, self.fault = None, ""
        # The caller was told that this decision is void, so a dispatch in it was never sent; it is in the
        # ledger now and in flight for all anyone knows. Its deadline and the evidence will settle it.
        self._keep(episode, decision.after)

    def _keep(self, episode: str, state: State) -> None:
        self.leases.keep(episode, state)
        if state.phase == "active" or episode == OFFICE:
            self._states[episode] = state
        else:
            self._states.pop(episode, None)
            if state.execution:
                self._stopped[episode] = state
        if episode not in self._states and episode not in self._stopped:
            self._saved.pop(episode, None)
            self._unsaved.discard(episode)
        elif state.version - self._saved.get(episode, 0) >= max(
            CHECKPOINT_EVERY, state.version // CHECKPOINT_SHARE
        ):
            self._unsaved.add(episode)

    def tidy(self) -> None:
        """Save the checkpoints that are due, a few times a second.

        No decision waits for that, and none is void because it failed: a checkpoint saves time at the next
        start, and the records say the same.
        """
        for episode in sorted(self._unsaved):
            state = self._states.get(episode) or self._stopped.get(episode)
            if state is None or self._doubt is not None:
                continue
            try:
                self.ledger.save_checkpoint(episode, state.version, encode_state(state))
            except LedgerError as error:
                self.fault = str(error)
                return
            self._saved[episode] = state.version
            self._unsaved.discard(episode)
            self.fault = ""

    def _fold(self, episode: str) -> State:
        state = self._checkpoint(episode)
        start = state.version
        for event in self.events(episode, after=start):
            state = fold(state, event)
        self._saved[episode] = start
        return state

    def _checkpoint(self, episode: str) -> State:
        """Where a fold may begin: the last checkpoint, or nothing where that cannot be used.

        A checkpoint only saves time. Where it alone is damaged, the records say the same, each one checked.
        """
        try:
            found = self.ledger.load_checkpoint(episode)
            if found is None:
                return State(episode=episode)
            state = decode_state(found.state)
        except (LedgerDamaged, msgspec.MsgspecError) as error:
            why = str(error) if isinstance(error, LedgerDamaged) else f"not readable here: {error}"
            self.remedies.append(f"{episode}: the checkpoint was not used, all records were folded: {why}")
            self._unsaved.add(episode)
            return State(episode=episode)
        if state.episode != episode or state.version != found.version:
            self.remedies.append(f"{episode}: the checkpoint is one of {state.episode} {state.version}")
            self._unsaved.add(episode)
            return State(episode=episode)
        return state

    def events(self, episode: str, after: int = 0) -> Iterator[AnyEvent]:
        """The events of an episode behind version ``after``."""
        for record in self.ledger.read(episode, after):
            yield decode_event(record.payload)
