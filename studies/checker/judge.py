"""The judge: decisions in, violations out. It reads events as plain JSON values and asks a record of the
world.

It never imports the code that it judges. A decision is its ``Decided`` event and everything up to the next
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studies.checker.approving import check_given, check_withdrawn
from studies.checker.books import Books
from studies.checker.completion import check_completion
from studies.checker.conditions import Json, fact, holds
from studies.checker.dispatching import check_dispatch
from studies.checker.inheriting import check_handed_over, check_heir
from studies.checker.progress import check_certified, check_end, check_settled, needed_for
from studies.checker.properties import Violation
from studies.checker.world import World

_RECORDS = {
    "Report": {"Reported"},
    "Reconcile": {"Reported"},
    "Restart": {"Restarted"},
    "SetAvailability": {"AvailabilityChanged", "CancelRequested"},
    "Halt": {"Halted", "CancelRequested"},
    "Resume": {"Resumed"},
    "Stop": {"Stopped"},
    "Begin": {"EpisodeStarted"},
    "Approve": {"Approved"},
    "Withdraw": {"ApprovalWithdrawn"},
    "Revise": {
        "ProposalAdmitted",
        "StateSettled",
        "FactsChecked",
        "Revoked",
        "StateOwed",
        "PreservationBroken",
        "Certified",
    },
}
_GRANTS = {
    "Dispatched": "Dispatch",
    "Completed": "Claim",
    "ObservationSpent": "Observe",
    "ProposalAdmitted": "Revise",
    "Stopped": "Stop",
    "EpisodeStarted": "Begin",
    "Restarted": "Restart",
    "Approved": "Approve",
    "ApprovalWithdrawn": "Withdraw",
}
_LATE = {"Report", "Reconcile", "Restart", "Begin"}


class Judge:
    """Judges a history decision by decision; ``fork`` lets an exploration branch."""

    def __init__(self, before: Judge | None = None) -> None:
        """Nothing has happened. ``before``: of the standing episode that goes on in this one (C26)."""
        self.books: Books = Books(before.books if before is not None else None)

    def fork(self) -> Judge:
        """An independent judge of the same past."""
        other = Judge.__new__(Judge)
        other.books = self.books.fork()
        return other

    def decision(self, events: Sequence[Json], world: World) -> list[Violation]:
        """Judge one decision against the world as it is and was at its time."""
        first, books = events[0], self.books
        if first["type"] != "Decided":
            return [Violation("C20", f"{first['type']} stands outside any decision")]
        now = first["time"]
        found = self._opening(first)
        before = books.fork()
        new: list[Json] = []
        lost: list[Json] = []
        for event in events[1:]:
            found += self._structure(first, event)
            if (
                isinstance(event.get("attempt"), str)
                and event["attempt"] not in {"", *books.trials} - books.past
            ):
                found.append(
                    Violation("C20", f"{event['type']} on {event['attempt']}, which was never dispatched")
                )
                continue
            if event["type"] == "Revoked" and event["certificate"] not in books.certificates:
                found.append(Violation("C20", f"{event['certificate']} is revoked, and was never granted"))
                continue
            found += self._event(event, first, new, world)
            if event["type"] == "Revoked" and (needed := needed_for(books, event["certificate"])) is not None:
                lost.append(needed)
            books.apply(event, now)
            if event["type"] == "EpisodeStarted":
                found += check_heir(books, event, world, now)
            new.append(event)
        books.apply(first, now)
        if sum(event["type"] == "Dispatched" for event in new) > 1:
            found.append(Violation("C20", "more than one dispatch in one decision"))
        if first["request"] == "Begin" and first["authorized"] and before.phase:
            found.append(Violation("C20", "the episode began twice"))
        return found + check_end(before, books, new, lost, now) + _allowances(before, books, new)

    def _event(self, event: Json, first: Json, new: list[Json], world: World) -> list[Violation]:
        """The checks of one event's own kind, by the books just before it."""
        kind, books, now = event["type"], self.books, first["time"]
        if kind == "Dispatched":
            return check_dispatch(books, event["attempt"], first, world, now) + check_handed_over(books)
        if kind == "Certified":
            return check_certified(books, event["certificate"], new, world, now)
        if kind == "StateSettled":
            return check_settled(books, event, new)
        if kind == "Completed":
            return check_completion(books, event, world, now)
        if kind == "Approved":
            return check_given(books, event["approval"], now)
        if kind == "ApprovalWithdrawn":
            return check_withdrawn(books, event)
        if kind == "ObservationSpent":
            return _observation(books, event, now)
        if kind == "Restarted" and event["generation"] <= books.generation:
            return [Violation("C19", f"generation {event['generation']} after {books.generation}")]
        if kind in {"Assessed", "FactsChecked"}:
            return _honest(books, event, world, now)
        return []

    def _opening(self, first: Json) -> list[Violation]:
        number = f"{first['id'].rpartition(':')[2]}"
        if number != str(self.books.decisions + 1):
            return [Violation("C19", f"decision {first['id']} follows {self.books.decisions} decisions")]
        return []

    def _structure(self, first: Json, event: Json) -> list[Violation]:
        kind, request = event["type"], first["request"]
        found = []
        if kind not in _RECORDS.get(request, {kind}):
            found.append(Violation("C16", f"{kind} follows a {request}"))
        if kind in _GRANTS and not (first["authorized"] and request == _GRANTS[kind]):
            found.append(Violation("C20", f"{kind} follows a {request}, authorized: {first['authorized']}"))
        if kind in {"Dispatched", "Certified", "Completed", "ObservationSpent", "ProposalAdmitted"} and (
            self.books.phase != "active"
        ):
            found.append(Violation("C20", f"{kind} while the episode is {self.books.phase or 'not begun'}"))
        if self.books.phase != "active" and request not in _LATE:
            found.append(
                Violation("C20", f"{request} had an effect while the episode is {self.books.phase!r}")
            )
        return found


