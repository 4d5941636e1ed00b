"""The small models: two operations, an alias, two providers, tiny budgets, and what the environment may
do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from msgspec.structs import replace as with_

from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import (
    ApprovalTerms,
    Binding,
    Cause,
    Disposition,
    Effect,
    EffectKind,
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
from adf_ea_ros.contracts.conditions import Clause, Condition, Ns, Operator
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Requirement
from studies.exploration.world import Fact

START: Ns = 100
MAX_AGE: Ns = 1
BOUND: Ns = 2
ALL = {cause: tuple(Disposition) for cause in Cause}
STRICT: dict[Cause, tuple[Disposition, ...]] = dict.fromkeys(Cause, (Disposition.OBSERVE, Disposition.STOP))


@dataclass(frozen=True)
class Model:
    """One small model: a task, the proposals a planner may make, and the freedom of world and provider."""

    name: str
    start: EpisodeStarted
    proposals: tuple[tuple[Node, ...], ...]
    facts: tuple[tuple[Fact, bool], ...]
    flips: tuple[Fact, ...]  # facts that the environment may change
    interference: int = 1
    restarts: int = 1
    modes: tuple[tuple[str, str], ...] = (("fresh", "fresh"), ("old", "old"), ("none", "none"))
    revoke: tuple[str, ...] = ()  # providers that may become ineligible and eligible again
    halts: bool = False
    approvers: tuple[str, ...] = ()  # people who may be asked to approve a step
    approvals: int = 0  # how many may be given
    heirs: int = 0  # how often a standing episode at rest may give way to a new one
    kinds: dict[Fact, EffectKind] = field(default_factory=dict)


def fact(subject: str, path: str = "on", value: bool = True) -> Condition:
    """A condition on a boolean fact."""
    return Condition(subject, path, (Clause(Operator.EQ, value),))


def need(name: str, condition: Condition) -> Requirement:
    """A requirement of one sample."""
    return Requirement(name, condition, Role.SAME_PROVIDER, ("probe/state",), MAX_AGE)


def effect(
    name: str,
    condition: Condition,
    kind: EffectKind = EffectKind.STATE,
    *,
    sensors: int = 1,
    rests_on: tuple[Condition, ...] = (),
) -> Effect:
    """An effect with as many requirements as ``sensors``."""
    return Effect(
        name, kind, condition, tuple(need(f"{name}.seen{i}", condition) for i in range(sensors)), rests_on
    )


def operation(
    name: str,
    *effects: Effect,
    needs: tuple[Condition, ...] = (),
    providers: tuple[str, ...] = ("p",),
    replay: Replay = Replay.WHEN_ABSENT,
    retries: int = 1,
    final: bool = True,
    permits: dict[Cause, tuple[Disposition, ...]] | None = None,
) -> Operation:
    """An operation as a contract would ground it. Its key comes from the product: it is part of what is
    tested.
    """
    promises = Promises(final_on_result=final, commit_bound=BOUND)
    return Operation(
        key=accounting_key(effects, "once"),
        capability=name,
        contract=f"{name}@1.0.0",
        fingerprint=f"f-{name}",
        arguments="{}",
        occurrence="once",
        effects=effects,
        preconditions=tuple(Precondition(f"n{i}", c, need(f"{name}.n{i}", c)) for i, c in enumerate(needs)),
        policy=Policy(ALL if permits is None else permits, retries, replay),
        bindings=tuple(
            Binding(p, f"{p}@1.0.0", f"f-{p}", 20, -1, promises, tuple(q for q in providers if q != p))
            for p in providers
        ),
    )


def goal(
    name: str, op: Operation, kind: ObligationKind = ObligationKind.STATE, at: int = 0, **more: object
) -> Obligation:
    """The obligation that an effect of an operation be true, or have happened."""
    one = op.effects[at]
    return with_(Obligation(name, kind, one.condition, one.requirements, op.key, one.id), **more)


def bare(name: str, condition: Condition, kind: ObligationKind) -> Obligation:
    """An obligation without a producer."""
    return Obligation(name, kind, condition, (need(f"task.{name}", condition),))


def start(goals: tuple[Obligation, ...], physical: int = 3, observation: int = 1) -> EpisodeStarted:
    """The episode's first event."""
    return EpisodeStarted("e", "task@1.0.0", "f-task", START, goals, physical, observation, generation=1)


