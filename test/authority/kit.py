"""The cabinet of section 3.1 of the ADF-EA paper, and the handful of words that the rule tests use for it.

open: the cabinet is open. put (needs it open): the cup is inside. close: the cabinet is closed.
"""

from __future__ import annotations

from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import (
    Attempt,
    Binding,
    Cause,
    Disposition,
    Effect,
    EffectKind,
    Interaction,
    Node,
    Obligation,
    ObligationKind,
    Operation,
    Policy,
    Precondition,
    Promises,
    Replay,
    accounting_key,
)
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Clause, Condition, Ns, Operator, Value
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Finding, Requirement, Verdict

S: Ns = 1_000_000_000
MAX_AGE = 5 * S
ALL = {cause: tuple(Disposition) for cause in Cause}
PROMISES = Promises(final_on_result=True, commit_bound=10 * S)


def condition(subject: str, path: str, value: Value = True) -> Condition:
    return Condition(subject, path, (Clause(Operator.EQ, value),))


OPEN = condition("cabinet", "open")
SHUT = condition("cabinet", "open", False)
INSIDE = condition("cup", "inside")
RUNG = condition("bell", "rung")


def requirement(name: str, what: Condition, role: Role = Role.SAME_PROVIDER) -> Requirement:
    return Requirement(name, what, role, ("sensor/state",), MAX_AGE)


def effect(
    name: str, what: Condition, kind: EffectKind = EffectKind.STATE, rests_on: tuple[Condition, ...] = ()
) -> Effect:
    return Effect(name, kind, what, (requirement(f"seen.{name}", what),), rests_on)


def operation(
    capability: str,
    *effects: Effect,
    needs: tuple[Condition, ...] = (),
    policy: Policy | None = None,
    providers: tuple[str, ...] = ("arm", "spare"),
    promises: Promises = PROMISES,
    occurrence: str = "once",
    expires: Ns = -1,
) -> Operation:
    return Operation(
        key=accounting_key(effects, occurrence),
        capability=capability,
        contract=f"{capability}@1.0.0",
        fingerprint=f"f-{capability}",
        arguments="{}",
        occurrence=occurrence,
        effects=effects,
        preconditions=tuple(
            Precondition(f"needs{i}", c, requirement(f"{capability}.needs{i}", c))
            for i, c in enumerate(needs)
        ),
        policy=policy or Policy(ALL, retry_limit=1, replay=Replay.WHEN_ABSENT),
        bindings=tuple(
            Binding(
                p, f"{p}@1.0.0", f"f-{p}", 30 * S, expires, promises, tuple(q for q in providers if q != p)
            )
            for p in providers
        ),
    )


OPEN_IT = operation("open", effect("opened", OPEN))
PUT_IT = operation("put", effect("placed", INSIDE), needs=(OPEN,))
SHUT_IT = operation("shut", effect("shut", SHUT))
RING = operation("ring", effect("rang", RUNG, EffectKind.EVENT))

PLAN = (Node("open", OPEN_IT), Node("put", PUT_IT, ("open",)))


def goal(name: str, op: Operation, kind: ObligationKind = ObligationKind.STATE, **more: object) -> Obligation:
    one = op.effects[0]
    return replace(Obligation(name, kind, one.condition, one.requirements, op.key, one.id), **more)


def fact_goal(name: str, what: Condition, kind: ObligationKind, **more: object) -> Obligation:
    return replace(Obligation(name, kind, what, (requirement(f"task.{name}", what),)), **more)


PLACED = goal("placed", PUT_IT)


