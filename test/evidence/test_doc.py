"""doc/evidence.md and the code list the same reason codes, with the same words."""

import re
from pathlib import Path

import pytest

from adf_ea_ros.evidence import reasons
from studies.evidence_faults.faults import FAULTS
from studies.evidence_faults.matrix import cells

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "doc" / "evidence.md").read_text(encoding="utf-8")
CODES = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}


def test_every_code_has_a_sentence():
    assert set(reasons.SENTENCES) == CODES


def test_the_page_lists_every_code_with_its_sentence():
    listed = dict(
        re.findall(r"^\| `(E\.\w+)` \| (.+) \|$", PAGE.split("## Reason codes")[1], flags=re.MULTILINE)
    )
    assert listed == reasons.SENTENCES


def test_the_page_names_no_code_that_does_not_exist():
    assert set(re.findall(r"\bE\.\w+", PAGE)) == CODES


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_is_met_in_a_test(code):
    """By its own spelling, or by the name of the constant."""
    name = next(name for name, value in vars(reasons).items() if value == code)
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")]
    assert any(code in text or f"reasons.{name}" in text for text in tests)


def test_the_page_counts_the_fault_matrix_as_it_is():
    assert f"{len(FAULTS)} faults" in PAGE
    assert f"{len(list(cells())):,} cells" in PAGE
