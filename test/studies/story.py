"""Scripted histories with their world, for plants: a good history, cut into decisions, each with its
world.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
from msgspec.structs import replace as with_

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.events import encode_event
from adf_ea_ros.authority.model import Interaction, Replay
from studies.checker import Judge, Violation
from studies.exploration.models import Model, approval, chain, home, initial, parallel, preserve, standing
from studies.exploration.moves import Place, ask, hand_on, opening
from studies.exploration.world import TinyWorld

Json = dict[str, Any]
A, B = ("a", "on"), ("b", "on")


class Story:
    """A history in the making: each request is judged later, against the world at its time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.events: list[list[Json]] = []
        self.worlds: list[TinyWorld] = []
        self.place = opening(model)
        begun = rq.Begin(model.start)
        from adf_ea_ros.authority.decide import decide
        from adf_ea_ros.authority.state import State

        self._keep(decide(State(), begun, model.start.time).events, self.place.world)

    def _keep(self, events: Any, world: TinyWorld) -> None:
        self.events.append([msgspec.json.decode(encode_event(e)) for e in events])
        self.worlds.append(world)

    def ask(self, request: rq.AnyRequest, view: str = "fresh", assessed: str = "fresh") -> Story:
        step = ask(self.model, self.place, request, "", view, assessed)
        assert step.decision is not None
        assert step.decision.authorized, step.decision.sentence
        assert not step.violations, step.violations
        # The world as the checker met it: before what this decision sends.
        self._keep(
            step.decision.events, step.place.world if step.decision.attempt is None else self.place.world
        )
        self.place = step.place
        return self

    def hand_on(self) -> Story:
        """The episode gives way to a new one."""
        world = self.place.world
        step = hand_on(self.model, self.place)
        assert not step.violations, step.violations
        for decision in step.decisions:
            self._keep(decision.events, world)
        self.place = step.place
        return self

    def tick(self, fact: tuple[str, str] | None = None, value: bool = True, by: str = "") -> Story:
        self.place = self.place._replace(world=self.place.world.tick(fact, value, by))
        return self

    def answer(self, attempt: str, what: Interaction, **how: bool) -> Story:
        self.place = self.place._replace(world=self.place.world.answered(attempt, **how))
        return self.ask(rq.Report(attempt, what), "none", "none")