A, B = fact("a"), fact("b")
NOT_A = fact("a", value=False)
RICH = (
    ("fresh", "fresh"),
    ("fresh", "none"),
    ("none", "fresh"),
    ("old", "old"),
    ("fresh", "old"),
    ("none", "none"),
    ("doubt", "doubt"),
    ("wrong", "wrong"),
    ("hollow", "hollow"),
    ("broken", "broken"),
)


def chain(
    replay: Replay,
    *,
    final: bool = True,
    event: bool = False,
    physical: int = 3,
    goal_a: bool = False,
    interference: int = 1,
    sensors: int = 1,
    rests: bool = False,
    **more: object,
) -> Model:
    """A sets a state that B needs; A has an alias of other names and two providers."""
    kind = EffectKind.EVENT if event else EffectKind.STATE
    one = operation(
        "set_a", effect("a_set", A, sensors=sensors), providers=("p", "q"), replay=replay, final=final
    )
    alias = operation("make_a", effect("a_made", A), providers=("q",), replay=replay, final=final)
    two = operation(
        "set_b",
        effect("b_set", B, kind, rests_on=(A,) if rests else ()),
        needs=(A,),
        providers=("r",),
        replay=replay,
        final=final,
    )
    first, other, last = Node("a", one), Node("a", alias), Node("b", two, ("a",))
    goals: tuple[Obligation, ...] = (goal("b", two, ObligationKind.EVENT if event else ObligationKind.STATE),)
    goals += (goal("a", one),) if goal_a else ()
    name = f"chain {replay.value}{' final' if final else ' not final'}{' event' if event else ''}"
    return Model(
        name
        + (" both goals" if goal_a else "")
        + (" rests" if rests else "")
        + (f" {sensors} sensors" if sensors > 1 else "")
        + (f" {interference} losses" if interference > 1 else ""),
        start(goals, physical),
        ((first, last), (other, last), (first,), (Node("b", two), Node("x", one, ("b",)))),
        ((A.fact, False), (B.fact, False)),
        (A.fact,),
        interference,
        kinds={B.fact: kind},
        **more,  # type: ignore[arg-type]
    )


def strict_alias(*, retry: bool) -> Model:
    """The alias' contract forbids what the first contract permits, and the other way round."""
    one = operation("set_a", effect("a_set", A), providers=("p",), permits=ALL if retry else STRICT)
    alias = operation(
        "make_a",
        effect("a_made", A),
        providers=("p",),
        permits=STRICT if retry else ALL,
        replay=Replay.NEVER if retry else Replay.WHEN_ABSENT,
    )
    return Model(
        f"strict alias {'second' if retry else 'first'}",
        start((goal("a", one),), 3),
        ((Node("a", one),), (Node("a", alias),)),
        ((A.fact, False),),
        (A.fact,),
        2,
    )


def undo(replay: Replay, *, final: bool = True) -> Model:
    """B undoes the state that it needs: A's late effect would undo the result."""
    one = operation("set_a", effect("a_set", A), replay=replay, final=final, providers=("p", "q"))
    two = operation(
        "unset_a", effect("a_unset", NOT_A), needs=(A,), replay=replay, final=final, providers=("r",)
    )
    nodes = (Node("a", one), Node("b", two, ("a",)))
    return Model(
        f"undo {replay.value}{' final' if final else ' not final'}",
        start((goal("b", two),)),
        (nodes, (Node("b", two),), (Node("a", one),)),
        ((A.fact, False),),
        (A.fact,),
        1,
    )


def partial(replay: Replay, *, event: bool = False, final: bool = True) -> Model:
    """A has two effects, either of which may fail to come; B needs the first."""
    kind = EffectKind.EVENT if event else EffectKind.STATE
    one = operation(
        "set_both",
        effect("a_set", A),
        effect("b_set", B, kind),
        replay=replay,
        final=final,
        providers=("p", "q"),
    )
    goals = (goal("a", one), goal("b", one, ObligationKind.EVENT if event else ObligationKind.STATE, 1))
    name = f"partial {replay.value}{' event' if event else ''}{'' if final else ' not final'}"
    return Model(
        name,
        start(goals),
        ((Node("a", one),),),
        ((A.fact, False), (B.fact, False)),
        (A.fact,),
        1,
        kinds={B.fact: kind},
    )


def preserve(*, present: bool = True) -> Model:
    """A fact must stay as it is, and another must be shown, while A is done."""
    keep = fact("k", value=present)
    one = operation("set_a", effect("a_set", A), needs=(keep,))
    breaker = operation("break", effect("k_broken", fact("k", value=not present)))
    goals = (
        goal("a", one),
        bare("keep", keep, ObligationKind.PRESERVE),
        bare("here", keep, ObligationKind.STATE),
    )
    return Model(
        f"preserve {present}",
        start(goals, 2),
        ((Node("a", one),), (Node("a", one), Node("x", breaker))),
        ((A.fact, False), (keep.fact, present)),
        (keep.fact, A.fact),
        2,
    )


