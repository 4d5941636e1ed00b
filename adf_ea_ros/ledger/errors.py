"""What a ledger refuses, why, and what a person can do about it.

Every one of these is a refusal: the caller must grant nothing on it. ``str(error)`` is one or two sentences
for an operator; the parts are attributes for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adf_ea_ros.ledger.store import Finding, Holder


_AFTER_DAMAGE = (
    "Nothing more is granted or written; `adf-ea ledger verify` lists what is wrong, "
    "`adf-ea ledger export --sound` saves what is not"
)


class LedgerError(Exception):
    """Base of all refusals: what happened, and what to do."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        """Both are full sentences without the last full stop."""
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{reason}. {remedy}." if remedy else f"{reason}.")


class ConcurrentAppend(LedgerError):
    """The episode is not at the version that the decision was based on: decide again on what is there now."""

    def __init__(self, episode: str, expected: int, found: int) -> None:
        """``found`` is the version that the episode is at."""
        self.episode = episode
        self.expected = expected
        self.found = found
        super().__init__(
            f"episode {episode!r} is at version {found}, the append expected version {expected}",
            "Read what was appended in between and decide again",
        )


class LedgerUnavailable(LedgerError):
    """The store cannot be reached or cannot write now: full, locked, read-only, restarted.

    ``in_doubt``: the commit was under way, and it is not known here whether it took place. The same call to
    ``append`` may be repeated: it returns the records that are already there, or writes them.
    """

    def __init__(self, reason: str, remedy: str = "", *, in_doubt: bool = False) -> None:
        """See the class."""
        self.in_doubt = in_doubt
        super().__init__(reason, remedy)


class LedgerDamaged(LedgerError):
    """What is stored is not what was written. ``findings`` names the places where that is known."""

    def __init__(self, reason: str, remedy: str = "", findings: tuple[Finding, ...] = ()) -> None:
        """See the class."""
        self.findings = findings
        super().__init__(reason, remedy or _AFTER_DAMAGE)


class LedgerTooNew(LedgerError):
    """The ledger was written by a later version of this program."""


class NotTheWriter(LedgerError):
    """Another process is, or has become, the one writer; ``holder`` says which, where that is known."""

    def __init__(self, reason: str, remedy: str = "", holder: Holder | None = None) -> None:
        """See the class."""
        self.holder = holder
        super().__init__(reason, remedy)


class LeaseHeld(LedgerError):
    """Another ledger of the shared store holds a subject: decide again, knowing that."""

    def __init__(self, subject: str) -> None:
        """``subject`` is what was to be taken."""
        self.subject = subject
        super().__init__(f"{subject!r} is held by another authority", "Decide again on who holds it")


class EpisodeArchived(LedgerError):
    """The episode's records were moved to a file, and the episode takes no more."""

    def __init__(self, episode: str, file: str) -> None:
        """``file`` is the name that was recorded when the episode was archived."""
        self.episode = episode
        self.file = file
        super().__init__(f"episode {episode!r} was archived to {file}", "Read that file instead")
