"""What the rqt plugin shows, as values: no Qt, no ROS."""

from __future__ import annotations

import subprocess
import sys

import pytest
from words import SECOND, decision, episode

from adf_ea_ros.cli.decision_log import DecisionLog, Filter
from adf_ea_ros.nodes.rqt.model import BAD, COLUMNS, GOOD, OPEN, Case, Cases, cells, detail, standing, tree


def test_it_loads_neither_qt_nor_ros():
    code = (
        "import sys, adf_ea_ros.nodes.rqt.model as m; "
        "bad = [n for n in sys.modules if n.split('.')[0] in ('rclpy', 'python_qt_binding', 'PyQt5')]; "
        "sys.exit(str(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_log_takes_each_decision_once_and_forgets_the_oldest():
    log = DecisionLog(kept=3)
    assert [log.add(decision(n)) for n in (1, 2, 2, 3, 4)] == [True, True, False, True, True]
    assert [d.id for d in log] == ["job:2", "job:3", "job:4"]
    log.clear()
    assert len(log) == 0
    assert log.add(decision(4))


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        (Filter(), {"refused", "granted", "elsewhere"}),
        (Filter(routine=True), {"refused", "granted", "elsewhere", "facts"}),
        (Filter(episode="job"), {"refused", "granted"}),
        (Filter(authorized=True), {"granted", "elsewhere"}),
        (Filter(authorized=False), {"refused"}),
        (Filter(reason="r5"), {"refused"}),
        (Filter(reason="UNRESOLVED"), {"refused"}),
        (Filter(reason="first"), {"granted", "elsewhere"}),
        (Filter(reason="measure"), {"elsewhere"}),
        (Filter(reason="nothing of this"), set()),
        (Filter(episode="other", authorized=False), set()),
    ],
)
def test_a_filter_shows_what_it_names(chosen, shown):
    log = DecisionLog()
    granted = {
        "authorized": True,
        "rules": ("R2",),
        "reasons": (),
        "sentence": "first dispatch",
        "attempt": "",
    }
    log.add(decision(1, id="refused"))
    log.add(decision(2, id="granted", **granted))
    log.add(decision(3, id="elsewhere", **{**granted, "episode": "other", "subject": "measure"}))
    log.add(decision(4, id="facts", request="Refresh"))
    assert {d.id for d in log.shown(chosen)} == shown


def test_a_row_has_a_cell_for_each_column():
    row = cells(decision())
    assert len(row) == len(COLUMNS)
    assert row == ("103.0 s", "REFUSED", "Dispatch heat #1", "R5.unresolved", row[4], "5/8")
    assert row[4] == "attempt #1 is unresolved; observe it, or stop"


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({}, BAD),
        ({"authorized": True}, GOOD),
        ({"request": "Assess"}, OPEN),
        ({"request": "Assess", "negative": True}, BAD),
        ({"request": "Assess", "authorized": True}, GOOD),
        ({"request": "Halt", "authorized": True}, BAD),
    ],
)
def test_a_decision_is_marked_by_what_it_means(changes, mark):
    assert standing(decision(**changes)) == mark


def test_the_detail_says_what_is_owed_known_and_accepted_next():
    text = detail(decision(verdict=4, negative=True), Case.of(episode()))
    assert text.startswith("REFUSED: Dispatch heat #1\nattempt #1 is unresolved")
    assert "rules R5; reasons R5.unresolved" in text
    assert "decision job:7, generation 2" in text
    assert "5 physical, 8 observations, 1 retry left" in text
    assert "attempt job.1: UNKNOWN, shown absent" in text
    assert "Accepted next, as told with it\n  observe #1\n  stop\n" in text
    owed = text.partition("\nOwed\n")[2].partition("\n\n")[0].splitlines()
    assert owed == ["  outcome: #1", "  state: s1.clean = true, needed by record"]
    assert "Known\n  s1.temperature >= 79: UNSATISFIED, shown absent, until 120.0 s (E.early)\n" in text
    assert text.endswith("  Owed: the outcome of #1.\n  Accepted next: observe heat.\n")


def test_the_detail_of_an_unknown_episode_is_the_decision_alone():
    text = detail(decision(attempt="", next=()), None)
    assert "The episode" not in text
    assert "Accepted next" not in text
    assert "attempt job" not in text


def test_the_tree_shows_steps_obligations_proofs_and_facts():
    (branch,) = tree([Case.of(episode())])
    assert (branch.text, branch.note, branch.standing) == (
        "job",
        "active, 5 physical, 8 observations left",
        OPEN,
    )
    head, *groups = branch.below
    assert (head.text, head.note) == ("task/heat@1.0.0", "planner tree")
    found = {group.text: [(b.text, b.note, b.standing) for b in group.below] for group in groups}
    assert found == {
        "Steps (2)": [
            ("heat: heat_to", "answered SUCCEEDED, effect not shown on heater_a", OPEN),
            ("record: record", "not begun", ""),
        ],
        "Obligations (3)": [
            ("goal: s1.clean = true", "settled", GOOD),
            ("outcome: #1", "open", OPEN),
            ("state: s1.clean = true", "for record", BAD),
        ],
        "Proofs (1)": [("s1.clean = true", "revoked: X2.lost", BAD)],
        "Facts (1)": [("s1.temperature >= 79", "UNSATISFIED, shown absent, until 120.0 s (E.early)", BAD)],
    }


def test_a_halt_is_seen_at_the_episode():
    (branch,) = tree([Case.of(episode(halted="by ann: smoke"))])
    assert (branch.note, branch.standing) == ("halted: by ann: smoke", BAD)


def test_groups_without_content_are_left_out():
    empty = episode(steps=[], attempts=[], certificates=[], obligations=[], facts=[], phase="completed")
    (branch,) = tree([Case.of(empty)])
    assert (branch.standing, len(branch.below)) == (GOOD, 1)


def test_active_episodes_come_first_and_the_oldest_word_is_forgotten():
    cases = Cases()
    for number in range(60):
        done = episode(f"job{number}", phase="completed" if number % 2 else "active")
        done.header.stamp.sec = number
        assert cases.add(Case.of(done))
    assert not cases.add(Case.of(episode("job59")))
    assert cases.get("job59").view.time == 105 * SECOND
    assert cases.get("job9") is None
    assert len(cases.names) == 50
    phases = [case.view.phase for case in cases.listed]
    assert phases == sorted(phases)
    cases.clear()
    assert not cases.listed