def recovery() -> Story:
    """A is refused, retried, verified, lost, repaired and verified again; then B; then the claim."""
    model = chain(Replay.WHEN_ABSENT, goal_a=True, physical=5)
    story = Story(replace(model, interference=3, start=with_(model.start, observation=2)))
    story.ask(rq.Revise(model.proposals[0])).ask(rq.Dispatch("a", "p"))
    story.answer("e.1", Interaction.REJECTED, dead=True).tick()
    story.ask(rq.Dispatch("a", "p")).tick(A, by="e.2").answer(
        "e.2", Interaction.SUCCEEDED, ended=True, accepted=True
    ).tick()
    story.ask(rq.Assess("e.2", ())).tick(A, value=False).ask(rq.Refresh(())).ask(rq.Dispatch("a", "p"))
    story.tick(A, by="e.3").answer("e.3", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    story.ask(rq.Assess("e.3", ())).ask(rq.Dispatch("b", "r")).ask(rq.Observe("b"), "fresh", "none")
    story.tick(B, by="e.4").answer("e.4", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    return story.ask(rq.Assess("e.4", ())).ask(rq.Claim(()))


def kept() -> Story:
    """A preserved fact is seen broken."""
    story = Story(preserve())
    return story.tick(("k", "on"), value=False).ask(rq.Refresh(()))


def begun() -> Story:
    """What the task trusts initially was lost, and is done by hand."""
    story = Story(initial())
    return story.tick(A, value=False).ask(rq.Revise(story.model.proposals[0])).ask(rq.Dispatch("a", "p"))


def goals() -> Story:
    """A standing task: what had no effect is in nobody's way, and a lost state is repaired."""
    model = standing(parallel(same=True))
    story = Story(replace(model, start=with_(model.start, observation=2)))
    story.ask(rq.Revise(model.proposals[0])).ask(rq.Dispatch("a", "p")).tick()
    story.answer("e.1", Interaction.ABORTED, ended=True, accepted=True).tick()
    story.ask(rq.Observe("a")).ask(rq.Dispatch("b", "p")).tick()
    story.answer("e.2", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    story.ask(rq.Assess("e.2", ())).tick(A, value=True)
    return story.ask(rq.Dispatch("b", "p"))


def reserved() -> Story:
    """A is approved and refused by its provider; approved again, taken back, approved anew, and retried."""
    model = approval()
    story = Story(replace(model, interference=3))
    story.ask(rq.Revise(model.proposals[0], author="robot"))
    story.ask(rq.Approve("a", "ann")).ask(rq.Dispatch("a", "p"))
    story.answer("e.1", Interaction.REJECTED, dead=True).tick()
    story.ask(rq.Approve("a", "ann")).ask(rq.Withdraw("a", "eve")).ask(rq.Approve("a", "ann"))
    return story.ask(rq.Dispatch("a", "p"))


def handed_on() -> Story:
    """A gate's task: A is refused, retried and verified, and the episode gives way to a new one, where p may
    not be used for a while; there A is lost and repaired.
    """
    model = standing(home(), heirs=1)
    story = Story(replace(model, start=with_(model.start, physical=9, observation=2)))
    story.ask(rq.Revise(model.proposals[0])).ask(rq.Dispatch("a", "p"))
    story.answer("e.1", Interaction.REJECTED, dead=True).tick()
    story.ask(rq.Dispatch("a", "p")).tick(A, by="e.2")
    story.answer("e.2", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    story.ask(rq.Assess("e.2", ()))
    story.ask(rq.SetAvailability("p", "revoked", cancel=True), "none", "none").hand_on()
    story.ask(rq.Revise(model.proposals[0])).ask(rq.SetAvailability("p", ""), "none", "none")
    story.tick(A, value=False).ask(rq.Dispatch("a", "p")).tick(A, by="e'.1")
    story.answer("e'.1", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    return story.ask(rq.Assess("e'.1", ()))


def changed() -> Story:
    """A was set, then undone: of both only the latter has an account, and A's is not handed on."""
    model = standing(home(), heirs=1)
    story = Story(replace(model, start=with_(model.start, physical=9)))
    story.ask(rq.Revise(model.proposals[0])).ask(rq.Dispatch("a", "p")).tick(A, by="e.1")
    story.answer("e.1", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    story.ask(rq.Assess("e.1", ())).ask(rq.Revise(model.proposals[1])).ask(rq.Dispatch("b", "r"))
    story.tick(A, value=False, by="e.2")
    story.answer("e.2", Interaction.SUCCEEDED, ended=True, accepted=True).tick()
    return story.ask(rq.Assess("e.2", ())).hand_on()


def at(events: list[list[Json]], kind: str, number: int = 0) -> tuple[int, int]:
    """Where the ``number``-th event of a kind stands."""
    places = [(i, j) for i, d in enumerate(events) for j, e in enumerate(d) if e["type"] == kind]
    return places[number]


def get(events: list[list[Json]], kind: str, number: int = 0) -> Json:
    i, j = at(events, kind, number)
    return events[i][j]


def drop(events: list[list[Json]], kind: str, number: int = 0) -> None:
    i, j = at(events, kind, number)
    del events[i][j]


def operations(events: list[list[Json]]) -> list[Json]:
    return [node["operation"] for node in get(events, "ProposalAdmitted")["nodes"]]


def violations(story: Story, plant: Callable[[list[list[Json]], list[Any]], None]) -> list[Violation]:
    """What the judge finds once ``plant`` has edited the history or the world."""
    events, worlds = copy.deepcopy(story.events), list(story.worlds)
    plant(events, worlds)
    judges: dict[str, Judge] = {}
    found = []
    for decision, world in zip(events, worlds, strict=True):
        episode = decision[0]["id"].rpartition(":")[0]
        if episode not in judges:  # it goes on in the place of the one before it
            judges[episode] = Judge(next(reversed(judges.values()), None))
        found += judges[episode].decision(decision, world)
    return found


def verdicts(story: Story, plant: Callable[[list[list[Json]], list[Any]], None]) -> set[str]:
    """The properties that the judge finds violated."""
    return {violation.property for violation in violations(story, plant)}


__all__ = [
    "A",
    "B",
    "Json",
    "Place",
    "Story",
    "at",
    "begun",
    "changed",
    "drop",
    "get",
    "goals",
    "handed_on",
    "kept",
    "operations",
    "recovery",
    "reserved",
    "verdicts",
    "violations",
]