class Case:
    """An episode and the time in it. An honest observer makes findings of what the test says is true."""

    def __init__(
        self,
        *goals: Obligation,
        plan: tuple[Node, ...] = PLAN,
        physical: int = 5,
        observation: int = 5,
        now: Ns = 100 * S,
        begin: bool = True,
        **more: object,
    ) -> None:
        self.now = now
        self.state = State()
        self.history: list[object] = []
        if begin:
            start = EpisodeStarted(
                "e", "task@1.0.0", "f-task", now, goals or (PLACED,), physical, observation, generation=1
            )
            assert self.ask(rq.Begin(replace(start, **more))).authorized
            if plan:
                admitted = self.revise(*plan, view=self.view())
                assert admitted.authorized, admitted.sentence

    # -- the observer ----------------------------------------------------------------------------------

    def found(self, req: Requirement, holds: bool | None, captured: Ns | None = None) -> Finding:
        """A finding at this moment: satisfied, qualified negative, or undecided."""
        captured = self.now if captured is None else captured
        verdict = {True: Verdict.SATISFIED, False: Verdict.UNSATISFIED, None: Verdict.INSUFFICIENT_EVIDENCE}[
            holds
        ]
        if holds is None:
            return Finding(req.id, req.condition, verdict, self.now, reasons=("E.none",))
        return Finding(
            req.id, req.condition, verdict, self.now, negative=not holds, captured=captured,
            valid_until=captured + MAX_AGE, basis=(f"o@{captured}",),
        )  # fmt: skip

    def view(self, **truth: bool | None) -> tuple[Finding, ...]:
        """Findings on every known requirement about these facts: ``open``, ``inside``, ``rung``."""
        by_path = dict(truth)
        found = {}
        for req in self._requirements():
            path, bound = req.condition.path, req.condition.clauses[0].bound
            if path in by_path:
                holds = by_path[path]
                found[req.id] = self.found(req, None if holds is None else holds == bound)
        return tuple(found.values())

    def _requirements(self) -> list[Requirement]:
        nodes = [n.operation for n in (*PLAN, *self.state.proposal.nodes.values())]
        found = [r for op in nodes for e in op.effects for r in e.requirements]
        found += [p.requirement for op in nodes for p in op.preconditions]
        return found + [r for g in self.state.goal for r in g.requirements]

    # -- requests --------------------------------------------------------------------------------------

    def ask(self, request: rq.AnyRequest) -> Decision:
        decision = decide(self.state, request, self.now)
        self.history += decision.events
        self.state = decision.after
        return decision

    def wait(self, seconds: float) -> Case:
        self.now += round(seconds * S)
        return self

    def revise(
        self, *nodes: Node, view: tuple[Finding, ...] = (), faults: tuple[tuple[str, str], ...] = ()
    ) -> Decision:
        return self.ask(rq.Revise(nodes, faults, "test", view))

    def dispatch(
        self, step: str, provider: str = "arm", *, attempt: bool | None = None, generation: int = 0,
        captured: Ns | None = None, **truth: bool | None,
    ) -> Decision:  # fmt: skip
        """Ask to run a step; ``attempt`` is what evidence says of the step's pending attempt."""
        assessed = self.on_attempt(step, attempt, captured) if step in self.state.proposal.nodes else ()
        return self.ask(rq.Dispatch(step, provider, generation, (), self.view(**truth), assessed))

    def run(self, step: str, provider: str = "arm", **more: object) -> Attempt:
        decision = self.dispatch(step, provider, **more)  # type: ignore[arg-type]
        assert decision.attempt is not None, f"{decision.reasons}: {decision.sentence}"
        return decision.attempt

    def on_attempt(self, step: str, holds: bool | None, captured: Ns | None = None) -> tuple[Finding, ...]:
        op = self.state.proposal.nodes[step].operation
        return tuple(self.found(r, holds, captured) for e in op.effects for r in e.requirements)

    def answer(self, attempt: Attempt, interaction: Interaction = Interaction.SUCCEEDED) -> Decision:
        return self.ask(rq.Report(attempt.id, interaction))

    def assess(self, step: str, holds: bool | None, **truth: bool | None) -> Decision:
        name = self.state.keys[self.state.proposal.nodes[step].operation.key].latest
        return self.ask(rq.Assess(name, self.on_attempt(step, holds), self.view(**truth)))

    def refresh(self, **truth: bool | None) -> Decision:
        return self.ask(rq.Refresh(self.view(**truth)))

    def observe(self, step: str, *, attempt: bool | None = None, **truth: bool | None) -> Decision:
        return self.ask(rq.Observe(step, self.view(**truth), self.on_attempt(step, attempt)))

    def claim(self, **truth: bool | None) -> Decision:
        return self.ask(rq.Claim(self.view(**truth)))

    def do(self, step: str, provider: str = "arm", **truth: bool | None) -> Attempt:
        """Run a step to its verified end."""
        attempt = self.run(step, provider, **truth)
        self.wait(1)
        assert self.answer(attempt).authorized
        self.wait(1)
        assert self.assess(step, True).authorized
        return attempt


def refused(decision: Decision, *codes: str) -> None:
    """The decision is a denial for exactly these reasons, under their rules."""
    assert not decision.authorized, decision.sentence
    assert set(decision.reasons) == set(codes), f"{decision.reasons}: {decision.sentence}"
    assert set(decision.rules) == {code.partition(".")[0] for code in codes}
    assert decision.attempt is None


def granted(decision: Decision, *rules: str) -> None:
    """The decision is a grant under these rules."""
    assert decision.authorized, f"{decision.reasons}: {decision.sentence}"
    assert decision.rules == rules
