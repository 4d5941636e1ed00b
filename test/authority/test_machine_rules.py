"""Larger models than exploration can exhaust: up to six operations, several in flight, everything that may
interfere.

Every decision is judged by the independent checker. Beside it: the fold is the state, everything survives its
encoding, and no request whatsoever makes ``decide`` raise.
"""

from __future__ import annotations

import os

import pytest
from fuzz import requests
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace as with_

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.events import decode_event, encode_event
from adf_ea_ros.authority.feedback import feedback
from adf_ea_ros.authority.fold import replay
from adf_ea_ros.authority.model import (
    OPEN,
    ApprovalTerms,
    EffectKind,
    Interaction,
    Node,
    ObligationKind,
    Operation,
    Replay,
)
from adf_ea_ros.authority.rules.x12_approval import terms
from adf_ea_ros.authority.state import State, decode_state, encode_state
from studies.exploration.engine import disagreements
from studies.exploration.models import ALL, STRICT, Model, bare, effect, fact, goal, operation, start
from studies.exploration.moves import Place, ask, opening

MODES = st.sampled_from(["fresh", "fresh", "fresh", "old", "none", "doubt", "wrong", "hollow", "broken"])
PROVIDERS = ("p", "q", "r")
TERMS = (ApprovalTerms(30, ("ann", "bob")), ApprovalTerms(3))
PEOPLE = st.sampled_from(["ann", "ann", "bob", "planner", "author", "eve", ""])
Draw = st.DataObject


def draw_operation(draw: Draw, number: int, earlier: list[Operation]) -> Operation:
    """Operation ``number``: one or two effects, some of which undo or share an earlier one's."""
    kind = draw.draw(st.sampled_from([EffectKind.STATE, EffectKind.STATE, EffectKind.EVENT]))
    undo = [o for o in earlier if o.effects[0].kind is EffectKind.STATE]
    if undo and draw.draw(st.integers(0, 5)) == 0:
        condition = fact(draw.draw(st.sampled_from(undo)).effects[0].condition.subject, value=False)
        kind = EffectKind.STATE
    else:
        condition = fact(f"f{number}")
    states = [o.effects[0].condition for o in undo]
    needs = tuple(draw.draw(st.lists(st.sampled_from(states), max_size=2, unique=True))) if states else ()
    rests = needs[:1] if kind is EffectKind.STATE and draw.draw(st.booleans()) else ()
    effects = [effect("done", condition, kind, sensors=draw.draw(st.integers(1, 2)), rests_on=rests)]
    if draw.draw(st.integers(0, 3)) == 0:
        effects.append(effect("also", fact(f"s{number}")))
    count = draw.draw(st.integers(1, 3))
    made = operation(
        f"c{number}",
        *effects,
        needs=needs,
        providers=PROVIDERS[:count],
        replay=draw.draw(st.sampled_from([*Replay, Replay.WHEN_ABSENT])),
        retries=draw.draw(st.integers(0, 2)),
        final=draw.draw(st.sampled_from([True, True, False])),
        permits=draw.draw(st.sampled_from([ALL, ALL, ALL, STRICT])),
    )
    return with_(made, approval=draw.draw(st.sampled_from([None, None, *TERMS])))


def unique(operations: list[Operation]) -> list[Operation]:
    """Requirement ids carry the capability's name, as grounding makes them."""
    found = []
    for op in operations:
        effects = tuple(
            with_(e, requirements=tuple(with_(r, id=f"{op.capability}.{r.id}") for r in e.requirements))
            for e in op.effects
        )
        found.append(with_(op, effects=effects))
    return found


