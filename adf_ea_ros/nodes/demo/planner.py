"""The planner of the demo: one plan, carried out step by step, whatever happens on the way.

It knows the task and the capabilities that the authority lists. It knows nothing of faults: it reacts to
outcomes, reason codes and to what the authority says it would accept next, as any planner could.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

DONE, GAVE_UP, INTERRUPTED = 0, 3, 130
"""Exit codes of the planner's process."""

REFUSED, VERIFIED, UNVERIFIED, ABSENT = 1, 2, 3, 4
"""Outcomes of an Execute action; numbers as in ``action/Execute``."""

ESTABLISHED = {"R8.redundant", "R8.initially_true", "R8.event_done"}
"""Refusals that mean: nothing is left to do here."""
OTHER_PROVIDER = {"R2.provider_unavailable", "R2.not_bound", "R2.contract_expired"}
EARLIER_STEP = {"R2.dependency", "R2.precondition_false"}
WAIT = {
    "R2.precondition_unknown",
    "R7.unknown_now",
    "R6.negative_too_early",
    "R6.could_take_effect",
    "X5.not_ready",
}
HOPELESS = {
    "R2.budget",
    "R6.retry_budget",
    "X5.not_active",
    "X5.unknown_episode",
    "X8.halted",
    "R2.unknown_node",
}

TRIES = 12
"""Requests for one step before the planner gives up."""


class Plan(msgspec.Struct, frozen=True):
    """One step of the plan."""

    id: str
    capability: str
    arguments: dict[str, Any]
    after: tuple[str, ...] = ()


class Unreachable(Exception):
    """The authority or a capability node gives no answer at the moment."""


class GaveUp(Exception):
    """The planner sees no way on; the text says why."""


class Access(Protocol):
    """What the planner needs of a client; every method may raise Unreachable."""

    def providers(self, task: str) -> dict[str, tuple[str, ...]]:
        """Eligible providers of each capability that the task permits."""
        ...

    def start(self, task: str) -> str:
        """Take up the task; gives the episode."""
        ...

    def propose(self, steps: Sequence[Plan]) -> Any:
        """Propose the steps; a Decision."""
        ...

    def run(self, step: str, provider: str) -> Any:
        """Run a step; an Execute result."""
        ...

    def observe(self, step: str) -> Any:
        """Observe a step; a Decision."""
        ...

    def claim(self) -> Any:
        """Claim completion; a Decision."""
        ...

    def stop(self, reason: str) -> Any:
        """Stop without a claim; a Decision."""
        ...

    def episode(self) -> Any:
        """How the episode stands; an Episode."""
        ...

    def wait(self) -> None:
        """Let a little time pass, or until the authority has decided something."""
        ...


