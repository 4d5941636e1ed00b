# ruff: noqa: ARG002, N802 - handlers are found by event name and all take the same arguments
"""The checker's own books: what a history of events adds up to, kept in plain values.

This repeats the bookkeeping of section 3.4 from its definitions, without the code that it judges.
Establishment
is kept by what an effect says, not by what a contract calls it, so that aliases share it whatever names
they use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from studies.checker.conditions import Fact, Json, fact, ident

ANSWERED = ("SUCCEEDED", "ABORTED", "CANCELED", "ONE_WAY")
NOT_EXECUTED = ("REJECTED", "NEVER_ACCEPTED")
SEPARATOR = "\x1f"
"""Stands between the subject and the path of a fact, where an event names one by one word."""
POSITIVE = "SATISFIED"


def effect_name(kind: str, condition: Json) -> str:
    """An effect by its meaning."""
    return f"{kind}:{ident(condition)}"


def finding_name(requirement: str, condition: Json) -> str:
    """A finding by what it is about."""
    return f"{requirement}@{ident(condition)}"


def usable(finding: Json, now: int) -> bool:
    """Decides its condition, without an integrity failure, on samples that are neither old nor from the
    future.
    """
    decided = finding["verdict"] == POSITIVE or (finding["verdict"] == "UNSATISFIED" and finding["negative"])
    sound = not finding["integrity"] and finding["horizon"] <= now and finding["captured"] <= now
    return bool(decided and sound and now <= finding["valid_until"] and finding["basis"])


def positive(finding: Json | None, now: int) -> bool:
    """Shows its condition to hold at ``now``."""
    return finding is not None and usable(finding, now) and finding["verdict"] == POSITIVE


def negative(finding: Json | None, now: int) -> bool:
    """Shows its condition to be false at ``now``."""
    return finding is not None and usable(finding, now) and finding["verdict"] != POSITIVE


@dataclass(frozen=True)
class Trial:
    """One attempt as the events tell of it. ``owed``: effects without a certificate, empty when settled."""

    id: str
    key: str
    node: str
    provider: str
    dispatched: int
    promises: Json
    operation: Json
    owed: tuple[str, ...]
    interaction: str = "DISPATCHED"
    ended: int = -1
    accepted: bool = False
    superseded: bool = False
    findings: tuple[tuple[str, Json], ...] = ()

    def may_act(self, now: int) -> bool:
        """Whether it may still change the world, by its interaction and its provider's promises."""
        if self.interaction in NOT_EXECUTED:
            return False
        if self.interaction in ANSWERED and self.promises["final_on_result"]:
            return False
        bound = int(self.promises["commit_bound"])
        return bound < 0 or now < self.dispatched + bound

    def quiet_from(self) -> int:
        """From when a sample that lacks the effect means that there is none, once it may not act any more."""
        if self.interaction in NOT_EXECUTED:
            return self.dispatched
        delay = int(self.promises["visibility_delay"])
        if self.interaction in ANSWERED and self.promises["final_on_result"]:
            return self.ended + delay
        return self.dispatched + int(self.promises["commit_bound"]) + delay


@dataclass(frozen=True)
class Account:
    """What one accounting key has used up."""

    operation: Json
    retries: int
    attempts: int
    latest: str


@dataclass(frozen=True)
class Granted:
    """One approval, and what has come since: kept as what happened, not as numbers to compare."""

    approval: Json
    used: str = ""
    withdrawn: bool = False
    halted: bool = False
    interrupted: frozenset[str] = frozenset()


