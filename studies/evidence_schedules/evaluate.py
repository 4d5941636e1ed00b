"""From a schedule to its disposition: qualify, observe once more where that is permitted, and classify."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.qualify import Qualification, qualify
from adf_ea_ros.evidence.types import Finding, Observation, Verdict
from studies.evidence_schedules.manifest import CONTEXT, SECOND, Schedule

AGAIN = 140 * SECOND
"""When the further observation is judged."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of a schedule; ``first`` is the qualification before any further observation."""

    disposition: str
    recorded: str
    first: Qualification
    last: Qualification


Judge = Callable[[Schedule, Sequence[Observation], int], Qualification]
"""How samples are qualified at a horizon: directly, or through the buffers."""


def directly(schedule: Schedule, samples: Sequence[Observation], now: int) -> Qualification:
    """Qualify the samples as they are."""
    return qualify(schedule.requirement, CONTEXT, samples, (), now)


def through_buffers(schedule: Schedule, samples: Sequence[Observation], now: int) -> Qualification:
    """Feed a buffer for each route first, in the order of arrival, as the runtime does."""
    buffers: dict[str, RouteBuffer] = {}
    for sample in sorted(samples, key=lambda sample: sample.received):
        buffers.setdefault(sample.route, RouteBuffer(sample.route)).add(sample)
    return qualify_routes(schedule.requirement, CONTEXT, buffers, now)


def evaluate(schedule: Schedule, judge: Judge = directly) -> Outcome:
    """The disposition of one schedule. Only insufficient evidence is answered with a further observation."""
    now = round(schedule.horizon * SECOND)
    first = judge(schedule, schedule.samples, now)
    last = first
    if first.verdict is Verdict.INSUFFICIENT_EVIDENCE and schedule.later:
        last = judge(schedule, (*schedule.samples, *schedule.later), AGAIN)
    disposition = _disposition(last.finding)
    if disposition == "verify" and last is not first:
        disposition = "observe, verify"
    return Outcome(disposition, _recorded(last.finding), first, last)


def _disposition(finding: Finding) -> str:
    if finding.integrity:
        return "inadmissible"
    if finding.verdict is Verdict.SATISFIED:
        return "verify"
    if finding.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        return "insufficient"
    if finding.verdict is Verdict.UNKNOWN and reasons.CONFLICT in finding.reasons:
        return "conflict"
    if finding.verdict is Verdict.UNSATISFIED and reasons.MISMATCH in finding.reasons:
        return "inadmissible"
    return "absent" if finding.negative else "unclassified"


def _recorded(finding: Finding) -> str:
    if finding.integrity:
        return "Integrity rejection"
    return finding.verdict.value.replace("_EVIDENCE", "").capitalize()
