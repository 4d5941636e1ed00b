"""The values that the authority reasons about (sections 3.3 and 3.4): operations, attempts, certificates.

All of them are frozen. Identifiers, times and findings come in from outside: nothing here reads a clock,
draws a random number or touches a device. An episode keeps tens of thousands of them, and none can be part
of a reference cycle: hence ``gc=False``, which spares the collector a look at each.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from functools import cached_property

import msgspec

from adf_ea_ros.contracts.conditions import Condition, Ns, Value
from adf_ea_ros.contracts.model import Disposition, EffectKind, ObligationKind, Replay
from adf_ea_ros.evidence.types import Finding, Requirement

__all__ = [  # the kinds and permissions of the contracts are part of this vocabulary
    "Approval",
    "ApprovalTerms",
    "Attempt",
    "Binding",
    "Cause",
    "Certificate",
    "Disposition",
    "Effect",
    "EffectKind",
    "ExecutionObligation",
    "Interaction",
    "Mode",
    "Node",
    "Obligation",
    "ObligationKind",
    "Operation",
    "Policy",
    "Precondition",
    "Promises",
    "Replay",
    "StateObligation",
    "accounting_key",
]


class Cause(str, Enum):
    """Why progress was interrupted; block R of a contract rules on each exactly once."""

    EFFECT_ABSENT = "effect_absent"
    EVIDENCE_INSUFFICIENT = "evidence_insufficient"
    EVIDENCE_CONFLICTING = "evidence_conflicting"
    OUTCOME_UNKNOWN = "outcome_unknown"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    STATE_LOST = "state_lost"


class Interaction(str, Enum):
    """What is known of the exchange with a provider. None of these says that an effect happened."""

    DISPATCHED = "DISPATCHED"  # written to the ledger; may or may not have been sent
    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"  # the provider refused the goal
    SUCCEEDED = "SUCCEEDED"
    ABORTED = "ABORTED"
    CANCELED = "CANCELED"
    ONE_WAY = "ONE_WAY"  # sent over an interface that never answers
    LOST = "LOST"  # no usable answer: deadline, crash, a status that is no status
    NEVER_ACCEPTED = "NEVER_ACCEPTED"  # a server that ran since before the dispatch does not know the goal


ANSWERED = frozenset({Interaction.SUCCEEDED, Interaction.ABORTED, Interaction.CANCELED, Interaction.ONE_WAY})
NOT_EXECUTED = frozenset({Interaction.REJECTED, Interaction.NEVER_ACCEPTED})
OPEN = frozenset({Interaction.DISPATCHED, Interaction.ACCEPTED, Interaction.LOST})


class Mode(str, Enum):
    """Under which admission case an attempt was dispatched."""

    FIRST = "FIRST"
    RETRY = "RETRY"
    REPAIR = "REPAIR"


class Promises(msgspec.Struct, frozen=True, gc=False):
    """What a provider promises of its interactions; the defaults promise nothing."""

    result_timeout: Ns = 10_000_000_000
    query: bool = False
    final_on_result: bool = False
    commit_bound: Ns = -1  # -1: none
    visibility_delay: Ns = 0


class Binding(msgspec.Struct, frozen=True, gc=False):
    """A provider that may realize an operation, pinned to one contract content."""

    provider: str
    contract: str  # "id@version"
    fingerprint: str
    deadline: Ns
    expires: Ns = -1  # ROS time; -1: never
    promises: Promises = Promises()
    rebind_to: tuple[str, ...] = ()
    routes: tuple[tuple[str, tuple[str, ...]], ...] = ()  # requirement id: routes this provider declares
    device: str = ""  # name under which other authorities use it too (rule X10)


class Effect(msgspec.Struct, frozen=True, gc=False):
    """One grounded intended effect and the requirements that must all be satisfied to certify it."""

    id: str
    kind: EffectKind
    condition: Condition
    requirements: tuple[Requirement, ...]
    rests_on: tuple[Condition, ...] = ()


class Precondition(msgspec.Struct, frozen=True, gc=False):
    """A fact that must be evidenced at dispatch."""

    id: str
    condition: Condition
    requirement: Requirement


class Policy(msgspec.Struct, frozen=True):
    """Block R, grounded: what each cause permits, and the replay permission."""

    permits: dict[Cause, tuple[Disposition, ...]]
    retry_limit: int = 0
    replay: Replay = Replay.NEVER
    observations: int = -1  # per operation; -1: the episode's budget alone

    def allows(self, cause: Cause, disposition: Disposition) -> bool:
        """Whether the contract names ``disposition`` for ``cause``; silence refuses."""
        return disposition in self.permits.get(cause, ())


class ApprovalTerms(msgspec.Struct, frozen=True, gc=False):
    """What a contract asks of an approval (rule X12): how long it may be relied on, and who may give it."""

    max_age: Ns  # from the approval to the dispatch
    by: tuple[str, ...] = ()  # empty: anyone


class Operation(msgspec.Struct, frozen=True, dict=True):
    """One intended use of a capability in an episode, with everything that its contract fixes."""

    key: str
    capability: str
    contract: str
    fingerprint: str  # the semantic revision that certificates pin
    arguments: str  # canonical JSON
    occurrence: str
    effects: tuple[Effect, ...]
    preconditions: tuple[Precondition, ...]
    policy: Policy
    bindings: tuple[Binding, ...]
    shared: tuple[str, ...] = ()  # subjects that other authorities use too (rule X10)
    approval: ApprovalTerms | None = None  # none: nobody has to approve it

    @cached_property
    def facts(self) -> frozenset[tuple[str, str]]:
        """The subjects and paths that the operation may change."""
        return frozenset(effect.condition.fact for effect in self.effects)

    def binding(self, provider: str) -> Binding | None:
        """The binding to ``provider``, if this operation has one."""
        for binding in self.bindings:
            if binding.provider == provider:
                return binding
        return None


def accounting_key(effects: tuple[Effect, ...], occurrence: str) -> str:
    """k(o) of section 3.3: one name for an operation, its aliases, its retries and its repairs.

    Only grounded effects and the occurrence count. Capability and provider names do not, and neither do
    arguments that leave the effects as they are: each of them would be a way to a fresh retry allowance.
    """
    parts = sorted(
        (e.kind.value, e.condition.subject, e.condition.path, _clauses(e.condition)) for e in effects
    )
    digest = hashlib.sha256(msgspec.json.encode([occurrence, parts])).hexdigest()
    return f"k{digest[:16]}"


def _clauses(condition: Condition) -> list[list[object]]:
    # 80 and 80.0 are the same bound, but True and 1 are not.
    return sorted(
        [c.op.value, type(c.bound).__name__ if isinstance(c.bound, (bool, str)) else "number",
         c.bound if isinstance(c.bound, (bool, str)) else float(c.bound)]
        for c in condition.clauses
    )  # fmt: skip


class Node(msgspec.Struct, frozen=True, gc=False):
    """An operation in a proposal, and the nodes that must be established before it."""

    id: str
    operation: Operation
    after: tuple[str, ...] = ()


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One dispatched physical request."""

    id: str
    key: str
    node: str
    provider: str
    mode: Mode
    generation: int
    dispatched: Ns
    deadline: Ns
    promises: Promises
    interaction: Interaction = Interaction.DISPATCHED
    settled: Ns = -1  # when the interaction ended, as far as we know
    findings: tuple[Finding, ...] = ()  # latest, one per requirement
    supported: tuple[str, ...] = ()  # requirements for which some sample ever spoke for the effect
    accepted: bool = False  # the provider said once that it has it
    baseline: tuple[tuple[str, str, Value], ...] = ()  # (subject, path, value) seen before it was sent
    superseded: bool = False  # a retry has taken over its obligation
    cancel_requested: bool = False
    doubtful: bool = False  # was in flight when the authority or the capability restarted
    observed: int = 0
    leases: tuple[str, ...] = ()  # what it took from other authorities' reach (rule X10)
    approval: str = ""  # the approval that it used up; empty where none was needed (rule X12)

    @property
    def over(self) -> bool:
        """Whether its interaction alone says that no effect is still to come. Evidence of one does not."""
        if self.interaction in ANSWERED:
            return self.promises.final_on_result
        return self.interaction in NOT_EXECUTED

    def could_take_effect(self, now: Ns) -> bool:
        """Whether this attempt may still change the world (section 3.4: previous attempts that could).

        It cannot once it was refused, once a provider that promises finality has answered, or once the
        promised commit bound has passed. Without a promise the answer stays yes.
        """
        if self.over:
            return False
        return self.promises.commit_bound < 0 or now < self.dispatched + self.promises.commit_bound

    def absent_from(self) -> Ns:
        """The earliest capture time at which a missing effect says that there will be none.

        Meaningful only once ``could_take_effect`` is false. A sample from before the last moment at which
        the effect could still appear proves nothing about its absence.
        """
        if self.interaction in NOT_EXECUTED:
            return self.dispatched
        if self.interaction in ANSWERED and self.promises.final_on_result:
            return self.settled + self.promises.visibility_delay
        return self.dispatched + self.promises.commit_bound + self.promises.visibility_delay


