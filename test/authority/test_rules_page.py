"""What the written part of doc/rules.md points to is there: code, tests, reasons."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

from adf_ea_ros.authority.reasons import REASONS
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Condition
from adf_ea_ros.evidence.types import Finding

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import rules_doc  # noqa: E402

WRITTEN = (ROOT / "doc" / "rules.md").read_text().partition("<!-- generated: begin -->")[0]
NAMES = sorted(set(re.findall(r"`([^`]+)`", WRITTEN.partition("## The paper's definitions")[2])))
TESTS = "".join(path.read_text() for path in (ROOT / "test" / "authority").glob("test_*.py"))
RULES = [path.stem for path in (ROOT / "adf_ea_ros" / "authority" / "rules").glob("*.py")]


def resolves(name: str) -> bool:
    """Whether a name of the page means something: module and member, class and member, test, reason, file."""
    if name in REASONS:
        return True
    if name.startswith("test_"):
        return f"def {name}(" in TESTS or (ROOT / "test" / "authority" / name).exists()
    if "/" in name:
        return (ROOT / "adf_ea_ros" / name).exists()
    first, _, rest = name.partition(".")
    if not rest:
        return first in State.__struct_fields__ or hasattr(
            importlib.import_module("adf_ea_ros.authority.events"), first
        )
    where: object = {"State": State, "Finding": Finding, "Condition": Condition}.get(first)
    if where is None:
        package = "adf_ea_ros.authority.rules" if first in RULES else "adf_ea_ros.authority"
        try:
            where = importlib.import_module(f"{package}.{first}")
        except ModuleNotFoundError:
            return False
    for part in rest.split("."):
        where = getattr(where, part, None)
    return where is not None


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_the_page_is_there(name: str) -> None:
    assert resolves(name), name


def test_the_page_names_much_and_a_wrong_name_is_noticed() -> None:
    assert len(NAMES) > 100
    assert not resolves("r6_retry.no_such_thing")
    assert not resolves("R6.no_such_reason")
    assert not resolves("test_no_such_test")


def test_the_page_of_proofs_lists_what_the_checker_holds_to() -> None:
    assert rules_doc.PROOFS.read_text() == rules_doc.proofs(), "run python scripts/rules_doc.py"
