"""What the rqt plugin shows, as values and text: a table of decisions, the detail of one, a tree of episodes.

No Qt and no ROS: it reads Decision and Episode messages, or anything with the same fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from adf_ea_ros.cli.watch_view import (
    OUTCOME,
    VERDICTS,
    DecisionView,
    EpisodeView,
    budgets,
    clock,
    codes,
    short,
    subject,
    verdict_word,
)

COLUMNS = ("Time", "Decision", "Request", "Rules and reasons", "In words", "Left")
LEFT = "physical requests / observations left"
GOOD, OPEN, BAD, PLAIN = "good", "open", "bad", ""
"""How something stands: as it should, undecided, not as it should, or nothing to say."""
KINDS = {1: "goal", 2: "outcome", 3: "state"}
"""What can be owed, by the numbers of ``msg/Obligation``."""
_NAMES = 50  # episodes that are remembered


class Owed(msgspec.Struct, frozen=True):
    """Something that an episode owes."""

    kind: str
    text: str
    settled: bool
    needed_by: tuple[str, ...] = ()


class Known(msgspec.Struct, frozen=True):
    """What current evidence says about a condition."""

    condition: str
    verdict: str
    negative: bool
    valid_until: int
    reasons: tuple[str, ...] = ()


class Proof(msgspec.Struct, frozen=True):
    """A certificate."""

    condition: str
    attempt: str
    live: bool
    revoked: str


class Case(msgspec.Struct, frozen=True):
    """One episode with all that is shown of it."""

    view: EpisodeView
    planner: str = ""
    owed: tuple[Owed, ...] = ()
    known: tuple[Known, ...] = ()
    proofs: tuple[Proof, ...] = ()
    feedback: str = ""

    @classmethod
    def of(cls, message: Any) -> Case:
        """From an Episode message."""
        return cls(
            view=EpisodeView.of(message),
            planner=message.planner,
            owed=tuple(
                Owed(KINDS.get(o.kind, "?"), _owed_text(o), o.settled, tuple(o.needed_by))
                for o in message.obligations
            ),
            known=tuple(
                Known(
                    f.condition,
                    VERDICTS.get(f.verdict, "?"),
                    f.negative,
                    _ns(f.valid_until),
                    tuple(f.reasons),
                )
                for f in message.facts
            ),
            proofs=tuple(Proof(c.condition, c.attempt, c.live, c.revoked) for c in message.certificates),
            feedback=message.feedback,
        )


class Cases:
    """The episodes that were heard of, the newest last."""

    def __init__(self) -> None:
        self._by_name: dict[str, Case] = {}

    def add(self, case: Case) -> bool:
        """Take up the newest state of an episode; whether the episode is new here."""
        new = self._by_name.pop(case.view.id, None) is None
        self._by_name[case.view.id] = case
        if len(self._by_name) > _NAMES:
            del self._by_name[next(iter(self._by_name))]
        return new

    def clear(self) -> None:
        """Forget all."""
        self._by_name.clear()

    def get(self, name: str) -> Case | None:
        """The episode of this name."""
        return self._by_name.get(name)

    @property
    def names(self) -> list[str]:
        """By name."""
        return sorted(self._by_name)

    @property
    def listed(self) -> list[Case]:
        """Active ones first, then by the time of the last word."""
        return sorted(self._by_name.values(), key=lambda c: (c.view.phase != "active", -c.view.time))


class Branch(msgspec.Struct, frozen=True):
    """A line of the tree."""

    text: str
    note: str = ""
    standing: str = PLAIN
    below: tuple[Branch, ...] = ()


def cells(decision: DecisionView) -> tuple[str, ...]:
    """The row of a decision, as ``COLUMNS``."""
    return (
        clock(decision.time),
        verdict_word(decision)[0],
        subject(decision),
        codes(decision),
        short(decision.sentence, decision.episode),
        f"{decision.physical}/{decision.observation}",
    )


def standing(decision: DecisionView) -> str:
    """How a decision is to be marked."""
    if decision.request == "Assess":
        return GOOD if decision.authorized else BAD if decision.negative else OPEN
    if decision.request == "Halt":
        return BAD
    return GOOD if decision.authorized else BAD


def detail(decision: DecisionView, case: Case | None) -> str:
    """Everything about a decision, and how its episode stands now: owed, known, accepted next."""
    word = verdict_word(decision)[0]
    lines = [
        f"{word}: {subject(decision)}",
        short(decision.sentence, decision.episode),
        "",
        f"rules {', '.join(decision.rules) or 'none'}; reasons {', '.join(decision.reasons) or 'none'}",
        f"{clock(decision.time)}, decision {decision.id}, generation {decision.generation}",
        budgets(decision),
    ]
    if decision.attempt:
        verdict = VERDICTS.get(decision.verdict) or "no verdict yet"
        lines.append(f"attempt {decision.attempt}: {verdict}{_shown_absent(negative=decision.negative)}")
    lines += _section("Accepted next, as told with it", [short(n, decision.episode) for n in decision.next])
    if case is not None:
        at = clock(case.view.time)
        lines += ["", f"The episode at {at}: {case.view.phase}"]
        lines += _section("Owed", [_owed_line(o, case) for o in case.owed if not o.settled])
        lines += _section("Known", [f"{k.condition}: {_known_note(k)}" for k in case.known])
        lines += _section("In the authority's words", case.feedback.splitlines())
    return "\n".join(lines).rstrip() + "\n"


def tree(cases: Sequence[Case]) -> list[Branch]:
    """Episodes, with their steps, what is owed, proofs and facts."""
    return [_episode(case) for case in cases]


def _episode(case: Case) -> Branch:
    view = case.view
    left = f"{view.physical} physical, {view.observation} observations left"
    note = f"halted: {view.halted}" if view.halted else f"{view.phase}, {left}"
    mark = {"completed": GOOD, "active": OPEN}.get(view.phase, PLAIN)
    below = [Branch(view.task, f"planner {case.planner or 'not named'}")]
    steps = [
        Branch(
            f"{step.id}: {step.capability}",
            " ".join(filter(None, (step.state or "not begun", step.provider and f"on {step.provider}"))),
            GOOD if step.verified else OPEN if step.state else PLAIN,
        )
        for step in view.steps
    ]
    owed = [
        Branch(
            f"{o.kind}: {short(o.text, view.id)}",
            "settled" if o.settled else f"for {', '.join(o.needed_by)}" if o.needed_by else "open",
            GOOD if o.settled else BAD if o.kind == "state" else OPEN,
        )
        for o in case.owed
    ]
    proofs = [
        Branch(
            proof.condition,
            "live" if proof.live else f"revoked: {proof.revoked}" if proof.revoked else "not live",
            GOOD if proof.live else BAD,
        )
        for proof in case.proofs
    ]
    facts = [
        Branch(
            known.condition,
            _known_note(known),
            GOOD if known.verdict == "SATISFIED" else BAD if known.negative else OPEN,
        )
        for known in case.known
    ]
    for title, branches in (("Steps", steps), ("Obligations", owed), ("Proofs", proofs), ("Facts", facts)):
        if branches:
            below.append(Branch(f"{title} ({len(branches)})", below=tuple(branches)))
    return Branch(view.id, note, BAD if view.halted else mark, tuple(below))


def _owed_text(obligation: Any) -> str:
    """A goal or a state by its condition; an outcome by its attempt too: several may be of one condition."""
    if obligation.kind == OUTCOME and obligation.condition:
        return f"{obligation.id}, {obligation.condition}"
    return str(obligation.condition or obligation.id)


def _owed_line(owed: Owed, case: Case) -> str:
    needed = f", needed by {', '.join(owed.needed_by)}" if owed.needed_by else ""
    return f"{owed.kind}: {short(owed.text, case.view.id)}{needed}"


def _known_note(known: Known) -> str:
    until = f", until {clock(known.valid_until)}" if known.valid_until else ""
    why = f" ({', '.join(known.reasons)})" if known.reasons else ""
    return f"{known.verdict}{_shown_absent(negative=known.negative)}{until}{why}"


def _shown_absent(*, negative: bool) -> str:
    return ", shown absent" if negative else ""


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _ns(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