class Books:
    """G, D, L, U, Z, K and B as the events make them. ``fork`` is cheap: values are replaced, never
    changed.
    """

    def __init__(self, before: Books | None = None) -> None:
        """Before the first event. ``before``: the books of a standing episode that goes on in this one."""
        self.before = before
        self.past: frozenset[str] = frozenset()  # attempts of that one
        self.handed_to = ""
        self.start: Json = {}
        self.phase = ""
        self.generation = 0
        self.physical = 0
        self.observation = 0
        self.decisions = 0
        self.clock = -1
        self.halted = False
        self.nodes: dict[str, Json] = {}
        self.trials: dict[str, Trial] = {}
        self.accounts: dict[str, Account] = {}
        self.proven: dict[tuple[str, str], str] = {}  # (key, effect by meaning): latest certificate
        self.certificates: dict[str, Json] = {}
        self.revoked: frozenset[str] = frozenset()
        self.facts: dict[str, Json] = {}
        self.touched: dict[Fact, int] = {}  # what was sampled up to then says nothing of a fact now
        self.owed: dict[str, Json] = {}  # U_state, by condition
        self.broken: frozenset[str] = frozenset()
        self.unavailable: frozenset[str] = frozenset()
        self.author = ""
        self.granted: dict[str, Granted] = {}  # every approval
        self.newest: dict[str, str] = {}  # step: its latest approval

    def fork(self) -> Books:
        """An independent copy."""
        other = Books.__new__(Books)
        for name, value in self.__dict__.items():
            other.__dict__[name] = value.copy() if type(value) is dict else value
        return other

    # -- views -----------------------------------------------------------------------------------------

    @property
    def goals(self) -> list[Json]:
        """The trusted obligations."""
        found: list[Json] = self.start.get("obligations", [])
        return found

    def unsettled(self) -> list[Trial]:
        """U_exec."""
        return [trial for trial in self.trials.values() if trial.owed and not trial.superseded]

    def pending(self, key: str) -> Trial | None:
        """The unresolved attempt of a key."""
        account = self.accounts.get(key)
        trial = self.trials.get(account.latest) if account is not None else None
        return trial if trial is not None and trial.owed and not trial.superseded else None

    def established(self, key: str, operation: Json) -> bool:
        """Every effect of the operation was certified at some time under this key."""
        return all((key, effect_name(e["kind"], e["condition"])) in self.proven for e in operation["effects"])

    def established_now(self, key: str, operation: Json) -> bool:
        """Established, and no later attempt in doubt."""
        return self.pending(key) is None and self.established(key, operation)

    def certificate(self, key: str, kind: str, condition: Json) -> Json | None:
        """The latest certificate for an effect of a key, by the effect's meaning; none where it was
        revoked.
        """
        name = self.proven.get((key, effect_name(kind, condition)))
        return self.certificates[name] if name is not None and name not in self.revoked else None

    def live(self, certificate: Json, now: int) -> bool:
        """Usable at ``now``: an event stays proven, a state needs its newest evidence to be current."""
        if certificate["id"] in self.revoked:
            return False
        if certificate["kind"] == "event":
            return True
        for requirement in certificate["requirements"]:
            found = self.facts.get(finding_name(requirement, certificate["condition"]))
            if found is not None and found["horizon"] > certificate["granted"]:
                if not positive(found, now):
                    return False
            elif now > certificate["valid_until"]:
                return False
        return True

    def found(self, requirement: str, condition: Json) -> Json | None:
        """The newest finding about a present fact; none where the fact was touched since it was sampled."""
        found = self.facts.get(finding_name(requirement, condition))
        if found is None or found["verdict"] not in {POSITIVE, "UNSATISFIED"}:
            return found
        return found if found["captured"] > self.touched.get(fact(condition), -1) else None

    def shown(self, goal: Json, now: int) -> bool:
        """Every requirement of a goal is satisfied by current evidence."""
        found = [self.found(r["id"], goal["condition"]) for r in goal["requirements"]]
        return bool(found) and all(positive(f, now) for f in found)

    def covered(self, goal: Json, now: int) -> bool:
        """Covered(g, P): the support that the kind of obligation asks for."""
        if goal["kind"] == "preserve":
            return self.shown(goal, now) and goal["id"] not in self.broken
        if goal["kind"] == "state" and (not goal["key"] or goal["initial"]):
            return self.shown(goal, now)
        found = self.certificate(goal["key"], goal["kind"], goal["condition"])
        if found is None or not self.live(found, now):
            return False
        return goal["kind"] == "event" or self.shown(goal, now)

    # -- events ----------------------------------------------------------------------------------------

    def apply(self, event: Json, now: int) -> None:
        """Enter one event; ``now`` is the time of its decision."""
        handler = getattr(self, f"_on_{event['type']}", None)
        if handler is not None:
            handler(event, now)

    def _on_Decided(self, event: Json, now: int) -> None:
        self.decisions += 1
        self.clock = max(self.clock, now)

    def _on_EpisodeStarted(self, event: Json, now: int) -> None:
        self.start, self.phase, self.clock = event, "active", now
        self.generation = event["generation"]
        self.physical, self.observation = event["physical"], event["observation"]
        if self.before is not None:
            self._inherit(self.before, event, now)

    def _inherit(self, before: Books, event: Json, now: int) -> None:
        """What the event hands on, and what stays true whatever it says: who acted last, who may not."""
        self.trials, self.past = dict(before.trials), frozenset(before.trials)
        self.unavailable = before.unavailable
        self.broken = frozenset(goal for goal, _ in event["broken"])
        self.touched = {_fact_of(name): time for name, time in event["touched"]}
        for given in event["inherited"]:
            old = before.accounts.get(given["key"])
            if old is None:
                continue  # C26 says so
            self.accounts[given["key"]] = Account(given["operation"], given["retries"], 1, old.latest)
            self.touched.update({_fact_of(name): time for name, time in given["touched"]})
            for found in given["findings"]:
                self.facts[finding_name(found["requirement"], found["condition"])] = found
            for certificate in given["certificates"]:
                self._on_Certified({"certificate": certificate}, now)

    def _on_ProposalAdmitted(self, event: Json, now: int) -> None:
        self.nodes = {node["id"]: node for node in event["nodes"]}
        self.author = event.get("author", "").lstrip("/")

    def _on_Dispatched(self, event: Json, now: int) -> None:
        attempt = event["attempt"]
        operation = self.nodes.get(attempt["node"], {}).get("operation") or {"effects": [], "policy": {}}
        old = self.accounts.get(attempt["key"])
        if old is not None and self.pending(attempt["key"]) is not None:
            self.trials[old.latest] = replace(self.trials[old.latest], superseded=True)
            retries = old.retries - 1
        else:
            retries = old.retries if old is not None else operation["policy"].get("retry_limit", 0)
        self.physical -= 1
        self.touched.update(dict.fromkeys(touches(operation), now))
        self.trials[attempt["id"]] = Trial(
            attempt["id"],
            attempt["key"],
            attempt["node"],
            attempt["provider"],
            now,
            attempt["promises"],
            operation,
            tuple(effect_name(e["kind"], e["condition"]) for e in operation["effects"]),
        )
        taken = self.granted.get(attempt.get("approval", ""))
        if taken is not None:
            self.granted[attempt["approval"]] = replace(taken, used=attempt["id"])
        self.accounts[attempt["key"]] = Account(
            operation, retries, (old.attempts if old is not None else 0) + 1, attempt["id"]
        )

    def _on_Reported(self, event: Json, now: int) -> None:
        trial, what = self.trials[event["attempt"]], event["interaction"]
        ended = now if what in ANSWERED or what in NOT_EXECUTED else trial.ended
        accepted = trial.accepted or what == "ACCEPTED" or what in ANSWERED
        self.trials[trial.id] = replace(trial, interaction=what, ended=ended, accepted=accepted)

    def _on_Assessed(self, event: Json, now: int) -> None:
        trial = self.trials[event["attempt"]]
        found = dict(trial.findings)
        found.update({finding_name(f["requirement"], f["condition"]): f for f in event["findings"]})
        self.trials[trial.id] = replace(trial, findings=tuple(found.items()))

    def _on_FactsChecked(self, event: Json, now: int) -> None:
        for found in event["findings"]:
            self.facts[finding_name(found["requirement"], found["condition"])] = found

    def _on_Certified(self, event: Json, now: int) -> None:
        found = event["certificate"]
        name = effect_name(found["kind"], found["condition"])
        self.certificates[found["id"]] = found
        self.proven[found["key"], name] = found["id"]
        if found["kind"] == "state":
            one = fact(found["condition"])
            self.touched[one] = max(self.touched.get(one, -1), found["captured"] - 1)
        trial = self.trials.get(found["attempt"])
        if trial is not None:
            self.trials[trial.id] = replace(trial, owed=tuple(o for o in trial.owed if o != name))

    def _on_Revoked(self, event: Json, now: int) -> None:
        self.revoked |= {event["certificate"]}

    def _on_StateOwed(self, event: Json, now: int) -> None:
        self.owed[ident(event["condition"])] = event

    def _on_StateSettled(self, event: Json, now: int) -> None:
        self.owed.pop(ident(event["condition"]), None)

    def _on_PreservationBroken(self, event: Json, now: int) -> None:
        self.broken |= {event["obligation"]}

    def _on_ObservationSpent(self, event: Json, now: int) -> None:
        self.observation -= 1

    def _on_Restarted(self, event: Json, now: int) -> None:
        self.generation = event["generation"]

    def _on_AvailabilityChanged(self, event: Json, now: int) -> None:
        other = self.unavailable - {event["provider"]}
        self.unavailable = other | {event["provider"]} if event["reason"] else other
        for name, one in self.granted.items() if event["reason"] else ():
            self.granted[name] = replace(one, interrupted=one.interrupted | {event["provider"]})

    def _on_Approved(self, event: Json, now: int) -> None:
        given = event["approval"]
        self.granted[given["id"]] = Granted(given)
        self.newest[given["step"]] = given["id"]

    def _on_ApprovalWithdrawn(self, event: Json, now: int) -> None:
        self.granted[event["approval"]] = replace(self.granted[event["approval"]], withdrawn=True)

    def _on_Halted(self, event: Json, now: int) -> None:
        self.halted = True
        for name, one in self.granted.items():
            self.granted[name] = replace(one, halted=True)

    def _on_Resumed(self, event: Json, now: int) -> None:
        self.halted = False

    def _on_Completed(self, event: Json, now: int) -> None:
        self.phase = "completed"

    def _on_Stopped(self, event: Json, now: int) -> None:
        self.phase, self.handed_to = "stopped", event["handed_to"]


def _fact_of(name: str) -> Fact:
    """A fact by its name in the events."""
    subject, _, path = name.partition(SEPARATOR)
    return subject, path


def touches(operation: Any) -> set[Fact]:
    """The facts that an operation may change."""
    return {fact(effect["condition"]) for effect in operation["effects"]}
