"""The contract files as pydantic models: capabilities, providers and tasks (section 3.2, appendix D).

These models are the edge: they check what people write. Everything behind them works on the frozen
values of ``conditions``, ``evidence.types`` and ``authority``.
"""

from __future__ import annotations

import re
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator, Value
from adf_ea_ros.contracts.paths import FieldPath, FieldPathOrNone
from adf_ea_ros.contracts.readings import Derivation
from adf_ea_ros.contracts.units import DURATION_PATTERN, parse_duration

SPEC = "adf_ea_ros/1"
"""The specification version that every file must name."""


class Role(str, Enum):
    """How the source of a readback must relate to the provider that acted (appendix D)."""

    INDEPENDENT_SENSOR = "INDEPENDENT_SENSOR"  # a sensor whose provider is not the actuator
    INDEPENDENT_READ_BACK = "INDEPENDENT_READ_BACK"  # a state report whose provider is not the actuator
    SAME_PROVIDER = "SAME_PROVIDER"  # the actuator's own readback is good enough
    OPERATOR = "OPERATOR"  # a person's attestation


class Grade(IntEnum):
    """Strength of evidence; the strongest fresh evidence decides a conflict, or nothing does."""

    LOW = 1
    NORMAL = 2
    HIGH = 3


class EffectKind(str, Enum):
    """What the effect is: something that stays true for a while, or something that happened (section 3.3)."""

    STATE = "state"
    EVENT = "event"


class ObligationKind(str, Enum):
    """When a task's obligation must hold: at completion, once in the history, or throughout."""

    STATE = "state"
    EVENT = "event"
    PRESERVE = "preserve"


class Disposition(str, Enum):
    """What an interruption rule may permit."""

    OBSERVE = "observe"
    RETRY = "retry"
    REBIND = "rebind"
    REPAIR = "repair"
    STOP = "stop"


class Replay(str, Enum):
    """Whether another physical attempt is safe after one that did not show its effect."""

    NEVER = "never"
    IDEMPOTENT = "idempotent"  # safe also after a partial effect
    WHEN_ABSENT = "when_absent"  # safe only where every effect is shown to be absent


class Lifecycle(str, Enum):
    """Only an active contract can be bound (section 3.2)."""

    DRAFT = "draft"
    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
Version = Annotated[str, StringConstraints(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
RouteRef = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")]
RosName = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z_][A-Za-z0-9_]*)+$")]
"""A fully qualified name of a node, topic, service or action, as the graph shows it after remapping."""
InterfaceType = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*/(msg|srv|action)/[A-Z][A-Za-z0-9]*$")
]
TypeHash = Annotated[str, StringConstraints(pattern=r"^(RIHS01_[0-9a-f]{64})?$")]
Person = Annotated[str, StringConstraints(pattern=r"^\S(.{0,98}\S)?$")]
"""The name of a person, as it stands in requests and in the ledger: a claim, proof of nothing."""
Duration = Annotated[
    int,
    BeforeValidator(parse_duration),
    WithJsonSchema(
        {"type": "string", "pattern": DURATION_PATTERN, "description": "A number with a unit, such as '20 s'"}
    ),
]
"""Nanoseconds; written with a unit."""


