"""The page of rules, the code and the tests name the same things."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from adf_ea_ros.authority.reasons import REASONS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import rules_doc  # noqa: E402


def test_the_page_is_up_to_date() -> None:
    assert rules_doc.PAGE.read_text() == rules_doc.page(), "run python scripts/rules_doc.py"


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_is_held_by_a_test(code: str) -> None:
    # These are refusals of the service around the rules: test/runtime and test/nodes hold them.
    if code in {"X5.unknown_episode", "X5.ledger", "X5.not_ready", "X5.bad_request", "X5.overload"}:
        return
    assert rules_doc.tests_by_reason().get(code), f"no test in test/authority names {code}"


def test_every_code_in_the_source_is_declared() -> None:
    source = "".join(path.read_text() for path in (ROOT / "adf_ea_ros/authority").rglob("*.py"))
    used = set(re.findall(r'"([RX]\d+\.[a-z_]+)"', source))
    assert used == set(REASONS)


def test_the_core_imports_nothing_but_contracts_and_evidence() -> None:
    program = (
        "import importlib, pkgutil, sys, adf_ea_ros.authority as core\n"
        "for found in pkgutil.walk_packages(core.__path__, 'adf_ea_ros.authority.'):\n"
        "    importlib.import_module(found.name)\n"
        "inner = ('authority', 'contracts', 'evidence')\n"
        "ours = [m.split('.')[1] for m in sys.modules if m.startswith('adf_ea_ros.')]\n"
        "bad = sorted({m for m in ours if m not in inner} | {'rclpy', 'sqlite3'} & set(sys.modules))\n"
        "raise SystemExit(str(bad) if bad or ours.count('authority') < 20 else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_file_of_the_core_is_long() -> None:
    lengths = {p.name: len(p.read_text().splitlines()) for p in (ROOT / "adf_ea_ros/authority").rglob("*.py")}
    assert max(lengths.values()) <= 500, lengths