def initial() -> Model:
    """A's state may already be so, and the task trusts that; B needs it."""
    one = operation("set_a", effect("a_set", A), providers=("p", "q"))
    two = operation("set_b", effect("b_set", B), needs=(A,), providers=("r",))
    return Model(
        "initial",
        start((goal("a", one, initial=True), goal("b", two, after=("a",)))),
        ((Node("a", one), Node("b", two, ("a",))),),
        ((A.fact, True), (B.fact, False)),
        (A.fact,),
        2,
    )


def parallel(*, same: bool = False) -> Model:
    """Two operations in flight at once: on two facts, or both on one."""
    one = operation("set_a", effect("a_set", A), providers=("p", "q"))
    two = operation("unset_a", effect("a_unset", NOT_A)) if same else operation("set_b", effect("b_set", B))
    return Model(
        f"parallel{' same fact' if same else ''}",
        start((goal("a", one),) if same else (goal("a", one), goal("b", two))),
        ((Node("a", one), Node("b", two)),),
        ((A.fact, False), (B.fact, False)),
        (A.fact,),
        1,
        revoke=("q",),
        halts=True,
    )


def home() -> Model:
    """A gate's standing task, without obligations: A stays with the provider that did it first, and may be
    undone by another goal, or lost.
    """
    stays: dict[Cause, tuple[Disposition, ...]] = {
        cause: tuple(d for d in Disposition if d is not Disposition.REBIND) for cause in Cause
    }
    one = operation("set_a", effect("a_set", A), providers=("p", "q"), permits=stays)
    two = operation("unset_a", effect("a_unset", NOT_A), providers=("r",))
    plans = ((Node("a", one),), (Node("b", two),))
    return Model("home", start((), 3), plans, ((A.fact, False),), (A.fact,), 1, revoke=("p",))


TERMS = ApprovalTerms(2, ("ann", "robot"))


def approval(*, alias: bool = False, need: bool = False) -> Model:
    """A is reserved to a person. The planner is one of those who may approve, and wants other arguments, or
    to go around it by an alias that asks nobody; the provider is revoked, the robot halted.
    """
    one = with_(operation("set_a", effect("a_set", A), providers=("p", "q")), approval=TERMS)
    other = with_(one, arguments='{"fast":true}')
    free = operation("make_a", effect("a_made", A), providers=("p", "q"))
    two = operation("set_b", effect("b_set", B), needs=(A,), providers=("r",))
    last = (Node("b", two, ("a",)),) if need else ()
    plans = [(Node("a", one), *last), (Node("a", free if alias else other), *last)]
    return Model(
        f"approval{' alias' if alias else ''}{' chain' if need else ''}",
        with_(start((goal("b", two) if need else goal("a", one),)), planner="robot"),
        tuple(plans),
        ((A.fact, False), (B.fact, False)) if need else ((A.fact, False),),
        (A.fact,),
        1,
        revoke=("p",),
        halts=True,
        approvers=("ann", "robot", "eve"),
        approvals=2,
    )


def standing(model: Model, heirs: int = 0) -> Model:
    """The model as a standing task: each step is a goal of its own, and its episode may have heirs."""
    name = f"standing{' with heirs' if heirs else ''}, {model.name}"
    return replace(model, name=name, start=with_(model.start, standing=True), heirs=heirs)


def small(model: Model, interference: int) -> Model:
    """The model with less freedom: two dispatches, no restart, no observation, and the first two modes."""
    begin = with_(model.start, physical=2, observation=0)
    return replace(
        model,
        start=begin,
        interference=interference,
        restarts=0,
        modes=model.modes[:2],
        revoke=(),
        halts=False,
    )


def quick() -> list[Model]:
    """A few models with little freedom: seconds."""
    return [
        small(chain(Replay.WHEN_ABSENT, physical=2), 1),
        small(undo(Replay.WHEN_ABSENT, final=False), 1),
        small(partial(Replay.IDEMPOTENT, event=True), 0),
        small(preserve(), 1),
        small(strict_alias(retry=True), 0),
        small(initial(), 1),
        small(standing(home(), heirs=1), 1),
        replace(small(approval(), 0), revoke=("p",), halts=True),
    ]