def draw_model(draw: Draw) -> tuple[Model, list[Operation]]:
    operations: list[Operation] = []
    for number in range(draw.draw(st.integers(2, 6))):
        operations.append(draw_operation(draw, number, operations))
    operations = unique(operations)
    wanted = draw.draw(st.lists(st.sampled_from(range(len(operations))), min_size=1, max_size=4, unique=True))
    goals = [
        goal(f"g{i}", operations[i], ObligationKind(operations[i].effects[0].kind.value))
        for i in sorted(wanted)
    ]
    if len(goals) > 1 and draw.draw(st.booleans()):
        goals[-1] = with_(goals[-1], after=(goals[0].id,))
    trusted = draw.draw(st.booleans()) and goals[0].kind is ObligationKind.STATE
    if trusted:
        goals[0] = with_(goals[0], initial=True)
    planner = draw.draw(st.sampled_from(["", "planner"]))
    keep = fact("k")
    if draw.draw(st.booleans()):
        goals.append(
            bare("keep", keep, draw.draw(st.sampled_from([ObligationKind.PRESERVE, ObligationKind.STATE])))
        )
    alias = operations[draw.draw(st.sampled_from(range(len(operations))))]
    renamed = operation(
        "other",
        *(
            with_(
                e, id=f"{e.id}_too", requirements=tuple(with_(r, id=f"other.{r.id}") for r in e.requirements)
            )
            for e in alias.effects
        ),
        needs=tuple(p.condition for p in alias.preconditions),
        providers=("q", "r"),
        final=draw.draw(st.booleans()),
        permits=draw.draw(st.sampled_from([ALL, STRICT])),
        replay=draw.draw(st.sampled_from(Replay)),
    )
    assert renamed.key == alias.key
    operations.append(renamed)
    facts = {e.condition.fact: e.kind for o in operations for e in o.effects}
    true = {goals[0].condition.fact} if trusted else set()
    kinds = {f: k for f, k in facts.items() if k is EffectKind.EVENT}
    flips = tuple(f for f in facts if f not in kinds)
    model = Model(
        "drawn",
        with_(
            start(tuple(goals), draw.draw(st.sampled_from([2, 8, 12, 12, 12])), draw.draw(st.integers(0, 3))),
            planner=planner,
        ),
        (),
        (*((f, f in true) for f in facts), (keep.fact, True)),
        (*flips, keep.fact),
        4,
        3,
        kinds=kinds,
    )
    return model, operations