class DemoPlanner:
    """Carries out one plan."""

    def __init__(self, access: Access, say: Callable[[str], None]) -> None:
        """``say`` takes a sentence for whoever watches."""
        self._access = access
        self._say = say
        self._bound: dict[str, str] = {}  # step: provider it is bound to
        self._failed: dict[str, set[str]] = {}  # step: providers that were of no use
        self._plan: dict[str, Plan] = {}
        self._providers: dict[str, tuple[str, ...]] = {}

    def work(self, task: str, plan: Sequence[Plan]) -> bool:
        """Carry out the plan for a task and claim completion; whether the claim was granted."""
        self._plan = {step.id: step for step in plan}
        try:
            self._begin(task)
            for _ in range(TRIES):
                for step in plan:
                    self._achieve(step.id)
                claim = self._retry(self._access.claim)
                if claim.authorized:
                    self._say("the authority grants the claim: the task is complete")
                    return True
                self._say(f"claim refused: {claim.sentence}")
                if HOPELESS.intersection(claim.reasons):
                    break
                self._access.wait()
        except GaveUp as reason:
            self._say(f"gives up: {reason}")
            with contextlib.suppress(Unreachable):
                self._access.stop(str(reason))
        return False

    def _begin(self, task: str) -> None:
        self._providers = self._retry(lambda: self._access.providers(task))
        self._retry(lambda: self._access.start(task))
        for step in self._plan.values():
            names = self._providers.get(step.capability, ())
            self._bound[step.id] = names[0] if names else ""
        bound = ", ".join(f"{step} on {provider or '?'}" for step, provider in self._bound.items())
        self._say(f"plan: {bound}")
        admitted = self._retry(lambda: self._access.propose(list(self._plan.values())))
        if not admitted.authorized:
            raise GaveUp(f"the plan was not admitted: {admitted.sentence}")

    def _achieve(self, name: str) -> None:
        """Get one step verified; gives up after so many requests."""
        if self._verified(name):
            return
        for _ in range(TRIES):
            try:
                result = self._access.run(name, self._bound[name])
            except Unreachable as error:
                self._say(f"no answer about {name}: {error}; looks how the episode stands")
                self._settle(name)
                if self._verified(name):
                    return
                continue
            if result.outcome == VERIFIED:
                self._say(f"{name} is verified")
                return
            if self._react(name, result):
                return
        raise GaveUp(f"{name} was tried {TRIES} times")

    def _react(self, name: str, result: Any) -> bool:
        """Do what a result without a verified effect calls for; whether the step is done all the same."""
        reasons = set(result.decision.reasons)
        if result.outcome == ABSENT:
            self._say(f"{name} had no effect on {self._bound[name] or 'its provider'}")
            self._rebind(name)
        elif result.outcome == UNVERIFIED:
            self._say(f"{name} is not verified: the outcome is open, so it will not be repeated")
            self._settle(name)
            return self._verified(name)
        elif reasons & ESTABLISHED:
            self._say(f"{name} is established already")
            return True
        elif reasons & HOPELESS:
            raise GaveUp(result.decision.sentence)
        elif reasons & OTHER_PROVIDER:
            self._rebind(name, result.decision.next)
        elif reasons & EARLIER_STEP:
            for before in self._plan[name].after:
                self._achieve(before)
            self._access.wait()
        elif reasons & WAIT:
            self._access.wait()
        else:
            self._settle(name)
            return self._verified(name)
        return False

    def _rebind(self, name: str, advice: Sequence[str] = ()) -> None:
        """Bind the step to another provider; where all have failed, to the first one again."""
        failed = self._failed.setdefault(name, set())
        failed.add(self._bound[name])
        advised = [p for step, providers in moves(advice) if step == name for p in providers]
        known = advised or list(self._providers.get(self._plan[name].capability, ()))
        fresh = [provider for provider in known if provider not in failed]
        if not fresh:
            failed.clear()
            fresh = known or [""]
        if fresh[0] != self._bound[name]:
            self._say(f"binds {name} to {fresh[0]}")
        self._bound[name] = fresh[0]

    def _settle(self, name: str) -> None:
        """Where an attempt of the step is open: observe until its outcome is known, as far as is allowed."""
        for _ in range(TRIES):
            attempt = self._latest(name)
            if attempt is None or not attempt.unresolved or attempt.negative:
                if attempt is not None and attempt.negative:
                    self._say(f"{name} is shown to have had no effect")
                    self._rebind(name)
                return
            decision = self._retry(lambda: self._access.observe(name))
            if not decision.authorized:
                if not HOPELESS.isdisjoint(decision.reasons):
                    raise GaveUp(decision.sentence)
                self._say(f"observation refused: {decision.sentence}")
            else:
                self._say(f"observes {name}")
            for _ in range(TRIES):
                self._access.wait()
                attempt = self._latest(name)
                if attempt is None or not attempt.unresolved or attempt.negative:
                    break
        attempt = self._latest(name)
        if attempt is not None and attempt.unresolved and not attempt.negative:
            raise GaveUp(f"nothing shows whether {name} took effect")

    def _latest(self, name: str) -> Any:
        """The latest attempt at a step, or None."""
        found = [a for a in self._retry(self._access.episode).attempts if a.step == name]
        return found[-1] if found else None

    def _verified(self, name: str) -> bool:
        episode = self._retry(self._access.episode)
        attempts = {a.id for a in episode.attempts if a.step == name}
        return any(c.live and c.attempt in attempts for c in episode.certificates)

    def _retry(self, request: Callable[[], Any]) -> Any:
        """Ask again while the authority is away: it may be restarting. Only for what may be asked twice."""
        for left in reversed(range(TRIES)):
            try:
                return request()
            except Unreachable as error:
                if not left:
                    raise GaveUp(f"no answer from the authority: {error}") from None
                self._say(f"waits for the authority: {error}")
                self._access.wait()
        raise AssertionError


_MOVE = re.compile(r"run step (\S+) on (.+?) \(\w+\)")  # what it may take of fresh evidence comes after


def moves(advice: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Steps that the authority would let run next, with the providers, from the words of ``next``."""
    for line in advice:
        match = _MOVE.match(line)
        if match:
            yield match[1], match[2].split(" or ")
