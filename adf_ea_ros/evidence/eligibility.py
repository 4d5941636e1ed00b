"""Which samples may be counted at all, and for each of the others the first reason against it (section
B.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.predicate import predicate
from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement
from adf_ea_ros.evidence.windows import Candidate

SEPARATE = frozenset({Role.INDEPENDENT_SENSOR, Role.INDEPENDENT_READ_BACK, Role.OPERATOR})
"""Roles whose source must not be the executing provider (appendix D)."""


class Refused(msgspec.Struct, frozen=True):
    """A sample that was not counted, with the first reason against it."""

    observation: Observation
    code: str


class Screened(msgspec.Struct):
    """The samples, sorted by what may be done with them. ``eligible`` and ``mismatched`` are newest first."""

    eligible: list[Candidate]
    mismatched: list[Candidate]  # ineligible only because a correlation field carries another value
    refused: list[Refused]
    integrity: str = ""


def provider_of(route: str) -> str:
    """The provider id of a route name ``provider/route``."""
    return route.partition("/")[0]


def inconsistency(requirement: Requirement, context: Context) -> str:
    """What is wrong with the requirement itself, or with its routes given this executor; empty if nothing.

    A condition without clauses would hold of anything, a bound that is not a number be contradicted by
    anything, a requirement without routes or with a count of nothing be decided by nothing: faults of whoever
    built them, which must not be evaluated.
    """
    if requirement.count < 1 or requirement.max_age < 0 or requirement.spacing_least < 0:
        return f"{reasons.REQUIREMENT}: count, greatest age or spacing out of range"
    if not requirement.condition.clauses or not requirement.routes:
        return f"{reasons.REQUIREMENT}: a requirement needs a clause and a route"
    for clause in requirement.condition.clauses:
        if type(clause.bound) is float and not math.isfinite(clause.bound):
            return f"{reasons.REQUIREMENT}: {clause.bound} is no bound"
    if requirement.role in SEPARATE and context.executor:
        for route in requirement.routes:
            provider = provider_of(route)
            if provider == context.executor or provider in context.aliases:
                return f"{reasons.ROLE}: {route} belongs to the executing provider {context.executor}"
    return ""


def same_value(left: Value, right: Value) -> bool:
    """Equality that does not take True for 1, nor "1" for 1."""
    if isinstance(left, (bool, str)) or isinstance(right, (bool, str)):
        return type(left) is type(right) and left == right
    return left == right


def same_content(left: Observation, right: Observation) -> bool:
    """Whether two records of one occurrence say the same. How and when they reached us is no part of it."""
    both_nan = left.value != left.value and right.value != right.value  # NaN alone differs from itself
    return (
        (left.value == right.value or both_nan)
        and type(left.value) is type(right.value)
        and (
            left.route,
            left.source,
            left.subject,
            left.path,
            left.stamp,
            left.producer,
            left.grade,
            left.fields,
        )
        == (
            right.route,
            right.source,
            right.subject,
            right.path,
            right.stamp,
            right.producer,
            right.grade,
            right.fields,
        )
    )


def screen(
    requirement: Requirement, context: Context, samples: Sequence[Observation], gaps: Iterable[Gap], now: Ns
) -> Screened:
    """Sort ``samples`` by eligibility at the horizon ``now``. The order of ``samples`` does not matter."""
    result = Screened([], [], [])
    if len({sample.id for sample in samples}) != len(samples):
        samples = _occurrences(requirement, samples, result)
    check = _Check(requirement, context, gaps, now)
    subject, path = requirement.condition.fact
    grade, skew, low = requirement.grade, context.skew, check.low
    provider, content, take = check.providers.get, check.content, result.eligible.append
    for sample in samples:
        captured = sample.stamp - skew
        if (
            sample.source == provider(sample.route)
            and sample.subject == subject
            and sample.path == path
            and sample.grade >= grade
            and low <= captured <= sample.received <= now
        ):
            # What ``origin`` and ``time`` find no fault with, in one step: most samples come this way.
            code = content(sample)
        else:
            code = check.origin(sample) or check.time(sample) or content(sample)
        if not code:
            take((captured, sample.id, check.supports, sample))
            continue
        result.refused.append(Refused(sample, code))
        if code == reasons.MISMATCH:
            result.mismatched.append((captured, sample.id, check.supports, sample))
    result.eligible.sort(reverse=True)
    result.mismatched.sort(reverse=True)
    return result


def _occurrences(
    requirement: Requirement, samples: Sequence[Observation], result: Screened
) -> list[Observation]:
    """One sample for each occurrence id: the one that was received first.

    Two contents under one id on the requirement's routes are an integrity failure, whatever else is wrong
    with them.
    """
    first: dict[str, Observation] = {}
    others: list[Observation] = []
    for sample in sorted(samples, key=lambda sample: sample.received):
        if sample.route not in requirement.routes:
            others.append(sample)
            continue
        known = first.setdefault(sample.id, sample)
        if known is sample:
            continue
        result.refused.append(Refused(sample, reasons.DUPLICATE))
        if not same_content(known, sample) and not result.integrity:
            result.integrity = f"{reasons.OCCURRENCE}: {sample.id} carries two contents"
    return [*first.values(), *others]


class _Check:
    """The tests of one qualification, prepared once. Each returns the code of the first fault, or nothing.

    They run for every sample of every qualification: hence the bound attributes.
    """

    __slots__ = (
        "_after",
        "_context",
        "_grade",
        "_holds",
        "_match",
        "_now",
        "_oldest",
        "_path",
        "_separate",
        "_skew",
        "_subject",
        "_unknown_until",
        "low",
        "providers",
        "supports",
    )

    def __init__(self, requirement: Requirement, context: Context, gaps: Iterable[Gap], now: Ns) -> None:
        self.supports = False
        """Whether the condition is true of the sample that ``content`` saw last."""
        self._context = context
        self._subject, self._path = requirement.condition.fact
        self._separate = requirement.role in SEPARATE
        self._grade = requirement.grade
        self._now = now
        self._oldest = now - requirement.max_age
        self._after, self._skew = context.after, context.skew
        self.providers = {route: provider_of(route) for route in requirement.routes}
        self._holds = predicate(requirement.condition)
        self._match = requirement.match + context.match
        self._unknown_until: dict[str, Ns] = {}
        for gap in gaps:
            if gap.unknown and gap.start <= now:
                self._unknown_until[gap.route] = max(gap.end, self._unknown_until.get(gap.route, gap.end))
        latest = max(self._unknown_until.values(), default=self._after)
        self.low = max(self._after + 1, self._oldest, latest + 1)
        """From this capture on, no sample of any route is too early, too old, or before the end of a gap."""

    def origin(self, sample: Observation) -> str:
        """Whether the sample came from where the requirement says, and speaks of what it asks."""
        provider = self.providers.get(sample.route)
        if provider is None:
            return reasons.ROUTE
        if sample.source != provider:
            executor = sample.source == self._context.executor or sample.source in self._context.aliases
            return reasons.EXECUTOR if executor and self._separate else reasons.SOURCE
        if sample.subject != self._subject:
            return reasons.SUBJECT
        if sample.path != self._path:
            return reasons.PATH
        return reasons.GRADE if sample.grade < self._grade else ""

    def time(self, sample: Observation) -> str:
        """Whether the sample was captured after the dispatch, is fresh, and its clock can be believed.

        A stamp later than the reception proves that the source's clock leads ours: such a sample may have
        been captured before the dispatch, and would look fresh for too long. It stays refused when the
        clock catches up.
        """
        captured, received = sample.stamp - self._skew, sample.received
        if captured > received or captured > self._now:
            return reasons.FUTURE
        if received > self._now:
            return reasons.CLOCK
        if captured <= self._after:
            return reasons.BEFORE_DISPATCH
        if captured < self._oldest:
            return reasons.STALE
        if self._unknown_until and captured <= self._unknown_until.get(sample.route, -1):
            return reasons.GAP
        return ""

    def content(self, sample: Observation) -> str:
        """Whether the value can be judged, and belongs to this attempt. Sets ``supports``."""
        value = sample.value
        if sample.relative:
            change = self._change(sample)
            if change is None:
                return reasons.NO_BASELINE
            value = change
        supports = self._holds(value)
        if supports is None:
            return reasons.NOT_A_VALUE
        self.supports = supports
        return self._correlation(sample) if self._match else ""

    def _correlation(self, sample: Observation) -> str:
        fields = dict(sample.fields)
        if any(name not in fields for name, _ in self._match):
            return reasons.NO_FIELD
        matches = all(same_value(fields[name], wanted) for name, wanted in self._match)
        return "" if matches else reasons.MISMATCH

    def _change(self, sample: Observation) -> Value | None:
        """The value less the one at the dispatch; nothing where there was none, or where it is no number."""
        for subject, path, before in self._context.baseline:
            if subject == sample.subject and path == sample.path:
                if isinstance(before, (bool, str)) or isinstance(sample.value, (bool, str)):
                    return None
                return sample.value - before
        return None
