"""The generated fault matrix: no fault leads to a grant, and without a fault everything is granted."""

from collections import Counter

import pytest

from adf_ea_ros.evidence.types import Verdict
from studies.evidence_faults.__main__ import forbidden, main, outcome
from studies.evidence_faults.faults import FAULTS
from studies.evidence_faults.matrix import KINDS, SHAPES, cells, evaluate

CELLS = list(cells())


@pytest.mark.parametrize("fault", FAULTS)
def test_no_cell_of_the_fault_grants_anything(fault):
    mine = [cell for cell in CELLS if cell.fault == fault]
    assert len(mine) >= len(SHAPES) * 4, "a fault that hardly occurs proves nothing"
    assert [cell for cell in mine if forbidden(cell, evaluate(cell))] == []


def test_good_samples_are_granted():
    """The control: every kind and every shape, supported and contradicted, directly and buffered."""
    good = [cell for cell in CELLS if not cell.fault]
    assert len(good) == len(KINDS) * len(SHAPES) * 2 * 2 * 2
    for cell in good:
        finding = evaluate(cell)
        assert finding.verdict is (Verdict.SATISFIED if cell.supporting else Verdict.UNSATISFIED)
        assert finding.negative is not cell.supporting


def test_faults_are_told_apart():
    """Missing and stale evidence is insufficient, a wrong run is inadmissible, conflict is neither."""
    seen = {name: Counter(outcome(evaluate(cell)) for cell in CELLS if cell.fault == name) for name in FAULTS}
    assert set(seen["lost"]) == {"INSUFFICIENT"}
    assert set(seen["older than the limit"]) == {"INSUFFICIENT"}
    assert set(seen["another run"]) == {"UNSATISFIED"}
    assert set(seen["the state became unknown"]) == {"UNKNOWN"}
    assert set(seen["one occurrence, two contents"]) == {"integrity"}
    assert "INSUFFICIENT" not in seen["a contradiction, newest"]


def test_the_command_counts_them(capsys):
    assert main() == 0
    assert f"{len(CELLS)} cells, 0 forbidden outcomes" in capsys.readouterr().out
