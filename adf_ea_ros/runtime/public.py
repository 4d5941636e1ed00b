"""What leaves the authority: decisions and attempts as plain values, the twins of msg/Decision and
msg/Attempt.

Shells on both sides of a port speak these, so that neither has to know the state, and the same code runs
whether the other side is in this process or behind a service.
"""

from __future__ import annotations

import uuid

import msgspec

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import Decided
from adf_ea_ros.authority.feedback import acceptable
from adf_ea_ros.authority.model import Attempt, Interaction, Mode, Node
from adf_ea_ros.authority.reasons import REASONS
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.aggregate import aggregate
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.runtime.service import goal_uuid


class Ruling(msgspec.Struct, frozen=True):
    """A decision as the public may see it."""

    id: str = ""  # "<episode>:<number>"; empty where nothing was decided, because the authority is not ready
    time: Ns = 0
    episode: str = ""
    generation: int = 0
    request: str = ""
    subject: str = ""
    authorized: bool = False
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    sentence: str = ""
    attempt: str = ""  # the attempt concerned, where there is one
    verdict: Verdict | None = None  # on its effect; SATISFIED exactly where evidence has settled it
    negative: bool = False  # qualified negative evidence on its effect
    physical: int = 0
    observation: int = 0
    retry: int = -1  # -1: speaks of no operation
    next: tuple[str, ...] = ()  # what would be accepted next; told with refusals

    @property
    def void(self) -> bool:
        """Nothing was decided or recorded: the same call may be made again."""
        return not {"X5.not_ready", "X5.ledger", "X5.overload"}.isdisjoint(self.reasons)


class Order(msgspec.Struct, frozen=True):
    """An attempt, as whoever carries it out or looks at it needs it."""

    id: str
    goal_id: uuid.UUID
    episode: str
    step: str
    capability: str
    provider: str
    arguments: str  # canonical JSON
    mode: Mode = Mode.FIRST
    interaction: Interaction = Interaction.DISPATCHED
    verdict: Verdict | None = None
    negative: bool = False
    unresolved: bool = True
    could_take_effect: bool = True
    doubtful: bool = False
    cancel_requested: bool = False
    generation: int = 0
    dispatched: Ns = 0
    deadline: Ns = 0
    settled: Ns = -1


def not_ready(request: str, subject: str, why: str, now: Ns = 0) -> Ruling:
    """The answer of an authority that decides nothing now."""
    return refusal(request, subject, "X5.not_ready", f"{REASONS['X5.not_ready']}: {why}", now)


def refusal(request: str, subject: str, code: str, sentence: str, now: Ns = 0) -> Ruling:
    """A refusal that is not in the ledger, because it never reached a decision."""
    return Ruling(
        time=now,
        request=request,
        subject=subject,
        rules=(code.partition(".")[0],),
        reasons=(code,),
        sentence=sentence,
    )


def ruling(episode: str, decision: Decision, now: Ns, generation: int = 0) -> Ruling:
    """What may be said of a decision."""
    state = decision.after
    record = decision.events[0] if decision.events else None
    if not isinstance(record, Decided):  # it could not be written, and so says nothing of its request
        record = Decided(decision.id, now, "", "", False, (), (), "")
    attempt = concerned(state, record.subject, decision)
    verdict, negative = judged(state, attempt) if attempt is not None else (None, False)
    key = state.keys.get(attempt.key) if attempt is not None else None
    return Ruling(
        id=decision.id,
        time=record.time,
        episode=episode,
        generation=state.generation or generation,
        request=record.request,
        subject=record.subject,
        authorized=decision.authorized,
        rules=decision.rules,
        reasons=decision.reasons,
        sentence=decision.sentence,
        attempt=attempt.id if attempt is not None else "",
        verdict=verdict,
        negative=negative,
        physical=state.physical,
        observation=state.observation,
        retry=key.retries if key is not None else -1,
        next=() if decision.authorized or not state.episode else acceptable(state, now),
    )


def concerned(state: State, subject: str, decision: Decision) -> Attempt | None:
    """The attempt that a decision is about: a new one, the one named, or the latest of the step named."""
    if decision.attempt is not None:
        return decision.attempt
    named = state.attempts.get(subject)
    if named is not None:
        return named
    node: Node | None = state.proposal.nodes.get(subject)
    record = state.keys.get(node.operation.key) if node is not None else None
    return state.attempts.get(record.latest) if record is not None else None


def judged(state: State, attempt: Attempt) -> tuple[Verdict | None, bool]:
    """The verdict on an attempt's effect, and whether there is qualified negative evidence.

    SATISFIED is said only where the attempt has left U_exec by proof: findings that look satisfied but were
    not promoted (aged, for instance) decide nothing.
    """
    found = state.attempts.get(attempt.id, attempt)
    if found.id in state.attempts and found.id not in state.execution and not found.superseded:
        return Verdict.SATISFIED, False
    if not found.findings:
        return None, False
    conclusion = aggregate(found.findings)
    verdict = conclusion.verdict
    return (Verdict.UNKNOWN if verdict is Verdict.SATISFIED else verdict), conclusion.negative


def order(state: State, attempt: Attempt, now: Ns) -> Order:
    """An attempt with what the state says of it."""
    record = state.keys.get(attempt.key)
    operation = record.operation if record is not None else None
    verdict, negative = judged(state, attempt)
    return Order(
        id=attempt.id,
        goal_id=goal_uuid(attempt.id),
        episode=state.episode,
        step=attempt.node,
        capability=operation.capability if operation is not None else "",
        provider=attempt.provider,
        arguments=operation.arguments if operation is not None else "{}",
        mode=attempt.mode,
        interaction=attempt.interaction,
        verdict=verdict,
        negative=negative,
        unresolved=attempt.id in state.execution,
        could_take_effect=attempt.could_take_effect(now),
        doubtful=attempt.doubtful,
        cancel_requested=attempt.cancel_requested,
        generation=attempt.generation,
        dispatched=attempt.dispatched,
        deadline=attempt.deadline,
        settled=attempt.settled,
    )