class Model(BaseModel):
    """Common strictness: unknown fields are faults, models are values."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Parameter(Model):
    """One typed argument of a capability."""

    type: Literal["boolean", "integer", "number", "string"]
    description: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()
    default: Value | None = None
    pattern: str = ""  # of a string: a regular expression that the whole of it must match


class Argument(Model):
    """The value of an argument of the request, plus an offset in the same unit."""

    argument: Name
    plus: float = 0.0


Bound = bool | int | float | str | Argument


class ConditionTemplate(Model):
    """A condition over arguments: ``{name}`` in subject or path stands for the argument of that name."""

    subject: str = ""  # empty: the contract's own subject
    path: str
    unit: str = ""
    eq: Bound | None = None
    lt: Bound | None = None
    lte: Bound | None = None
    gt: Bound | None = None
    gte: Bound | None = None

    @model_validator(mode="after")
    def _some_clause(self) -> ConditionTemplate:
        if not self.bounds():
            raise ValueError("a condition needs at least one of eq, lt, lte, gt, gte")
        return self

    def bounds(self) -> list[tuple[Operator, Bound]]:
        """The clauses that are present, in the fixed order of the operators."""
        present = [(op, getattr(self, op.value.lower())) for op in Operator]
        return [(op, bound) for op, bound in present if bound is not None]

    def ground(self, arguments: dict[str, Value], subject: str) -> Condition:
        """The condition for these arguments, on ``subject`` where the template names none of its own."""
        clauses = tuple(Clause(op, _resolve(bound, arguments)) for op, bound in self.bounds())
        return Condition(fill(self.subject or subject, arguments), fill(self.path, arguments), clauses)


def _resolve(bound: Bound, arguments: dict[str, Value]) -> Value:
    if not isinstance(bound, Argument):
        return bound
    value = arguments[bound.argument]
    if bound.plus and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value + bound.plus
    return value


_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def fill(template: str, arguments: dict[str, Value]) -> str:
    """``template`` with each ``{name}`` replaced by that argument; other braces are left as they are.

    One pass: an argument that itself contains ``{other}`` stays as the planner wrote it.
    """
    return _PLACEHOLDER.sub(lambda m: str(arguments[m[1]]) if m[1] in arguments else m[0], template)


def person(name: str) -> str:
    """A name as it is compared: a node's full name and its short one at the root are the same."""
    return name.strip().removeprefix("/")


def placeholders(template: str) -> tuple[str, ...]:
    """The names of the parameters that ``template`` refers to."""
    return tuple(_PLACEHOLDER.findall(template))


class Spacing(Model):
    """Cadence of a window: least and greatest time between consecutive samples."""

    least: Duration = 0
    greatest: Duration | None = None


class EvidenceSpec(Model):
    """Which observations decide a condition."""

    role: Role
    max_age: Duration
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    distinct: bool = True
    spacing: Spacing = Spacing()
    grade: Literal["low", "normal", "high"] = "low"
    match: dict[Name, Bound] = {}


class EvidenceRequirement(EvidenceSpec):
    """Block V: evidence for one effect."""

    effect: Name


class Precondition(Model):
    """Block I: a fact that must be evidenced when the action is dispatched."""

    condition: ConditionTemplate
    evidence: EvidenceSpec


class Approval(Model):
    """Block I: a person has to approve each dispatch, just as it would be sent (rule X12)."""

    max_age: Duration  # from the approval to the dispatch; after that it is void
    by: tuple[Person, ...] = ()  # names that may approve; empty: anyone who reaches the service


class Invocation(Model):
    """Block I: when a capability may run."""

    requires: dict[Name, Precondition] = {}
    approval: Approval | None = None  # where given, no dispatch without a person's approval


class Effect(Model):
    """Block E: what a capability changes."""

    kind: EffectKind
    condition: ConditionTemplate
    rests_on: tuple[ConditionTemplate, ...] = ()  # facts whose loss takes this effect with them


Dispositions = Annotated[tuple[Disposition, ...], Field(min_length=1)]


class Retry(Model):
    """How often, and under which replay permission, a failed attempt may be repeated."""

    limit: Annotated[int, Field(ge=0)] = 0
    replay: Replay = Replay.NEVER


class Interruption(Model):
    """Block R: every cause of interruption, each exactly once, with what it permits."""

    effect_absent: Dispositions  # qualified negative evidence
    evidence_insufficient: Dispositions  # samples missing, stale or of another subject
    evidence_conflicting: Dispositions  # qualified samples disagree
    outcome_unknown: Dispositions  # the answer was lost, or one side restarted
    provider_unavailable: Dispositions  # revoked, expired, drifted or gone
    state_lost: Dispositions  # achieved once, false now
    retry: Retry = Retry()
    observations: Annotated[int, Field(ge=0)] | None = None  # per operation; None: the task's budget alone


class Decision(Model):
    """One question that a reviewer of a draft decided."""

    question: str
    proposal: str = ""  # what the source claims, or a safe default; it binds nobody
    decision: str  # what was decided, in the reviewer's words
    by: str


class Attestation(Model):
    """A statement that a named person makes about the contract."""

    statement: str
    by: str