class Authority(RuleBasedStateMachine):
    """One episode of a drawn model."""

    model: Model
    place: Place

    @initialize(data=st.data())
    def begin(self, data: Draw) -> None:
        self.model, self.operations = draw_model(data)
        self.place = opening(self.model)
        began = decide(State(), rq.Begin(self.model.start), self.model.start.time)
        self.history = list(began.events)
        plan = [Node(f"n{i}", o) for i, o in enumerate(self.operations[:-1])]
        nodes = []
        for node in plan:
            needs = {p.condition for p in node.operation.preconditions}
            before = tuple(
                other.id for other in nodes if any(e.condition in needs for e in other.operation.effects)
            )
            nodes.append(Node(node.id, node.operation, before))
        self.ask(rq.Revise(tuple(nodes)), "fresh", "none")

    @property
    def state(self) -> State:
        return self.place.state

    def ask(self, request: rq.AnyRequest, view: str, assessed: str) -> bool:
        """Decide, judge, keep."""
        before = self.state
        step = ask(self.model, self.place, request, "", view, assessed)
        assert step.decision is not None
        assert not step.violations, f"{[str(v) for v in step.violations]}: {step.decision.sentence}"
        if not step.nothing:
            self.history += step.decision.events
            self.place = step.place
            assert not disagreements(self.place), disagreements(self.place)
        else:
            self.place = self.place._replace(world=step.place.world)
            assert replace_counters(step.decision.after, before) == before
        return step.decision.authorized

    def active(self) -> bool:
        return self.state.phase == "active"

    # -- planners --------------------------------------------------------------------------------------

    @precondition(active)
    @rule(data=st.data(), rarely=st.integers(0, 3))
    def revise(self, data: Draw, rarely: int) -> None:
        if not (not rarely or not self.state.proposal.nodes):
            return
        chosen = data.draw(st.lists(st.sampled_from(range(len(self.operations))), max_size=5, unique=True))
        nodes: list[Node] = []
        for i in chosen:
            before = (
                data.draw(st.lists(st.sampled_from([n.id for n in nodes]), max_size=2, unique=True))
                if nodes
                else []
            )
            nodes.append(Node(f"n{i}", self.operations[i], tuple(before)))
        self.ask(rq.Revise(tuple(nodes), author=data.draw(PEOPLE)), data.draw(MODES), "none")

    @precondition(lambda self: self.active() and self.state.proposal.nodes)
    @rule(data=st.data(), by=PEOPLE, valid_for=st.sampled_from([0, 0, 2, 99]))
    def approve(self, data: Draw, by: str, valid_for: int) -> None:
        step = data.draw(st.sampled_from(sorted(self.state.proposal.nodes)))
        self.ask(rq.Approve(step, by, "", valid_for), "none", "none")

    @precondition(lambda self: self.active() and self.state.approvals)
    @rule(data=st.data(), by=PEOPLE, rarely=st.integers(0, 3))
    def withdraw(self, data: Draw, by: str, rarely: int) -> None:
        if not rarely:
            step = data.draw(st.sampled_from(sorted(self.state.approvals)))
            self.ask(rq.Withdraw(step, by), "none", "none")

    @precondition(lambda self: self.active() and self.state.proposal.nodes)
    @rule(data=st.data(), view=MODES, assessed=MODES)
    def dispatch(self, data: Draw, view: str, assessed: str) -> None:
        node = self.state.proposal.nodes[data.draw(st.sampled_from(sorted(self.state.proposal.nodes)))]
        bound = [b.provider for b in node.operation.bindings]
        provider = data.draw(st.sampled_from([*bound, *bound, *PROVIDERS]))
        generation = data.draw(
            st.sampled_from([0, 0, self.state.generation, self.state.generation, self.state.generation - 1])
        )
        self.ask(rq.Dispatch(node.id, provider, generation), view, assessed)

    @precondition(lambda self: self.active() and self.state.proposal.nodes)
    @rule(data=st.data(), view=MODES, what=st.sampled_from(["observe", "claim", "refresh"]))
    def look(self, data: Draw, view: str, what: str) -> None:
        if what == "observe":
            self.ask(rq.Observe(data.draw(st.sampled_from(sorted(self.state.proposal.nodes)))), view, view)
        else:
            self.ask(rq.Claim() if what == "claim" else rq.Refresh(()), view, "none")

    @precondition(lambda self: self.active() and self.state.attempts)
    @rule(data=st.data(), mode=MODES)
    def assess(self, data: Draw, mode: str) -> None:
        self.ask(rq.Assess(data.draw(st.sampled_from(sorted(self.state.attempts))), ()), mode, mode)

    @precondition(lambda self: self.active() and self.state.proposal.nodes)
    @rule(data=st.data(), fate=st.sampled_from(["acts", "acts", "acts", "absent", "silent"]), view=MODES)
    def work(self, data: Draw, fate: str, view: str) -> None:
        """A step as it mostly goes: dispatched on fresh evidence, executed or not, answered, assessed."""
        nodes = self.state.proposal.nodes
        established = {n for n in nodes if self.state.established(nodes[n].operation.key)}
        due = [n for n in nodes if n not in established and established.issuperset(nodes[n].after)] or list(
            nodes
        )
        self.carry_out(data, data.draw(st.sampled_from(sorted(due))), fate, view)

    @precondition(lambda self: self.active() and self.place.world.interference and self.lost())
    @rule(data=st.data(), fate=st.sampled_from(["acts", "acts", "absent", "silent"]), view=MODES)
    def lose_and_mend(self, data: Draw, fate: str, view: str) -> None:
        """The environment undoes what a step established, and the step is done again."""
        name = data.draw(st.sampled_from(self.lost()))
        done = self.state.proposal.nodes[name].operation.effects[0].condition
        value = not done.clauses[0].bound
        self.place = self.place._replace(world=self.place.world.tick(done.fact, value))
        if data.draw(st.booleans()):
            self.ask(rq.Refresh(()), "fresh", "none")
        self.carry_out(data, name, fate, view)

    def lost(self) -> list[str]:
        """Steps whose state is established, and may be lost now."""
        kept = {c.fact for c in self.place.world.watched} & self.place.world.unseen
        return sorted(
            n.id
            for n in self.state.proposal.nodes.values()
            if self.state.established(n.operation.key)
            and n.operation.effects[0].kind is EffectKind.STATE
            and n.operation.effects[0].condition.fact not in kept
        )

    def carry_out(self, data: Draw, step: str, fate: str, view: str) -> None:
        node = self.state.proposal.nodes[step]
        provider = data.draw(st.sampled_from([b.provider for b in node.operation.bindings]))
        before = len(self.state.attempts)
        if terms(self.state, node) and data.draw(st.integers(0, 3)):
            self.ask(rq.Approve(step, "ann"), "none", "none")
        self.ask(rq.Dispatch(node.id, provider), "fresh", "fresh")
        if len(self.state.attempts) == before:
            return
        name = f"e.{before + 1}"
        if fate == "acts":
            for where, value in self.place.world.command(name).left[:1]:
                self.place = self.place._replace(world=self.place.world.tick(where, value, name))
        if fate != "silent":
            world = self.place.world.answered(name, accepted=True, ended=True)
            self.place = self.place._replace(world=world)
            self.ask(rq.Report(name, Interaction.SUCCEEDED), "none", "none")
        self.place = self.place._replace(world=self.place.world.tick())
        self.ask(rq.Assess(name, ()), "fresh", view)

    # -- providers and the world -----------------------------------------------------------------------

    @rule(data=st.data())
    def world(self, data: Draw) -> None:
        """Time passes: nothing changes, an attempt acts, or the environment interferes."""
        world = self.place.world
        acts = [(f, v, c.attempt) for c in world.commands for f, v in c.left]
        free = [
            f for f in self.model.flips if f not in {c.fact for c in world.watched} or f not in world.unseen
        ]
        flips = [(f, not world.value(f, world.now), "") for f in free] if world.interference else []
        choice = data.draw(st.sampled_from([None, *acts, *acts, *flips]))
        self.place = self.place._replace(world=world.tick(*choice) if choice else world.tick())

    @precondition(lambda self: self.place.world.commands)
    @rule(data=st.data())
    def answer(self, data: Draw) -> None:
        world = self.place.world
        command = data.draw(st.sampled_from(world.commands))
        attempt = self.state.attempts[command.attempt]
        what = data.draw(st.sampled_from(Interaction))
        acted = any(a == attempt.id for a, _, _ in world.events)
        dead = what in {Interaction.REJECTED, Interaction.NEVER_ACCEPTED}
        if dead and (acted or command.accepted):
            return
        ended = what in {
            Interaction.SUCCEEDED,
            Interaction.ABORTED,
            Interaction.CANCELED,
            Interaction.ONE_WAY,
        }
        if attempt.interaction in OPEN:
            told = what is Interaction.ACCEPTED or ended
            world = world.answered(attempt.id, dead=dead, accepted=told, ended=ended)
        self.place = self.place._replace(world=world)
        self.ask(rq.Report(attempt.id, what), "none", "none")

    @precondition(lambda self: any(a.doubtful for a in self.state.attempts.values()))
    @rule(data=st.data(), said=st.sampled_from(rq.Answer))
    def reconcile(self, data: Draw, said: rq.Answer) -> None:
        name = data.draw(st.sampled_from(sorted(a.id for a in self.state.attempts.values() if a.doubtful)))
        command = self.place.world.command(name)
        acted = any(a == name for a, _, _ in self.place.world.events)
        dead = said is rq.Answer.NEVER_ACCEPTED
        if dead and (acted or command.accepted):
            return
        world = self.place.world.answered(
            name, dead=dead, accepted=said is rq.Answer.RUNNING, ended=said is rq.Answer.TERMINAL
        )
        self.place = self.place._replace(world=world)
        self.ask(rq.Reconcile(name, said, Interaction.SUCCEEDED), "none", "none")

    # -- operators -------------------------------------------------------------------------------------

    @precondition(lambda self: self.state.generation < 3 and (self.state.execution or self.state.lingering))
    @rule()
    def restart(self) -> None:
        self.ask(rq.Restart(self.state.generation + 1), "none", "none")

    @precondition(active)
    @rule(rarely=st.integers(0, 5))
    def halt_or_resume(self, rarely: int) -> None:
        if not (self.state.halted or not rarely):
            return
        self.ask(rq.Resume("op") if self.state.halted else rq.Halt("op", "test"), "none", "none")

    @precondition(active)
    @rule(provider=st.sampled_from(PROVIDERS), cancel=st.booleans(), rarely=st.integers(0, 3))
    def availability(self, provider: str, cancel: bool, rarely: int) -> None:
        if not (self.state.unavailable or not rarely):
            return
        reason = "" if provider in self.state.unavailable else "revoked"
        self.ask(rq.SetAvailability(provider, reason, cancel), "none", "none")

    # -- whatever comes --------------------------------------------------------------------------------

    @rule(data=st.data())
    def anything(self, data: Draw) -> None:
        """No request makes ``decide`` raise; what it would do is not kept: its findings are no honest
        ones.
        """
        request = data.draw(requests(tuple(self.operations)))
        now = self.place.world.now + data.draw(st.integers(-3, 3))
        decision = decide(self.state, request, now)
        assert decision.events[0].time == now  # type: ignore[union-attr]
        assert replay(decision.events, self.state) == decision.after
        for event in decision.events:
            encode_event(event)

    # -- always ----------------------------------------------------------------------------------------

    @invariant()
    def public_feedback_is_always_there(self) -> None:
        if hasattr(self, "model"):
            feedback(self.state, self.place.world.now)

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        state = replay(self.history)
        assert replace_counters(state, self.state) == self.state
        for event in self.history:
            assert decode_event(encode_event(event)) == event
        assert decode_state(encode_state(self.state)) == self.state


def replace_counters(state: State, like: State) -> State:
    """Refusals without consequences are not kept by the machine: their count and time are not compared."""
    return with_(state, version=like.version, decisions=like.decisions, clock=like.clock)


SETTINGS = settings(
    max_examples=int(os.environ.get("MACHINE_EXAMPLES", "40")),  # MACHINE_EXAMPLES=1000: for longer
    stateful_step_count=30,
    derandomize="MACHINE_EXAMPLES" not in os.environ,  # a landing must not hang on a draw of the day
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.mark.timeout(0 if "MACHINE_EXAMPLES" in os.environ else 300)
def test_larger_models() -> None:
    run_state_machine_as_test(Authority, settings=SETTINGS)
