"""A second qualifier, written from doc/evidence.md as plainly as possible, to compare the fast one with.

It shares no code with it beyond the types: it filters lists again and again, and builds every window by
search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement


@dataclass
class Answer:
    verdict: str
    negative: bool = False
    integrity: bool = False
    used: list[str] = field(default_factory=list)
    captured: int = -1
    valid_until: int = -1
    support: int = 0
    against: int = 0
    refused: dict[str, set[str]] = field(default_factory=dict)  # occurrence id: reasons


def kind(value):
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def equal(one, other):
    return kind(one) == kind(other) and one == other


def clause_holds(clause, value):
    """True, false, or None for a value that this clause cannot judge."""
    if kind(value) != kind(clause.bound):
        return None
    if kind(value) != "number":
        return value == clause.bound if clause.op.value == "EQ" else None
    if math.isnan(value) or math.isinf(value):
        return None
    table = {"EQ": value == clause.bound, "LT": value < clause.bound, "LTE": value <= clause.bound}
    table |= {"GT": value > clause.bound, "GTE": value >= clause.bound}
    return table[clause.op.value]


def condition_holds(condition, value):
    answers = [clause_holds(clause, value) for clause in condition.clauses]
    return None if None in answers else all(answers)


def judged_value(sample, context):
    """The value that the condition speaks of, or None where there is none."""
    if not sample.relative:
        return sample.value
    known = [value for s, p, value in context.baseline if (s, p) == (sample.subject, sample.path)]
    if not known or kind(known[0]) != "number" or kind(sample.value) != "number":
        return None
    return sample.value - known[0]


def first_fault(
    requirement: Requirement, context: Context, gaps: list[Gap], now: int, sample: Observation
) -> str:
    """The reasons in their documented order."""
    independent = requirement.role.value in ("INDEPENDENT_SENSOR", "INDEPENDENT_READ_BACK", "OPERATOR")
    executors = {context.executor, *context.aliases}
    captured = sample.stamp - context.skew
    unknown = [gap for gap in gaps if gap.unknown and gap.route == sample.route and gap.start <= now]
    unknown = [gap for gap in unknown if gap.end >= max(context.after, now - requirement.max_age)]
    value = judged_value(sample, context)
    wanted = list(requirement.match) + list(context.match)
    carried = dict(sample.fields)
    tests = [
        ("E.route", sample.route not in requirement.routes),
        (
            "E.executor",
            sample.source != sample.route.split("/")[0] and independent and sample.source in executors,
        ),
        ("E.source", sample.source != sample.route.split("/")[0]),
        ("E.subject", sample.subject != requirement.condition.subject),
        ("E.path", sample.path != requirement.condition.path),
        ("E.grade", int(sample.grade) < int(requirement.grade)),
        ("E.future", captured > now or captured > sample.received),
        ("E.clock", sample.received > now),
        ("E.before_dispatch", captured <= context.after),
        ("E.stale", now - captured > requirement.max_age),
        ("E.gap", any(captured <= gap.end for gap in unknown)),
        ("E.no_baseline", value is None),
        ("E.not_a_value", value is None or condition_holds(requirement.condition, value) is None),
        ("E.no_field", any(name not in carried for name, _ in wanted)),
        ("E.mismatch", any(not equal(carried.get(name), value) for name, value in wanted)),
    ]
    return next((code for code, failed in tests if failed), "")


def content(sample):
    return (
        sample.route, sample.source, sample.subject, sample.path, kind(sample.value), type(sample.value),
        repr(sample.value) if sample.value != sample.value else sample.value,
        sample.stamp, sample.producer, sample.grade, sample.fields,
    )  # fmt: skip


def identity(requirement, sample):
    who = sample.producer or sample.source or sample.id
    return who if requirement.distinct else (who, sample.stamp)


def window_from(requirement, samples, newest):
    """The window whose newest member is given: each next one is the newest that may follow."""
    members = [newest]
    while len(members) < requirement.count:
        last = members[-1]
        taken = [identity(requirement, member) for member in members]
        older = [s for s in samples if (s.stamp, s.id) < (last.stamp, last.id)]
        older = [s for s in older if last.stamp - s.stamp >= requirement.spacing_least]
        older = [s for s in older if identity(requirement, s) not in taken]
        if not older:
            return None
        chosen = max(older, key=lambda s: (s.stamp, s.id))
        if requirement.spacing_greatest and last.stamp - chosen.stamp > requirement.spacing_greatest:
            return None
        members.append(chosen)
    return members


def all_windows(requirement, samples):
    ordered = sorted(samples, key=lambda s: (s.stamp, s.id), reverse=True)
    found = [window_from(requirement, samples, newest) for newest in ordered]
    return [window for window in found if window is not None]


def inconsistent(requirement, context):
    independent = requirement.role.value in ("INDEPENDENT_SENSOR", "INDEPENDENT_READ_BACK", "OPERATOR")
    providers = {route.split("/")[0] for route in requirement.routes}
    own = providers & {context.executor, *context.aliases}
    if context.executor and independent and own:
        return True
    return requirement.count < 1 or not requirement.routes or not requirement.condition.clauses


def contradicts_itself(samples):
    """Whether two records with one id differ in content."""
    return any(a.id == b.id and content(a) != content(b) for a in samples for b in samples)


def first_received(samples, answer):
    """Of several records of one occurrence, the one that was received first stands for it."""
    kept = {}
    for sample in samples:
        if sample.id in kept:
            answer.refused.setdefault(sample.id, set()).add("E.duplicate")
        if sample.id not in kept or sample.received < kept[sample.id].received:
            kept[sample.id] = sample
    return list(kept.values())


def reference(
    requirement: Requirement, context: Context, samples: list[Observation], gaps: list[Gap], now: int
):
    """The answer for one schedule."""
    on_route = [s for s in samples if s.route in requirement.routes]
    if inconsistent(requirement, context) or contradicts_itself(on_route):
        return Answer("UNKNOWN", integrity=True)
    answer = Answer("")
    kept = first_received(on_route, answer) + [s for s in samples if s.route not in requirement.routes]
    eligible, mismatched = [], []
    for sample in kept:
        fault = first_fault(requirement, context, gaps, now, sample)
        if fault:
            answer.refused.setdefault(sample.id, set()).add(fault)
        if not fault:
            eligible.append(sample)
        if fault == "E.mismatch":
            mismatched.append(sample)
    holds = {s.id: condition_holds(requirement.condition, judged_value(s, context)) for s in eligible}
    answer.support = len([s for s in eligible if holds[s.id]])
    answer.against = len([s for s in eligible if not holds[s.id]])

    used = decide(requirement, context, answer, eligible, holds)
    if not answer.verdict and mismatched and all_windows(requirement, eligible + mismatched):
        answer.verdict = "UNSATISFIED"
        used = all_windows(requirement, eligible + mismatched)[0]
    if not answer.verdict:
        since = max(context.after, now - requirement.max_age)
        unknown = [g for g in gaps if g.unknown and g.route in requirement.routes]
        unknown = [g for g in unknown if g.start <= now and g.end >= since]
        answer.verdict = "UNKNOWN" if unknown or context.after > now else "INSUFFICIENT_EVIDENCE"
    if used:
        used = sorted(used, key=lambda s: (s.stamp, s.id), reverse=True)
        answer.used = [s.id for s in used]
        answer.captured = used[-1].stamp - context.skew
        answer.valid_until = answer.captured + requirement.max_age
    return answer


def decide(requirement, context, answer, eligible, holds):
    """The strongest evidence that forms a window decides. Sets the verdict; returns what it rests on."""
    for grade in (3, 2, 1):
        tier = [s for s in eligible if int(s.grade) >= grade]
        formed = all_windows(requirement, tier)
        true = [w for w in formed if all(holds[s.id] for s in w)]
        false = [w for w in formed if not all(holds[s.id] for s in w)]
        against = [s for s in tier if not holds[s.id]]
        if true and against:
            answer.verdict = "UNKNOWN"
            newest = max(against, key=lambda s: (s.stamp, s.id))
            return {s.id: s for s in true[0] + (false[0] if false else [newest])}.values()
        if true:
            answer.verdict = "SATISFIED"
            return true[0]
        if false:
            answer.verdict = "UNSATISFIED"
            late = all_windows(requirement, [s for s in eligible if s.stamp - context.skew > context.settled])
            answer.negative = answer.support == 0 and bool(late)
            return late[0] if answer.negative else false[0]
    return []
