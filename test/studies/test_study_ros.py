"""The heating study through real nodes decides as it does in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.heating.cases import CASES, Case
from studies.heating.decisions import from_events, words
from studies.heating.study import adf

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_same_decisions(case: Case, tmp_path: Path) -> None:
    ros = pytest.importorskip("studies.heating.ros", reason="needs rclpy and the built interfaces")
    sequence, events = ros.told(case, tmp_path)
    assert words(sequence) == words(adf(case)[0].decisions)
    assert any(event["type"] == "Completed" for event in events)


def test_the_sequence_leaves_out_refusals_and_keeps_grants() -> None:
    """Else two runs would be the same by saying nothing."""
    outcome, _ = adf(CASES[1])
    assert [step.provider for step in outcome.decisions if step.request == "Dispatch"] == [
        "heater_a",
        "heater_b",
        "probe",
        "recorder_a",
    ]
    assert all(step.authorized for step in outcome.decisions)
    assert from_events([]) == ()
