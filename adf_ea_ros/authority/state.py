"""S = (G, D, L, U, Z, K, B) of section 3.4, as one frozen value with structural sharing.

Maps are persistent, so a new state costs what changed and not what happened before. The indexes beside
them (open attempts, certificates by fact) are what keeps a decision's cost independent of history.
"""

from __future__ import annotations

import typing
from typing import Any

import msgspec
from immutables import Map
from msgspec.structs import replace

from adf_ea_ros.authority.model import (
    Approval,
    Attempt,
    Certificate,
    EffectKind,
    ExecutionObligation,
    Node,
    Obligation,
    ObligationKind,
    Operation,
    StateObligation,
)
from adf_ea_ros.contracts.conditions import Condition, Ns
from adf_ea_ros.evidence.types import Finding, Verdict

DECIDED = frozenset({Verdict.SATISFIED, Verdict.UNSATISFIED})
"""Verdicts that say something of the world, and so grow old."""


class KeyRecord(msgspec.Struct, frozen=True, gc=False):
    """The account of one key k(o): shared by aliases, retries and repairs."""

    operation: Operation | None = None  # as last dispatched
    retries: int = 0  # failure-retry allowance left; set once, by the first dispatch
    attempts: int = 0
    latest: str = ""  # latest attempt
    provider: str = ""  # of the latest attempt, where that was made in an episode before this one (X11)
    established: bool = False  # every effect was certified at least once
    certificates: Map[str, str] = Map()  # effect by its meaning (``effect_key``): certificate id


class Proposal(msgspec.Struct, frozen=True):
    """D: the admitted dependency graph."""

    revision: int = 0
    author: str = ""  # where a step of it has to be approved (rule X12)
    nodes: Map[str, Node] = Map()
    needs: Map[str, tuple[str, ...]] = Map()  # node: nodes that must be established before it
    links: Map[str, tuple[tuple[str, str], ...]] = (
        Map()
    )  # key: (node, precondition id) that its effects serve


class State(msgspec.Struct, frozen=True):
    """Everything that decisions rest on, apart from the findings that a request brings."""

    episode: str = ""
    task: str = ""
    phase: str = ""  # "", active, completed, stopped
    planner: str = ""
    standing: bool = False
    generation: int = 0
    version: int = 0  # events folded
    decisions: int = 0
    clock: Ns = -1  # latest time seen
    goal: tuple[Obligation, ...] = ()  # G
    goal_by_id: Map[str, Obligation] = Map()  # this and the next two: G once more, see ``with_goal``
    goals_by_key: Map[str, tuple[Obligation, ...]] = Map()
    preserved: tuple[Obligation, ...] = ()  # those that ask that a fact stay as it is
    capabilities: tuple[str, ...] = ()
    occurrences: Map[str, str] = Map()  # key: occurrence label declared by the task
    proposal: Proposal = Proposal()  # D
    certificates: Map[str, Certificate] = Map()  # L
    execution: Map[str, ExecutionObligation] = Map()  # U_exec, by attempt
    owed: Map[str, StateObligation] = Map()  # U_state, by condition
    attempts: Map[str, Attempt] = Map()  # Z
    lingering: Map[str, str] = Map()  # certified attempts that may not be at their end, with their key
    keys: Map[str, KeyRecord] = Map()
    unavailable: Map[str, str] = Map()  # K: provider: reason
    halted: str = ""
    physical: int = 0  # B
    observation: int = 0
    facts: Map[str, Finding] = Map()  # latest finding per requirement and condition
    by_fact: Map[str, tuple[str, ...]] = Map()  # unrevoked state certificates about a fact
    resting: Map[str, tuple[str, ...]] = Map()  # unrevoked certificates that rest on a fact
    touched: Map[str, Ns] = Map()  # samples of a fact up to here say nothing of now
    broken: Map[str, Ns] = Map()  # preservation obligations that failed
    approvals: Map[str, Approval] = Map()  # the latest of each step (rule X12)
    approved: int = 0  # approvals ever given
    revocations: Map[str, int] = Map()  # how often a provider became ineligible; both of these are counted
    halts: int = 0  # from the first approval on: nothing before it is bound to a number

    # -- views -----------------------------------------------------------------------------------------

    def pending(self, key: str) -> ExecutionObligation | None:
        """Pending(k, U_exec): the unresolved outcome of a key, if it has one."""
        record = self.keys.get(key)
        return self.execution.get(record.latest) if record is not None else None

    def established(self, key: str) -> bool:
        """Established(o, L): some earlier occurrence was certified in all its effects."""
        record = self.keys.get(key)
        return record is not None and record.established

    def executor(self, key: str) -> str:
        """The provider of the latest attempt of a key; empty where nothing was dispatched."""
        record = self.keys.get(key, KeyRecord())
        return self.attempts[record.latest].provider if record.latest else record.provider

    def finding(self, requirement: str, condition: Condition, now: Ns) -> Finding | None:
        """The latest finding that is still current at ``now``; none otherwise, and none from the future."""
        found = self.facts.get(fact_key(requirement, condition))
        return found if found is not None and current(found, now) and not self.outdated(found) else None

    def outdated(self, found: Finding) -> bool:
        """Whether a finding rests on nothing, or on samples from before its fact was last touched."""
        if found.verdict not in DECIDED:
            return False
        touched = self.touched.get(fact_name(found.condition.fact), -1)
        return not found.basis or found.captured <= touched

    def live(self, certificate: Certificate, now: Ns) -> bool:
        """Live(c, t, K): whether a certificate may still support its obligation.

        An event stays proven. A state needs, for each of its requirements, a current satisfied finding: the
        newest there is, which is the one it was granted on as long as nothing came after.
        """
        if certificate.revoked:
            return False
        if certificate.kind is EffectKind.EVENT:
            return True
        for requirement in certificate.requirements:
            found = self.facts.get(fact_key(requirement, certificate.condition))
            if found is not None and found.horizon > certificate.granted:
                if found.verdict is not Verdict.SATISFIED or not current(found, now) or self.outdated(found):
                    return False
            elif not certificate.granted <= now <= certificate.valid_until:
                return False
        return True

    def progress(self, now: Ns) -> tuple[Certificate, ...]:
        """P: the certificates that are live at ``now``."""
        return tuple(c for c in self.certificates.values() if self.live(c, now))

    def verified(self, key: str, now: Ns) -> bool:
        """Every effect of the key's operation has a live certificate."""
        record = self.keys.get(key)
        return (
            record is not None
            and record.established
            and all(self.live(self.certificates[c], now) for c in record.certificates.values())
        )


