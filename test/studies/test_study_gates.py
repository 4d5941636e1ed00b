"""The study of one raw client under faults: its table, and one fault through real processes."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from studies.gates.__main__ import run
from studies.gates.cases import CASES, Seen, table


@pytest.mark.parametrize(
    ("answers", "hot", "executions", "worth"),
    [
        (("SUCCEEDED",), True, 1, "true"),
        (("SUCCEEDED",), False, 0, "FALSE SUCCESS"),
        (("ABORTED", "rejected"), True, 1, "not told of the success"),
        (("ABORTED", "ABORTED"), False, 0, "true"),
        (("ABORTED", "SUCCEEDED"), True, 2, "true; DONE TWICE"),
    ],
)
def test_what_an_answer_was_worth(answers, hot, executions, worth):
    assert Seen(answers, hot, executions).verdict == worth


def test_the_table_has_a_row_for_each_fault():
    seen = Seen(("ABORTED", "rejected"), True, 1, ("R6.no_qualified_negative",))
    rows = table({name: {"raw": seen, "gated": seen} for name in CASES}).splitlines()
    assert len(rows) == 2 + len(CASES)
    assert rows[-1].count("ABORTED then rejected") == 2
    assert rows[-1].endswith("| R6.no_qualified_negative |")


@pytest.mark.ros
@pytest.mark.slow
def test_aborted_and_done_is_done_once_behind_a_gate():
    raw, gated = run(CASES["abort_with_effect"], "raw"), run(CASES["abort_with_effect"], "gated")
    assert (raw.answers, raw.executions) == (("ABORTED", "ABORTED"), 2)
    assert (gated.answers, gated.executions, gated.hot) == (("SUCCEEDED",), 1, True)