class Review(Model):
    """Where a drafted contract came from and who answers for what no source could know (section 3.2).

    It records that the review is complete, not that the reviewer is right or who they claim to be.
    """

    source: str
    decisions: dict[Name, Decision] = {}
    attestations: dict[Name, Attestation] = {}
    reviewed: str = ""  # date; set by finalize
    fingerprint: str = (
        ""  # of the reviewed content; set by finalize, so that a later edit asks for a new review
    )


class Contract(Model):
    """What capability, provider and task files have in common."""

    spec: Literal["adf_ea_ros/1"]
    id: Name
    version: Version
    title: str = ""
    description: str = ""
    extensions: dict[str, Any] = {}  # keys are reverse domain names
    review: Review | None = None  # of contracts that began as a draft


class CapabilityContract(Contract):
    """A Device Capability Contract: identity, subject and the four blocks (section 3.2)."""

    kind: Literal["capability"]
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    subject: str
    parameters: dict[Name, Parameter] = {}
    invocation: Invocation = Invocation()
    effects: Annotated[dict[Name, Effect], Field(min_length=1)]
    evidence: Annotated[dict[Name, EvidenceRequirement], Field(min_length=1)]
    interruption: Interruption
    shared: bool = False  # other authorities use its subjects too: a dispatch needs their leases


class FieldOr(Model):
    """Where a value comes from: a field of the message (dotted path) or a constant.

    With ``map``, the field's value (spelled as text) is translated, and a value without an entry is no
    observation.
    """

    field: FieldPathOrNone = ""
    const: Value | None = None
    map: dict[str, Value] = {}

    @model_validator(mode="after")
    def _one_source(self) -> FieldOr:
        if bool(self.field) == (self.const is not None):
            raise ValueError("give either field or const")
        if self.map and not self.field:
            raise ValueError("map translates the value of a field: give field")
        return self


class Route(Model):
    """A readback: a topic, and how its messages become observations."""

    topic: RosName
    type: InterfaceType
    type_hash: TypeHash = ""  # where given, the live topic must have this hash
    path: str  # the state path it reports
    unit: str = ""
    subject: FieldOr
    value: FieldOr
    derive: Derivation | None = None  # where the value is not the field itself but a number made of it
    stamp: FieldPathOrNone = ""  # field with the capture time; empty: the middleware's source timestamp
    producer: FieldPathOrNone = ""  # field with an identity of the producer
    correlation: dict[Name, FieldPath] = {}  # correlation field: message field
    grade: Literal["low", "normal", "high"] = "normal"
    reliability: Literal["reliable", "best_effort"] = "reliable"
    durability: Literal["volatile", "transient_local"] = "volatile"
    depth: Annotated[int, Field(ge=1, le=10000)] = 100


class Promises(Model):
    """What a provider promises about its interactions; silence promises nothing."""

    result_timeout: Duration = 10_000_000_000  # how long a finished goal id is remembered, and so protects
    key_field: FieldPathOrNone = ""  # request field for the attempt id, by which a repeat is recognized
    key_lifetime: Duration = 0  # how long such a key protects
    query: bool = False  # the outcome can be asked for by id
    final_on_result: bool = False  # a terminal answer means that no effect is still to come
    commit_bound: Duration | None = None  # an effect happens within this of the dispatch, or never
    visibility_delay: Duration = 0  # an effect shows on the readbacks at most this much later
    authorization: Literal["acceptance", "commit"] = "acceptance"  # when the device last checks that it may
    reversible: bool = False  # another capability can undo the effect


class Tool(Model):
    """The hardware interface that realizes a capability."""

    kind: Literal["action", "service", "topic"]
    name: RosName
    type: InterfaceType
    type_hash: TypeHash = ""  # where given, the live interface must have this hash
    provides: Name  # capability id
    arguments: dict[FieldPath, Name] = {}  # goal field (dotted path): parameter
    yaw: dict[FieldPath, Name] = {}  # goal field of type Quaternion: parameter with a heading in radians
    constants: dict[FieldPath, Value] = {}  # goal field: fixed value
    unmapped: tuple[Name, ...] = ()  # parameters that this provider needs no field for
    accepts: dict[Name, Annotated[tuple[Value, ...], Field(min_length=1)]] = {}  # the only values it serves
    deadline: Duration = 60_000_000_000  # no answer by then: the outcome is unknown
    promises: Promises = Promises()

    def serves(self, arguments: dict[str, Value]) -> bool:
        """Whether this provider is one for these arguments: a door's server serves that door only."""
        return all(
            name not in arguments or arguments[name] in values for name, values in self.accepts.items()
        )