class Approval(msgspec.Struct, frozen=True, gc=False):
    """A person's approval of one dispatch: what it was given for, and what became of it (rule X12)."""

    id: str
    step: str
    key: str
    number: int  # which attempt of the key it is for, from 1
    fingerprint: str  # of the capability contract
    arguments: str  # canonical JSON
    providers: tuple[tuple[str, str, int], ...]  # those eligible then: id, contract fingerprint, revocations
    halts: int  # as ``State.halts`` was
    by: str
    reason: str
    granted: Ns
    valid_until: Ns
    attempt: str = ""  # that used it
    withdrawn: str = ""  # by whom and why


class Certificate(msgspec.Struct, frozen=True, gc=False):
    """Retained proof of an obligation predicate: c = (o, i, phi, t, nu, lineage) of section 3.4."""

    id: str
    key: str
    effect: str
    attempt: str  # empty: from trusted initial evidence
    kind: EffectKind
    condition: Condition
    requirements: tuple[str, ...]  # ids of the requirements whose findings keep it live
    granted: Ns
    captured: Ns  # stamp of the oldest sample that it rests on
    valid_until: Ns  # the earliest end among the findings it was granted on
    revision: str  # contract fingerprint
    lineage: tuple[str, ...]
    rests_on: tuple[Condition, ...] = ()
    revoked: str = ""  # reason


class Obligation(msgspec.Struct, frozen=True, gc=False):
    """One element of the trusted goal G."""

    id: str
    kind: ObligationKind
    condition: Condition
    requirements: tuple[Requirement, ...]  # all of them must be satisfied
    key: str = ""  # accounting key of the operation that may produce it; empty: no producer
    effect: str = ""
    after: tuple[str, ...] = ()
    initial: bool = False


class ExecutionObligation(msgspec.Struct, frozen=True, gc=False):
    """Element of U_exec: an attempt whose outcome is not settled by evidence."""

    attempt: str
    key: str
    effects: tuple[str, ...]  # ids of the effects not yet certified


class StateObligation(msgspec.Struct, frozen=True, gc=False):
    """Element of U_state: a required state predicate whose support was lost."""

    condition: Condition
    certificate: str
    since: Ns
    needed_by: tuple[str, ...]  # node ids; obligation ids of G carry the prefix "goal:"
