"""Which leases change hands with a decision (rule X10), derived from the states before and after it.

The store has what is held; the states say what should be. A lease goes with the attempt that took it: it is
taken in the transaction that writes the attempt, and given back in the one that writes what settles it.
"""

from __future__ import annotations

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.rules.x10_lease import holds
from adf_ea_ros.authority.state import State
from adf_ea_ros.ledger.store import Exchange, Ledger

Held = dict[str, tuple[str, ...]]
"""Subjects by attempt."""


class Leases:
    """What the open attempts of one authority hold. Empty as long as nothing is shared."""

    def __init__(self) -> None:
        """Nothing is held."""
        self._held: dict[str, Held] = {}

    @property
    def held(self) -> dict[str, str]:
        """Attempts by the subject that they hold."""
        pairs = [pair for each in self._held.values() for pair in each.items()]
        return {subject: attempt for attempt, subjects in pairs for subject in subjects}

    def exchange(self, episode: str, decision: Decision) -> Exchange | None:
        """What must change hands for the decision to become real; nothing in most cases."""
        attempt = decision.attempt
        take = attempt.leases if attempt is not None else ()
        had = self._held.get(episode, {})
        if not take and not had:
            return None
        after = holds(decision.after)
        others = [held for name, held in self._held.items() if name != episode]
        free = _subjects(had) - _subjects(after, *others)
        if not take and not free:
            return None
        return Exchange(attempt.id if attempt is not None else "", take, tuple(sorted(free)))

    def keep(self, episode: str, state: State) -> None:
        """Note what an episode holds from now on."""
        held = holds(state)
        if held:
            self._held[episode] = held
        else:
            self._held.pop(episode, None)

    def discrepancies(self, ledger: Ledger) -> list[str]:
        """After a start: where store and states do not agree, in words for an operator."""
        mine = self.held
        own = {lease.subject: lease.attempt for lease in ledger.own_leases()}
        found = []
        for subject, attempt in mine.items():
            why = ledger.lost_lease(subject, attempt) if subject not in own else ""
            if why:
                found.append(f"{subject}: attempt {attempt} is open, but holds it no more: {why}")
        found += [
            f"{subject}: held for {attempt}, of which nothing is open here: see to the equipment, and then "
            f"release it with adf-ea ledger release"
            for subject, attempt in own.items()
            if subject not in mine
        ]
        return found


def _subjects(*held: Held) -> set[str]:
    return {subject for each in held for subjects in each.values() for subject in subjects}