class Rebinding(Model):
    """To which other providers an unresolved operation may move."""

    to: tuple[Name, ...] = ()


class ProviderContract(Contract):
    """A provider binding: who executes, through which interface, read back over which routes."""

    kind: Literal["provider"]
    lifecycle: Lifecycle
    expires: int | None = None  # ROS time in seconds after which it may not be bound
    node: RosName  # fully qualified name of the node that acts or publishes
    tool: Tool | None = None
    evidence: dict[Name, tuple[RouteRef, ...]] = {}  # requirement id: routes that may supply it
    routes: dict[Name, Route] = {}
    rebinding: Rebinding = Rebinding()
    shared_as: str = ""  # the device's name among authorities that share it: a dispatch needs its lease


class EffectRef(Model):
    """An effect of a capability for given arguments: how a task says what it wants."""

    capability: Name
    effect: Name
    arguments: dict[Name, Value] = {}
    occurrence: Name = "once"  # intended repetitions have occurrences of their own


class ObligationSpec(Model):
    """One obligation of a task's goal G."""

    kind: ObligationKind
    effect: EffectRef | None = None
    condition: ConditionTemplate | None = None  # without a producer
    evidence: EvidenceSpec | None = None  # with condition
    routes: tuple[RouteRef, ...] = ()  # with condition
    after: tuple[Name, ...] = ()
    initial: bool = False  # evidence from before any attempt may cover it

    @model_validator(mode="after")
    def _effect_or_condition(self) -> ObligationSpec:
        if (self.effect is None) == (self.condition is None):
            raise ValueError("an obligation names either an effect or a condition")
        if self.condition is not None and (self.evidence is None or not self.routes):
            raise ValueError("an obligation by condition needs evidence and routes")
        if self.kind is ObligationKind.EVENT and self.effect is None:
            raise ValueError("an event must name the effect that is the event")
        return self


class Budgets(Model):
    """The allowances of an episode; they are spent and never replenished."""

    physical: Annotated[int, Field(ge=0)]
    observation: Annotated[int, Field(ge=0)]


class Task(Contract):
    """A trusted task: obligations, dependencies, budgets. Loaded by the operator, never by the planner."""

    kind: Literal["task"]
    obligations: dict[Name, ObligationSpec] = {}  # may be empty in a standing task only
    budgets: Budgets
    capabilities: tuple[Name, ...] = ()  # what a proposal may use; empty: every capability
    planners: tuple[str, ...] = ()  # who may run it; empty: anyone
    standing: bool = False  # for clients that know no episode: no completion claim


class Reply(Model):
    """What a gate writes into the answer of the hardware's own type, on top of what the device said."""

    verified: dict[FieldPath, Value] = {}  # where the effect is verified
    refused: dict[FieldPath, Value] = {}  # where it is not, or nothing was sent
    text: FieldPathOrNone = ""  # field of text that then says why


class Gate(Contract):
    """A drop-in gate: a provider's own interface under another name, for clients that know no episode."""

    kind: Literal["gate"]
    name: RosName  # under which clients find it, before any remapping
    provider: Name  # whose action, service or topic it stands for
    task: Name  # standing task that the clients' goals belong to
    redundant: Literal["reject", "succeed"]  # a goal whose effect is established and still holds
    busy: Literal["reject", "preempt"] = "reject"  # a goal about what another one of this gate is changing
    forward: Literal["rebuilt", "as_sent"] = "rebuilt"  # from the arguments alone, or what the client wrote
    fields: dict[Name, FieldPath] = {}  # parameter: goal field, where it is not the provider's mapping
    arguments: dict[Name, Value] = {}  # parameters that have one value for every goal
    ignored: tuple[FieldPath, ...] = ()  # goal fields that may say anything and go nowhere
    evidence_timeout: Duration | None = None  # after the answer; None: the node's own
    reply: Reply = Reply()


AnyContract = CapabilityContract | ProviderContract | Task | Gate
