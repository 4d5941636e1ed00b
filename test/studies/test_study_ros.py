"""The studies through real nodes: the same decisions as in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.catalog import IN_PROCESS_ONLY, MODULES, ROS_OF_ITS_OWN, find
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


@pytest.mark.parametrize("name", ["comparison", "compositions", "controls"])
def test_the_same_answers_through_the_nodes(name: str) -> None:
    pytest.importorskip("rclpy")
    result = find(name, ros=True)(lambda *_, **__: None)
    assert result.runs
    assert not [check.claim for check in result.checks if not check.holds], result.notes


@pytest.mark.parametrize("name", ["lifecycle", "composed", "contrasts", "scaling", "ablations"])
def test_the_first_of_each_kind_through_the_nodes(name: str) -> None:
    """The short form; ``python -m studies --ros`` makes all runs."""
    pytest.importorskip("rclpy")
    from studies.ros.compare import Item, compare
    from studies.ros.forms import FORMS

    title, items = FORMS[name]
    first: dict[str, Item] = {}
    for item in items():
        if name != "scaling" or (item.group in {"depth 4", "width 4"} and "late" in item.condition.name):
            first.setdefault(item.group, item)
    chosen = list(first.values())
    assert len(chosen) >= 2
    result = compare(name, title, chosen, lambda *_, **__: None)
    assert len(result.runs) == len(chosen)
    assert not [check.claim for check in result.checks if not check.holds], result.notes


def test_every_run_of_every_study_has_its_form() -> None:
    """All that ADF-EA does in one process is there to be done through the nodes."""
    pytest.importorskip("rclpy")
    from studies.ros.forms import FORMS

    assert FORMS.keys() | ROS_OF_ITS_OWN.keys() | IN_PROCESS_ONLY == MODULES.keys()
    counts = {name: len(list(items())) for name, (_, items) in FORMS.items()}
    assert counts == {
        "comparison": 17, "compositions": 6, "lifecycle": 49, "composed": 16, "contrasts": 72, "controls": 22,
        "scaling": 100, "ablations": 129,
    }  # fmt: skip


def test_a_difference_would_be_seen(tmp_path: Path) -> None:
    """The comparison compares: a reading that reaches only one of the two makes other answers."""
    pytest.importorskip("rclpy")
    from studies.comparison.run import boolean, conditions
    from studies.methods import Adf
    from studies.ros.compare import Item, answers, both, scores
    from studies.ros.link import Link

    item = Item("one", boolean(), next(c for c in conditions() if c.name == "normal_chain"), Adf)
    with Link(item.library, tmp_path) as link:
        here, there = both(link, item, 0)
        assert answers(here) == answers(there)
        first, second = scores(item, (here, there))
        assert first == second
        assert len(list(link.service.book.ledger.episodes())) >= 1
        publish = link.publish
        link.publish = lambda sample: None if sample.path == "processed" else publish(sample)
        here, there = both(link, item, 1)
        assert answers(here) != answers(there)


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
