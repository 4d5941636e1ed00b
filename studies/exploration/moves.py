"""Everything that can happen next in a model: what planners ask, what providers answer, what the world
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from adf_ea_ros.authority import questions
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import encode_event
from adf_ea_ros.authority.model import OPEN, EffectKind, Interaction, Node
from adf_ea_ros.authority.rules.x11_heir import heir, may_give_way
from adf_ea_ros.authority.state import State
from studies.checker import Judge, Violation
from studies.exploration.models import MAX_AGE, Model
from studies.exploration.world import TinyWorld


class Place(NamedTuple):
    """Where a model is: the authority's state, the world, the judge's books, and what freedom is left."""

    state: State
    world: TinyWorld
    judge: Judge
    restarts: int
    approvals: bool = False  # whether anybody approves anything in this model
    heirs: int = 0  # how often the standing episode may still give way to a new one


@dataclass(frozen=True)
class Step:
    """One transition, with what the authority decided where it was asked."""

    move: str
    place: Place
    decision: Decision | None
    violations: list[Violation]
    others: tuple[Decision, ...] = ()  # what was decided along with it, in order

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All that was decided."""
        return (self.decision, *self.others) if self.decision is not None else ()

    @property
    def nothing(self) -> bool:
        """Whether all that happened is that a request was refused."""
        return self.decision is not None and len(self.decision.events) == 1 and not self.decision.authorized


def opening(model: Model) -> Place:
    """The beginning of a model."""
    watched = tuple(g.condition for g in model.start.obligations if g.kind.value == "preserve")
    world = TinyWorld(
        model.start.time,
        model.facts,
        watched=watched,
        happenings=frozenset(fact for fact, kind in model.kinds.items() if kind is EffectKind.EVENT),
        interference=model.interference,
    )
    place = Place(State(), world, Judge(), model.restarts, model.approvals > 0, model.heirs)
    step = ask(model, place, rq.Begin(model.start), "begin", "none", "none")
    assert step.decision is not None
    assert step.decision.authorized, step.decision.sentence
    assert not step.violations, step.violations
    return step.place


def ask(model: Model, place: Place, request: rq.AnyRequest, move: str, view: str, assessed: str) -> Step:
    """Put a request to the authority with what the sensors show, and judge its decision."""
    state, world = place.state, place.world
    request, facts = _with_findings(model, place, request, view, assessed)
    world = world.shown(facts, fresh=view == "fresh" or (bool(facts) and assessed == "fresh"))
    decision = decide(state, request, world.now)
    if len(decision.events) == 1 and not decision.authorized:
        # A bare refusal changes nothing but counters: the place stays what it was.
        return Step(move, place._replace(world=world), decision, [])
    judge = place.judge.fork()
    violations = judge.decision(_plain(decision), world)
    if decision.attempt is not None:
        operation = decision.after.proposal.nodes[decision.attempt.node].operation
        world = world.send(decision.attempt, operation)
    return Step(move, place._replace(state=decision.after, world=world, judge=judge), decision, violations)


def _plain(decision: Decision) -> list[dict[str, object]]:
    return [msgspec.json.decode(encode_event(e)) for e in decision.events]


def hand_on(model: Model, place: Place) -> Step:
    """The standing episode gives way to a new one, as the runtime does it: that one is begun, the other ended
    in its favour, and the new one is told which providers may not be used.
    """
    old, now = place.state, place.world.now
    name = f"{old.episode}'"
    start = heir(replace(model.start, episode=name, time=now, generation=old.generation), old)
    begun = decide(State(), rq.Begin(start), now)
    ended = decide(old, rq.Stop("robot", "long enough", name), now)
    before = place.judge.fork()
    judge = Judge(before)
    found = judge.decision(_plain(begun), place.world) + before.decision(_plain(ended), place.world)
    place = place._replace(
        state=begun.after, judge=judge, world=place.world.forgotten(), heirs=place.heirs - 1
    )
    others = [ended]
    for provider, reason in old.unavailable.items():
        told = ask(model, place, rq.SetAvailability(provider, reason), "", "none", "none")
        place, found = told.place, [*found, *told.violations]
        others += told.decisions
    return Step(f"hand on to {name}", place, begun, found, tuple(others))


def _with_findings(
    model: Model, place: Place, request: rq.AnyRequest, view: str, assessed: str
) -> tuple[rq.AnyRequest, set[tuple[str, str]]]:
    state, world = place.state, place.world
    asked = questions.about(state, request, world.now)
    if not asked:
        return request, set()
    found: tuple[list[object], list[object]] = ([], [])
    for question in asked:
        condition = question.requirement.condition
        kind = model.kinds.get(condition.fact, EffectKind.STATE)
        # What is there now may also be the trace of an attempt of an episode before this one.
        attempts = (question.attempt,) if question.attempt else tuple(a for a, _, _ in world.events)
        mode = assessed if question.attempt else view
        found[bool(question.attempt)].append(world.answer(question, kind, attempts, MAX_AGE, mode))
    fields = {"view": tuple(found[0])} | (
        {"assessed": tuple(found[1])} if hasattr(request, "assessed") else {}
    )
    return replace(request, **fields), {q.requirement.condition.fact for q in asked}


def steps(model: Model, place: Place) -> Iterator[Step]:
    """All transitions from a place."""
    yield from _physical(model, place)
    if place.state.phase != "active":
        return
    yield from _planner(model, place)
    yield from _providers(model, place)
    yield from _operators(model, place)


