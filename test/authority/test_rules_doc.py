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


def test_the_core_imports_no_ros_and_no_database() -> None:
    program = (
        "import sys, adf_ea_ros.authority.decide, adf_ea_ros.authority.feedback\n"
        "outer = ('rclpy', 'sqlite3', 'adf_ea_ros.ledger', 'adf_ea_ros.runtime')\n"
        "bad = [m for m in outer if m in sys.modules]\n"
        "raise SystemExit(str(bad) if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