def judge(history: Iterable[Json], world: World, before: Judge | None = None) -> list[Violation]:
    """All violations of a finished history; ``before`` judged that of the episode that goes on in it."""
    one, found = Judge(before), []
    for decision in decisions(history):
        found += one.decision(decision, world)
    return found


def decisions(history: Iterable[Json]) -> list[list[Json]]:
    """The history cut before each ``Decided``."""
    parts: list[list[Json]] = []
    for event in history:
        if event["type"] == "Decided" or not parts:
            parts.append([])
        parts[-1].append(event)
    return parts


def _honest(books: Books, event: Json, world: World, now: int) -> list[Violation]:
    """C0 of every finding, and C22 of those on the present."""
    found = []
    for finding in event["findings"]:
        condition = finding["condition"]
        if finding["integrity"] or not (finding["verdict"] == "SATISFIED" or finding["negative"]):
            continue
        if finding["captured"] > now or not finding["basis"]:
            continue  # from the future, or of nothing: no evidence, and the books do not take it as such
        attempt = event.get("attempt", "")
        if _is_event(books, attempt, condition):
            true = world.happened(attempt, fact(condition), finding["captured"])
        else:
            true = holds(condition, world.value(fact(condition), finding["captured"]))
        if true is not (finding["verdict"] == "SATISFIED"):
            found.append(
                Violation("C0", f"{finding['requirement']} at {finding['captured']}: {finding['verdict']}")
            )
    return found


def _is_event(books: Books, attempt: str, condition: Json) -> bool:
    trial = books.trials.get(attempt)
    return trial is not None and any(
        e["kind"] == "event" and e["condition"] == condition for e in trial.operation["effects"]
    )


def _observation(books: Books, event: Json, now: int) -> list[Violation]:
    if books.observation < 1:
        return [Violation("C12", "an observation beyond the budget")]
    trial = books.trials.get(event["attempt"])
    if event["attempt"]:
        if trial is None or not trial.owed or trial.superseded:
            return [Violation("C21", f"attempt {event['attempt']} is not unresolved")]
        return []
    for node in books.nodes.values():
        operation = node["operation"]
        if books.established_now(operation["key"], operation):
            for effect in operation["effects"]:
                for requirement in effect["requirements"]:
                    found = books.found(requirement["id"], effect["condition"])
                    # UNSATISFIED alone is no knowledge: samples of another subject say nothing of this one.
                    if (
                        found is None
                        or not (found["verdict"] == "SATISFIED" or found["negative"])
                        or now > found["valid_until"]
                        or not found["basis"]
                    ):
                        return []
    return [Violation("C21", "everything established is known")]


def _allowances(before: Books, after: Books, new: list[Json]) -> list[Violation]:
    if any(event["type"] == "EpisodeStarted" for event in new):
        return []
    found = []
    spent = sum(event["type"] == "Dispatched" for event in new)
    looked = sum(event["type"] == "ObservationSpent" for event in new)
    if after.physical != before.physical - spent or after.physical < 0:
        found.append(
            Violation("C12", f"physical {before.physical} to {after.physical} for {spent} dispatches")
        )
    if after.observation != before.observation - looked or after.observation < 0:
        found.append(Violation("C12", f"observation {before.observation} to {after.observation}"))
    for key, account in after.accounts.items():
        old = before.accounts.get(key)
        if account.retries < 0 or (old is not None and account.retries > old.retries):
            found.append(Violation("C12", f"retry allowance of {key} is {account.retries}"))
    return found