def _physical(model: Model, place: Place) -> Iterator[Step]:
    world = place.world

    def to(move: str, after: TinyWorld) -> Step:
        return Step(move, place._replace(world=after), None, [])

    yield to("wait", world.tick())
    for command in world.commands:
        for name, value in command.left:
            yield to(f"{command.attempt} sets {name[0]} {value}", world.tick(name, value, command.attempt))
    if world.interference:
        preserved = {c.fact for c in world.watched}
        for name in model.flips:
            if name in preserved and name in world.unseen:
                continue  # A3: a breach is seen before it is made good
            value = not world.value(name, world.now)
            yield to(f"environment sets {name[0]} {value}", world.tick(name, value))


def _planner(model: Model, place: Place) -> Iterator[Step]:
    state = place.state
    admitted = tuple(state.proposal.nodes.values())
    for number, nodes in enumerate(model.proposals):
        if {n.id: n for n in nodes} != {n.id: n for n in admitted}:
            yield ask(model, place, rq.Revise(nodes), f"propose {number}", "fresh", "none")
    for node in admitted:
        yield from _step(model, place, node)
    for view in dict.fromkeys(view for view, _ in model.modes):
        yield ask(model, place, rq.Claim(), f"claim {view}", view, view)
        yield ask(model, place, rq.Refresh(()), f"refresh {view}", view, view)
    for name in state.execution:
        for assessed in dict.fromkeys(assessed for _, assessed in model.modes if assessed != "none"):
            yield ask(model, place, rq.Assess(name, ()), f"assess {name} {assessed}", assessed, assessed)


def _step(model: Model, place: Place, node: Node) -> Iterator[Step]:
    """What a planner may ask about one admitted step."""
    state = place.state
    pending = state.pending(node.operation.key) is not None
    for view, assessed in dict.fromkeys((v, a if pending else "none") for v, a in model.modes):
        for binding in node.operation.bindings:
            request = rq.Dispatch(node.id, binding.provider, state.generation)
            move = f"dispatch {node.id} {binding.provider} {view}" + (
                f", {assessed} on the attempt" if pending else ""
            )
            yield ask(model, place, request, move, view, assessed)
    for mode in ("none", "old") if state.observation else ():
        yield ask(model, place, rq.Observe(node.id), f"observe {node.id} {mode}", mode, mode)


def _providers(model: Model, place: Place) -> Iterator[Step]:
    """Answers, honest in what a provider promises of its execution, and in nothing about effects."""
    state, world = place.state, place.world

    def answer(request: rq.AnyRequest, move: str, after: TinyWorld) -> Step:
        return ask(model, place._replace(world=after), request, move, "none", "none")

    for command in world.commands:
        name = command.attempt
        attempt = state.attempts[name]
        if attempt.interaction not in OPEN:
            continue
        acted = any(a == name for a, _, _ in world.events)
        if attempt.interaction is not Interaction.LOST:
            yield answer(rq.Report(name, Interaction.LOST), f"{name} lost", world)
        for what in (Interaction.SUCCEEDED, Interaction.ABORTED):
            after = world.answered(name, accepted=True, ended=True)
            yield answer(rq.Report(name, what), f"{name} {what.value}", after)
        if not command.accepted:
            yield answer(
                rq.Report(name, Interaction.ACCEPTED), f"{name} ACCEPTED", world.answered(name, accepted=True)
            )
            if not acted:
                yield answer(
                    rq.Report(name, Interaction.REJECTED), f"{name} REJECTED", world.answered(name, dead=True)
                )
        if attempt.doubtful:
            for said in rq.Answer:
                if said is rq.Answer.NEVER_ACCEPTED and (acted or command.accepted):
                    continue
                after = world.answered(
                    name,
                    dead=said is rq.Answer.NEVER_ACCEPTED,
                    accepted=said is rq.Answer.RUNNING,
                    ended=said is rq.Answer.TERMINAL,
                )
                request = rq.Reconcile(name, said, Interaction.SUCCEEDED)
                yield answer(request, f"{name} reconciled {said.value}", after)


def _operators(model: Model, place: Place) -> Iterator[Step]:
    state = place.state
    if place.restarts and (state.execution or state.lingering):
        fewer = place._replace(restarts=place.restarts - 1)
        yield ask(model, fewer, rq.Restart(state.generation + 1), "crash and restart", "none", "none")
    for provider in model.revoke:
        reason = "" if provider in state.unavailable else "revoked"
        change = rq.SetAvailability(provider, reason, bool(reason))
        yield ask(model, place, change, f"{provider} {reason or 'eligible'}", "none", "none")
    for node in state.proposal.nodes.values() if state.approved < model.approvals else ():
        for by in model.approvers:
            yield ask(model, place, rq.Approve(node.id, by), f"{by} approves {node.id}", "none", "none")
    for step, given in state.approvals.items():
        if not given.attempt and not given.withdrawn:
            yield ask(model, place, rq.Withdraw(step, "eve"), f"withdraw {step}", "none", "none")
    if place.heirs and state.attempts and may_give_way(state, place.world.now):
        yield hand_on(model, place)
    if model.halts:
        halt = rq.Resume("op") if state.halted else rq.Halt("op", "test")
        yield ask(model, place, halt, type(halt).__name__, "none", "none")