def current(finding: Finding, now: Ns) -> bool:
    """Whether a finding may be relied on at ``now``. One from the future may not: the clock jumped back."""
    if finding.integrity or finding.horizon > now:
        return False
    return finding.verdict not in DECIDED or now <= finding.valid_until


def effect_key(kind: EffectKind, condition: Condition) -> str:
    """An effect by its meaning: aliases name theirs as they like, and share the account all the same."""
    return f"{kind.value}:{condition}"


def fact_key(requirement: str, condition: Condition) -> str:
    """The name under which findings about one requirement of one condition are kept."""
    return f"{requirement}|{condition}"


def fact_name(fact: tuple[str, str]) -> str:
    """A fact as a map key. The separator cannot occur in a subject or path that a contract may hold."""
    return "\x1f".join(fact)


def with_goal(state: State, goal: tuple[Obligation, ...]) -> State:
    """The state with these obligations as its G, and the indexes that follow from them."""
    by_key: dict[str, tuple[Obligation, ...]] = {}
    for one in goal:
        by_key[one.key] = (*by_key.get(one.key, ()), one)
    return replace(
        state,
        goal=goal,
        goal_by_id=Map({one.id: one for one in goal}),
        goals_by_key=Map(by_key),
        preserved=tuple(one for one in goal if one.kind is ObligationKind.PRESERVE),
    )


def encode_state(state: State) -> bytes:
    """A checkpoint: the whole state as MessagePack, without what follows from G."""
    bare = replace(state, goal_by_id=Map(), goals_by_key=Map(), preserved=())
    return msgspec.msgpack.encode(bare, enc_hook=_to_dict)


def decode_state(data: bytes) -> State:
    """The state of a checkpoint.

    Raises:
        msgspec.DecodeError: damaged, or of another version; replay the events instead.
    """
    state = msgspec.msgpack.decode(data, type=State, dec_hook=_to_map)
    return with_goal(state, state.goal)


def _to_dict(value: Any) -> Any:
    if isinstance(value, Map):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a state")


def _to_map(kind: Any, value: Any) -> Any:
    return Map(msgspec.convert(value, dict[typing.get_args(kind)], dec_hook=_to_map))  # type: ignore[misc]
