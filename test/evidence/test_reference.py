"""The qualifier against a slow, plainly written one, on random schedules.

A few hundred in a quick run; the full run (EVIDENCE_SCHEDULES=20000, as in continuous integration) takes
minutes.
"""

import os

import pytest
from evidence_reference import reference
from evidence_schedules import honest_schedules, schedules
from hypothesis import HealthCheck, Phase, assume, event, find, given, settings
from hypothesis import strategies as st

from adf_ea_ros.evidence.qualify import qualify
from adf_ea_ros.evidence.types import Gap, Verdict

EXAMPLES = int(os.environ.get("EVIDENCE_SCHEDULES", "400"))
thorough = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
search = settings(
    max_examples=5000,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
brief = settings(
    max_examples=max(100, EXAMPLES // 20), deadline=None, suppress_health_check=list(HealthCheck)
)


def refusals(qualification):
    found = {}
    for refused in qualification.refused:
        found.setdefault(refused.observation.id, set()).add(refused.code)
    return found


@pytest.mark.timeout(3600)
@thorough
@given(schedules())
def test_agrees_with_the_reference(schedule):
    requirement, context, samples, gaps, now = schedule
    result = qualify(requirement, context, samples, gaps, now)
    expected = reference(requirement, context, samples, gaps, now)
    finding = result.finding
    event(f"{expected.verdict}{' negative' * expected.negative}{' integrity' * expected.integrity}")
    assert finding.verdict.value == expected.verdict, result.explain()
    assert finding.negative == expected.negative, result.explain()
    assert bool(finding.integrity) == expected.integrity
    if expected.integrity:
        return
    assert list(finding.basis) == expected.used
    assert [sample.id for sample in result.used] == expected.used
    assert (finding.captured, finding.valid_until) == (expected.captured, expected.valid_until)
    assert (finding.support, finding.against) == (expected.support, expected.against)
    assert refusals(result) == expected.refused
    assert result.explain()


@pytest.mark.parametrize(
    ("verdict", "special"),
    [*((each, "") for each in Verdict), (Verdict.UNSATISFIED, "negative"), (Verdict.UNKNOWN, "integrity")],
)
def test_the_schedules_reach_every_outcome(verdict, special):
    def reached(schedule):
        answer = reference(*schedule)
        marked = "negative" if answer.negative else "integrity" if answer.integrity else ""
        return answer.verdict == verdict.value and marked == special

    find(schedules(), reached, settings=search)


@brief
@given(schedules(), st.randoms(use_true_random=False))
def test_the_order_of_samples_decides_nothing(schedule, random):
    requirement, context, samples, gaps, now = schedule
    shuffled = list(samples)
    random.shuffle(shuffled)
    left, right = (qualify(requirement, context, each, gaps, now) for each in (samples, shuffled))
    if not left.finding.integrity:  # of several conflicting ids, either may be named first
        assert left.finding == right.finding
    assert left.verdict == right.verdict


@brief
@given(schedules(), st.data())
def test_a_contradiction_never_makes_satisfied_and_a_support_never_makes_negative(schedule, data):
    """Adding an eligible sample of the strongest grade: what it contradicts is not granted afterwards."""
    requirement, context, samples, gaps, now = schedule
    before = qualify(requirement, context, samples, gaps, now)
    assume(samples and not before.finding.integrity)
    added = data.draw(st.sampled_from(samples))
    rest = [sample for sample in samples if sample.id != added.id]
    without = qualify(requirement, context, rest, gaps, now)
    eligible = added.id not in refusals(before)
    if eligible and before.finding.support > without.finding.support:
        assert not before.finding.negative
    if eligible and before.finding.against > without.finding.against:
        strongest = max((s.grade for s in samples if s.id not in refusals(before)), default=None)
        assert before.verdict is not Verdict.SATISFIED or added.grade < strongest


@brief
@given(schedules(), st.data())
def test_what_is_refused_changes_nothing(schedule, data):
    requirement, context, samples, gaps, now = schedule
    result = qualify(requirement, context, samples, gaps, now)
    assume(not result.finding.integrity)
    useless = {sample.id for sample in samples} & {
        name for name, codes in refusals(result).items() if not codes & {"E.mismatch", "E.duplicate"}
    }
    kept = [sample for sample in samples if sample.id not in useless]
    again = qualify(requirement, context, kept, gaps, now)
    assert (again.verdict, again.finding.negative, again.finding.basis) == (
        result.verdict, result.finding.negative, result.finding.basis,
    )  # fmt: skip


@brief
@given(honest_schedules())
def test_a_finding_holds_until_it_expires_and_no_longer(schedule):
    """With nothing new seen, a SATISFIED finding's evidence is good up to ``valid_until``."""
    requirement, context, samples, now = schedule
    finding = qualify(requirement, context, samples, [], now).finding
    assume(finding.verdict is Verdict.SATISFIED)
    assert now <= finding.valid_until
    used = [sample for sample in samples if sample.id in finding.basis]
    assert qualify(requirement, context, used, [], finding.valid_until).verdict is Verdict.SATISFIED
    assert qualify(requirement, context, used, [], finding.valid_until + 1).verdict is not Verdict.SATISFIED


@brief
@given(schedules())
def test_an_unknown_state_to_the_end_grants_nothing(schedule):
    requirement, context, samples, gaps, now = schedule
    blind = [Gap(route, 0, now, "blind", unknown=True) for route in requirement.routes]
    result = qualify(requirement, context, samples, [*gaps, *blind], now)
    assert result.verdict is Verdict.UNKNOWN
    assert not result.finding.negative
