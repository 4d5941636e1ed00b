"""Whether a physical request is legal when it is made: the shared policy of the study, from events alone.

Legal iff the provider is there, the task's budget is not spent, every precondition is shown to hold now, and
the request is one of: a first call; a retry of a call whose effect is shown to be absent, within the
contract's retry allowance; a repair of an effect that was shown and is now shown to be gone. Whatever else
repeats a call is improper.
"""

from __future__ import annotations

from typing import NamedTuple

from studies.inputs import Action
from studies.scorer.ledger import Account


class Ruling(NamedTuple):
    """``faults`` is empty for a legal request; ``sort`` is first, retry or repair, or improper for a bad
    repeat.
    """

    sort: str
    faults: tuple[str, ...]

    @property
    def legal(self) -> bool:
        """Nothing speaks against it."""
        return not self.faults


def rule(account: Account, action: Action, provider: str) -> Ruling:
    """The ruling on a request at the account's time."""
    faults = []
    if provider in account.gone:
        faults.append("unavailable")
    if provider not in action.providers:
        faults.append("provider")
    if len(account.calls) >= account.task.physical:
        faults.append("budget")
    faults += ["precondition"] if any(account.known(need) is not True for need in action.needs) else []
    sort = _sort(account, action, provider)
    if sort == "improper":
        faults.append("repeat")
    return Ruling(sort, tuple(faults))


def _sort(account: Account, action: Action, provider: str) -> str:
    before = account.previous(action)
    if before is None:
        return "first"
    shown = account.outcome(before)
    if shown is False:
        spent = account.retries.get(action.key, 0)
        moved = provider != before.provider and provider not in before.action.rebind.get(before.provider, ())
        allowed = action.retry_allowed and not moved and spent < min(action.retries, before.action.retries)
        return "retry" if allowed else "improper"
    if shown is True and any(account.known(wanted) is False for wanted in action.sets):
        return "repair" if action.repair_allowed and before.action.repair_allowed else "improper"
    return "improper"
