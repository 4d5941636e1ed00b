"""A plant with valves, a pump and a gauge, and people who approve: everything that happens goes into a log.

The authority is the product (or a variant of it that lacks a responsibility) on a real ledger. Nothing in the
log says what the authority thinks: it has what people were granted, what was sent, and what came about.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService
from studies.approvals.adjudicate import Entry
from studies.inputs import LIBRARIES, SECOND
from studies.variants import write_variant

Service = Callable[[Catalog, Book], AuthorityService]
OpenLedger = Callable[[], SqlLedger]
LIBRARY = LIBRARIES / "approvals"
PLANNER = "planner"
LOOKS = 4
"""How often completion is claimed at the end, a second apart."""


class Bench:
    """One run. Seconds pass only where a method says so."""

    def __init__(self, service: Service, ledger: OpenLedger) -> None:
        """Start an authority on the ledger, and an episode with the usual plan: open valve v1."""
        self.log: list[Entry] = []
        self._service, self._ledger = service, ledger
        self._now, self._samples = 100, 0
        self.version = 1
        self._open: set[str] = set()
        self._purged: set[str] = set()
        self._plan: dict[str, str] = {}
        self._steps: dict[str, Step] = {}
        self._opened: SqlLedger | None = None
        self.start()
        self.begin()

    # -- the authority ---------------------------------------------------------------------------------

    def start(self) -> None:
        """A process of the authority begins."""
        folder = LIBRARY if self.version == 1 else _later()
        self._opened = self._ledger()
        generation = self._opened.open_writer("study", time=self.time)
        catalog = Catalog.load([folder])
        self.authority = self._service(catalog, Book(self._opened, generation))
        self.authority.recover(self.time)

    def close(self) -> None:
        """End it without a word."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def crash(self, *, contract: bool = False) -> None:
        """The authority dies, and a new one takes over; ``contract``: with another contract of ``vent``."""
        self.version += contract
        self.close()
        self._add("crash")
        self.start()

    def begin(self, **arguments: Any) -> None:
        """A planner takes the task up."""
        self.episode, decision = self.authority.start_episode("vent_once", PLANNER, self.time)
        assert decision.authorized, decision.sentence
        self.plan(**arguments)

    def plan(self, author: str = PLANNER, *more: Step, **arguments: Any) -> None:
        """Propose the step ``vent``, and others beside it."""
        wanted = {"valve": "v1", **arguments}
        steps = (Step("vent", "vent", wanted), *more)
        decision = self.authority.revise(self.episode, steps, author, self.time)
        assert decision.authorized, decision.sentence
        self._steps = {step.id: step for step in steps}
        self._plan = {step.id: self._what(step) for step in steps}
        self._add("planned", author=author, steps=self._plan)

    def _what(self, step: Step) -> str:
        return f"{step.capability}/{self.version} {json.dumps(step.arguments, sort_keys=True)}"

    # -- people ----------------------------------------------------------------------------------------

    def approve(self, by: str = "ann", step: str = "vent", seconds: int = 0) -> bool:
        """Somebody approves the next attempt of a step."""
        decision = self.authority.approve(self.episode, step, by, "", self.time, seconds * SECOND)
        if decision.authorized:
            given = decision.after.approvals[step]
            until = given.valid_until / SECOND
            self._add("approval", by=by, step=step, what=self._plan[step], until=until)
        else:
            self._add("approval refused", by=by, step=step, reasons=decision.reasons)
        return decision.authorized

    def withdraw(self, step: str = "vent") -> None:
        """Somebody takes it back, where that is not too late."""
        taken = self.authority.withdraw(self.episode, step, "bob", "", self.time).authorized
        self._add("withdrawal" if taken else "withdrawal refused", step=step)

    def halt(self) -> None:
        """Somebody halts the plant, and another lifts that."""
        self.authority.halt("ann", "stop", self.time)
        self._add("halt")
        self.authority.resume("bob", self.time)

    def revoke(self, provider: str) -> None:
        """A provider is revoked, and granted again."""
        self.authority.set_availability(provider, "revoked", self.time, cancel=True)
        self._add("revoked", provider=provider)
        self.authority.set_availability(provider, "", self.time)

    # -- the plant -------------------------------------------------------------------------------------

    def send(self, step: str = "vent", provider: str = "valve_a") -> str:
        """Ask for a step; the attempt where it was sent, nothing where it was refused."""
        decision = self.authority.dispatch(self.episode, step, provider, self.time)
        attempt = decision.attempt
        if attempt is None:
            self._add("not sent", step=step, provider=provider, reasons=decision.reasons)
            return ""
        operation = decision.after.proposal.nodes[step].operation
        self._add(
            "sent",
            attempt=attempt.id,
            step=step,
            provider=provider,
            what=self._what(self._steps[step]),
            subject=".".join(operation.effects[0].condition.fact),
            reserved=operation.capability == "vent",
        )
        return attempt.id

    def act(self, attempt: str) -> None:
        """The device does what it was told; nothing where it was told nothing."""
        sent = next((e for e in self.log if e["kind"] == "sent" and e["attempt"] == attempt), None)
        if sent is not None:
            subject, _, path = sent["subject"].partition(".")
            (self._open if path == "open" else self._purged).add(subject)
            self._add("effect", attempt=attempt, subject=sent["subject"])

    def close_valve(self) -> None:
        """Somebody closes the valve by hand."""
        self._open.clear()
        self._add("lost", subject="v1.open")
        self.look(7)  # until no sample from before counts any more

    def answer(self, attempt: str, what: Interaction) -> None:
        """The device answers; also more than once, or nonsense."""
        if attempt:
            self.authority.report(attempt, what, self.time)

    def ask_device(self, attempt: str, said: Answer, what: Interaction = Interaction.LOST) -> None:
        """The device is asked by goal id what became of an attempt."""
        if attempt:
            self.authority.reconcile(attempt, said, what, self.time)

    def look(self, seconds: int = 1) -> None:
        """Seconds pass; each of them shows how the plant stands."""
        for _ in range(seconds):
            self._now += 1
            for valve in ("v1", "v2"):
                self._show("gauge/open", valve, "open", valve in self._open)
            self._show("gauge/purged", "l1", "purged", "l1" in self._purged)
            self.authority.tick(self.time)

    def wait(self, seconds: int) -> None:
        """Seconds pass at once, and nothing is seen of them."""
        self._now += seconds

    def through(self, attempt: str) -> None:
        """An attempt as it should go: it acts, it answers, it is seen."""
        self.look()
        self.act(attempt)
        self.answer(attempt, Interaction.SUCCEEDED)
        self.look(2)

    def finish(self) -> None:
        """Claim completion, a few times."""
        for _ in range(LOOKS):
            if self.authority.claim(self.episode, self.time).authorized:
                self._add("completed")
                return
            self.look()
        self._add("not completed")

    def asked_to_stop(self, attempt: str) -> bool:
        """Whether the authority asks for its cancellation."""
        state = self.authority.book.state(self.episode)
        return state is not None and state.attempts[attempt].cancel_requested

    @property
    def completed(self) -> bool:
        """Whether completion was granted."""
        return any(entry["kind"] == "completed" for entry in self.log)

    # -- inside ----------------------------------------------------------------------------------------

    @property
    def time(self) -> int:
        """Logical time in nanoseconds."""
        return self._now * SECOND

    def _show(self, route: str, subject: str, path: str, value: bool) -> None:
        self._samples += 1
        sample = Observation(f"o{self._samples}", route, "gauge", subject, path, value, self.time, self.time)
        self.authority.observed(sample, self.time)

    def _add(self, kind: str, **what: Any) -> None:
        self.log.append({"t": self._now, "kind": kind, "episode": getattr(self, "episode", ""), **what})


def _later() -> Path:
    """The library with another version of the contract that is reserved: slower at most."""

    def edit(contracts: dict[str, dict[str, Any]]) -> None:
        contracts["capability/vent"]["version"] = "1.1.0"
        contracts["capability/vent"]["parameters"]["speed"]["maximum"] = 50

    return write_variant(LIBRARY, edit)
