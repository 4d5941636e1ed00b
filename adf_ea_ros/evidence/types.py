"""What was seen, what is asked of it, and what it was found to show (sections 3.2, 3.4 and B.2)."""

from __future__ import annotations

from enum import Enum

import msgspec

from adf_ea_ros.contracts.conditions import Condition, Ns, Value
from adf_ea_ros.contracts.model import Grade, Role


class Verdict(str, Enum):
    """The verifier's vocabulary of section 3.4. An acknowledgement never produces one."""

    SATISFIED = "SATISFIED"
    UNSATISFIED = "UNSATISFIED"
    INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
    UNKNOWN = "UNKNOWN"


class Observation(msgspec.Struct, frozen=True, gc=False):
    """One message on a readback route, reduced to what qualification needs.

    ``source`` is the provider whose node was seen to publish it (from the graph, never from the message);
    ``producer`` is an identity that the message itself carries, such as a sensor serial number.
    Hundreds of thousands may be buffered, and none can be part of a reference cycle: hence ``gc=False``.
    """

    id: str  # occurrence identity: two contents under one id are an integrity error
    route: str  # "provider/route"
    source: str
    subject: str
    path: str
    value: Value
    stamp: Ns  # when the world was sampled, ROS time
    received: Ns  # when it reached us, ROS time
    producer: str = ""
    sequence: int = -1  # publication sequence number; -1 where the middleware gives none
    grade: Grade = Grade.NORMAL
    fields: tuple[tuple[str, Value], ...] = ()  # correlation fields, sorted by name
    publisher: str = ""  # gid of the publishing endpoint, where the middleware tells it (Kilted and later)
    relative: bool = False  # the condition speaks of the change of this value since the dispatch


class Gap(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a route in which observations are known to be missing."""

    route: str
    start: Ns
    end: Ns
    reason: str
    unknown: bool  # true where the state in the gap must be taken as unknown, not merely unreported


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """A grounded evidence requirement: which observations would decide ``condition``, and how many."""

    id: str
    condition: Condition
    role: Role
    routes: tuple[str, ...]  # "provider/route" names that may supply it
    max_age: Ns
    count: int = 1
    distinct: bool = True  # the samples of a window must differ in identity
    spacing_least: Ns = 0
    spacing_greatest: Ns = 0  # 0: unbounded
    grade: Grade = Grade.LOW  # least acceptable
    match: tuple[tuple[str, Value], ...] = ()  # correlation fields that must carry these values


class Context(msgspec.Struct, frozen=True):
    """What a requirement is checked against: the executing provider, and the dispatch it must postdate."""

    executor: str = ""  # provider id of the actuator; empty for a check bound to no attempt
    after: Ns = -1  # only samples captured strictly later are eligible
    match: tuple[tuple[str, Value], ...] = ()  # correlation fields of this attempt
    aliases: tuple[str, ...] = ()  # other provider ids that are the executor too (they share its node)
    skew: Ns = 0  # how far a source's clock may lead ours; every capture is dated earlier by this much
    settled: Ns = -1  # an effect may still be on its way until then: no negative evidence from before it
    baseline: tuple[
        tuple[str, str, Value], ...
    ] = ()  # subject, path, value at the dispatch: for relative ones


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What a qualification concluded about one requirement at one horizon; small enough for the ledger."""

    requirement: str
    condition: Condition
    verdict: Verdict
    horizon: Ns
    negative: bool = False  # qualified negative evidence (section B.3), a check of its own
    captured: Ns = -1  # stamp of the oldest sample that the verdict rests on
    valid_until: Ns = -1  # captured + max_age: after this the finding supports nothing current
    basis: tuple[str, ...] = ()  # ids of the observations used
    reasons: tuple[str, ...] = ()  # stable codes, such as E.stale or E.conflict
    integrity: str = ""  # non-empty: an integrity failure, which grants nothing
    support: int = 0  # eligible samples of which the condition is true
    against: int = 0  # eligible samples of which it is false
