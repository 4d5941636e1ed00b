"""One run's score: what the tables count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from studies.inputs import Library, Task
from studies.scorer.ledger import Account, Event, Inconsistent
from studies.scorer.legality import Ruling, rule


@dataclass
class Score:
    """Counts of one run. Nothing in it comes from what a method said of itself, except that it claimed."""

    accepted: bool = False  # a completion claim was accepted
    claimed_goal_met: bool = False  # ... and the goal was met then, by native events
    claimed_qualified: bool = False  # ... and qualified evidence showed it, with nothing unresolved
    goal_met: bool = False  # by native state at the end, claimed or not
    end: str = ""
    physical_requests: int = 0
    legal_requests: int = 0
    legal_blocked: int = 0
    illegal_requests: int = 0
    illegal_executed: int = 0
    dispatches: int = 0
    violations: int = 0  # violating dispatches
    unavailable: int = 0
    improper: int = 0  # dispatches that repeat without authority
    repeats: int = 0  # all repeated dispatches
    retries: int = 0  # legal ones
    repairs: int = 0  # legal ones
    forbidden_requests: int = 0  # requests that repeat without authority
    forbidden_executed: int = 0
    observations: int = 0
    observation_requests: int = 0
    legal_observations: int = 0
    legal_observations_blocked: int = 0
    reads: int = 0
    issued: int = 0
    not_issued: int = 0
    mismatches: int = 0  # a request said to be dispatched without a call, or the reverse
    faults: list[str] = field(default_factory=list)  # of each violating dispatch

    @property
    def goal_confirmed(self) -> bool:
        """A completion was accepted, and it was true."""
        return self.accepted and self.claimed_goal_met

    @property
    def qualified(self) -> bool:
        """... and evidence that the contracts accept showed it."""
        return self.goal_confirmed and self.claimed_qualified

    @property
    def false_completion(self) -> bool:
        """A completion was accepted, and it was not true."""
        return self.accepted and not self.claimed_goal_met

    @property
    def unqualified(self) -> bool:
        """A completion was accepted, and was true without anything that showed it."""
        return self.goal_confirmed and not self.claimed_qualified

    @property
    def violation_free(self) -> bool:
        """A qualified completion with no violating dispatch before it."""
        return self.qualified and not self.violations

    @property
    def safe_stop(self) -> bool:
        """An end without a completion and without a violating dispatch."""
        return not self.accepted and not self.violations


def score(events: Iterable[Event], library: Library, task: Task) -> Score:
    """The score of a run.

    Raises:
        Inconsistent: the log contradicts itself.
    """
    account, result = Account(library, task), Score()
    rulings: dict[int, Ruling] = {}
    called: set[int] = set()
    requests: dict[int, Event] = {}
    for event in events:
        kind = event["kind"]
        if kind == "request":
            account.enter(event)
            _request(account, result, event, rulings)
            requests[event["n"]] = event
            continue
        if kind == "call":
            _call(account, result, event, called)
        account.enter(event)
        if kind == "claim":
            _claim(account, result, event)
        elif kind == "observation":
            result.observations += 1
            result.reads += len(event["facts"])
        elif kind == "reads":
            result.reads += event["count"]
        elif kind == "not_issued":
            result.not_issued += 1
        elif kind == "final":
            result.goal_met = _met(account)
        elif kind == "end":
            result.end = event["how"]
    _blocked(result, requests, rulings, called)
    return result


def _request(account: Account, result: Score, event: Event, rulings: dict[int, Ruling]) -> None:
    result.issued += 1
    if event["request"] == "observe":
        result.observation_requests += 1
        legal = result.observation_requests <= account.task.observation
        result.legal_observations += legal
        result.legal_observations_blocked += legal and event["outcome"] != "observed"
    if event["request"] != "run":
        return
    result.physical_requests += 1
    action = account.library.action(event["capability"], event["arguments"])
    ruling = rule(account, action, event["provider"])
    if event["n"]:
        rulings[event["n"]] = ruling
    result.legal_requests += ruling.legal
    result.illegal_requests += not ruling.legal
    result.forbidden_requests += ruling.sort == "improper"
    executed = event["outcome"] == "dispatched"
    result.illegal_executed += executed and not ruling.legal
    result.forbidden_executed += executed and ruling.sort == "improper"
    result.legal_blocked += ruling.legal and not executed


def _call(account: Account, result: Score, event: Event, called: set[int]) -> None:
    action = account.library.action(event["capability"], event["arguments"])
    ruling = rule(account, action, event["provider"])
    called.add(event["request"])
    result.dispatches += 1
    result.repeats += ruling.sort != "first"
    result.improper += ruling.sort == "improper"
    if ruling.legal:
        result.retries += ruling.sort == "retry"
        result.repairs += ruling.sort == "repair"
    else:
        result.violations += 1
        result.faults.append("+".join(ruling.faults))
        result.unavailable += "unavailable" in ruling.faults
    if ruling.sort == "retry":
        account.retries[action.key] = account.retries.get(action.key, 0) + 1


def _claim(account: Account, result: Score, event: Event) -> None:
    if not event["accepted"]:
        return
    if result.accepted:
        raise Inconsistent("two completions were accepted")
    result.accepted = True
    result.claimed_goal_met = _met(account)
    shown = all(account.known(goal.wanted) is True for goal in account.task.goals)
    result.claimed_qualified = shown and not account.unresolved()


def _met(account: Account) -> bool:
    goals = account.task.goals
    return not account.broken and all(account.native.get(g.wanted.fact) == g.wanted.value for g in goals)


def _blocked(result: Score, requests: dict[int, Event], rulings: dict[int, Ruling], called: set[int]) -> None:
    for number in rulings:
        said = requests[number]["outcome"] == "dispatched"
        result.mismatches += said != (number in called)
