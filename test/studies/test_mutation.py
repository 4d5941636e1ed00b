"""A handful of mutants are noticed, and every mutant can still be made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from studies.mutation.mutants import MUTANTS
from studies.mutation.run import ROOT, STAGES, judge

HANDFUL = [
    "no negative evidence is needed",
    "unresolved attempts complete",
    "unknown links will do",
]


def test_every_mutant_still_has_its_text() -> None:
    for mutant in MUTANTS:
        source = (ROOT / "adf_ea_ros" / "authority" / mutant.file).read_text()
        assert source.count(mutant.old) == 1, f"{mutant.file}: {mutant.what}"
        compile(source.replace(mutant.old, mutant.new), mutant.file, "exec")


def test_every_rule_file_has_three_mutants() -> None:
    counts = Counter(mutant.file for mutant in MUTANTS)
    rules = Path(ROOT / "adf_ea_ros" / "authority" / "rules").glob("*.py")
    for name in [f"rules/{path.name}" for path in rules if path.name != "__init__.py"] + [
        "decide.py",
        "fold.py",
    ]:
        assert counts[name] >= 3, name


@pytest.mark.parametrize("what", HANDFUL)
def test_a_mutant_is_noticed(what: str) -> None:
    mutant = next(m for m in MUTANTS if m.what == what)
    assert judge(mutant, STAGES[:1]).by
