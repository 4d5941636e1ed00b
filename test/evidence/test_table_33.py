"""Table 33: all twenty schedules, directly and through the buffers."""

import subprocess
import sys
from pathlib import Path

import pytest

from adf_ea_ros.evidence.types import Verdict
from studies.evidence_schedules.evaluate import directly, evaluate, through_buffers
from studies.evidence_schedules.manifest import GROUPS

SCHEDULES = [schedule for group in GROUPS.values() for schedule in group]
ROOT = Path(__file__).parents[2]


def test_there_are_twenty_schedules():
    assert len(SCHEDULES) == len({schedule.name for schedule in SCHEDULES}) == 20


@pytest.mark.parametrize("judge", [directly, through_buffers])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.name)
def test_disposition(schedule, judge):
    outcome = evaluate(schedule, judge)
    assert outcome.disposition == schedule.expected, outcome.last.explain()
    if schedule.paper != "Not evaluated":
        assert outcome.recorded == schedule.paper


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.name)
def test_no_schedule_gives_negative_evidence(schedule):
    """None of the perturbations shows that the sample is not hot: none may open the way to a retry."""
    outcome = evaluate(schedule)
    assert not outcome.first.finding.negative
    assert not outcome.last.finding.negative


def test_counts_of_the_paper():
    """Eight verify at once, five after observation, six are withheld; the one left out is the seventh."""
    found = [evaluate(schedule).disposition for schedule in SCHEDULES]
    counts = {each: found.count(each) for each in set(found)}
    assert counts == {"verify": 8, "observe, verify": 5, "insufficient": 3, "inadmissible": 3, "conflict": 1}


def test_what_is_observed_before_a_recovery_is_never_satisfied():
    for schedule in SCHEDULES:
        if schedule.expected == "observe, verify":
            assert evaluate(schedule).first.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_command_prints_the_table():
    done = subprocess.run(
        [sys.executable, "-m", "studies.evidence_schedules"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 of 20 as expected" in done.stdout