def full() -> list[Model]:
    """All models: minutes."""
    models = [
        chain(replay, final=final, event=event, modes=RICH if final and not event else Model.modes)
        for replay in Replay
        for final in (True, False)
        for event in (False, True)
    ]
    models += [
        chain(Replay.WHEN_ABSENT, goal_a=True),
        chain(Replay.WHEN_ABSENT, rests=True, goal_a=True),
        chain(Replay.WHEN_ABSENT, sensors=2, modes=RICH),
        chain(Replay.WHEN_ABSENT, interference=2),
    ]
    models += [undo(replay, final=final) for replay in Replay for final in (True, False)]
    models += [partial(replay, event=event) for replay in Replay for event in (True, False)]
    models += [partial(Replay.WHEN_ABSENT, event=True, final=False)]
    models += [preserve(present=value) for value in (True, False)]
    models += [
        initial(),
        parallel(),
        parallel(same=True),
        standing(parallel(same=True)),
        standing(chain(Replay.WHEN_ABSENT, event=True)),
        standing(parallel(same=True), heirs=2),
        standing(chain(Replay.WHEN_ABSENT, event=True), heirs=1),
        standing(preserve(), heirs=1),
        standing(home(), heirs=2),
        strict_alias(retry=True),
        strict_alias(retry=False),
        approval(),
        approval(alias=True),
        approval(need=True),
    ]
    return models


PLAIN = (("fresh", "fresh"), ("none", "none"))


def ends(
    model: Model,
    what: str = "",
    *,
    plans: int = 1,
    providers: int = 1,
    loss: int = 0,
    crashes: int = 0,
    looks: int = 0,
    old: bool = False,
    calm: bool = False,
    gifts: int = 2,
) -> Model:
    """The model with budgets of two, and so few liberties that it has an end: those in its name."""

    def bound(node: Node) -> Node:
        few = with_(node.operation, bindings=node.operation.bindings[:providers])
        return with_(node, operation=few)

    return replace(
        model,
        name=f"{model.name}: {what}" if what else model.name,
        start=with_(model.start, physical=2, observation=looks),
        proposals=tuple(tuple(map(bound, nodes)) for nodes in model.proposals[:plans]),
        interference=loss,
        restarts=crashes,
        modes=(*PLAIN, ("old", "old")) if old else PLAIN,
        revoke=() if calm else model.revoke,
        halts=model.halts and not calm,
        approvals=min(model.approvals, gifts),
    )


def complete() -> list[Model]:
    """Two operations, an alias, two providers, budgets of two: each liberty by itself or with another one."""
    one = chain(Replay.WHEN_ABSENT)
    models = [
        ends(one, "responses and evidence"),
        ends(one, "revision to an alias", plans=2),
        ends(one, "two providers", providers=2),
        ends(one, "a loss", loss=1),
        ends(one, "a crash", crashes=1),
        ends(one, "an observation, and old evidence", looks=1, old=True),
        ends(chain(Replay.NEVER)),
        ends(chain(Replay.IDEMPOTENT)),
        ends(chain(Replay.WHEN_ABSENT, final=False)),
        ends(chain(Replay.WHEN_ABSENT, event=True)),
        ends(chain(Replay.WHEN_ABSENT, rests=True, goal_a=True)),
    ]
    models += [ends(preserve(present=value), "a loss", plans=2, loss=1) for value in (True, False)]
    models += [ends(strict_alias(retry=value), "a loss", plans=2, loss=1) for value in (True, False)]
    models += [ends(partial(replay, event=event)) for replay in Replay for event in (True, False)]
    models += [
        ends(initial()),
        ends(undo(Replay.WHEN_ABSENT)),
        ends(undo(Replay.WHEN_ABSENT, final=False)),
        ends(standing(parallel(same=True)), "a loss", loss=1, calm=True),
        ends(standing(parallel(same=True), heirs=1), calm=True),
        ends(standing(chain(Replay.WHEN_ABSENT, event=True), heirs=1)),
        ends(standing(home(), heirs=1), "a loss", plans=1, providers=2, loss=1, calm=True),
        ends(standing(home(), heirs=1), "a revocation", plans=1, providers=2),
        ends(approval(), "other arguments", plans=2, calm=True),
        ends(approval(alias=True), "to the alias", plans=2, calm=True),
        ends(approval(), "a revocation and a halt", gifts=1),
        ends(approval(), "a crash", crashes=1, calm=True),
    ]
    return models


SETS = {"quick": quick, "full": full, "complete": complete}
