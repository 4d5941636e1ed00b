"""The page of the studies is what a rerun gives; every claim in it holds; the command runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from studies.catalog import MODULES, find
from studies.report.manifest import ROOT, inputs
from studies.report.model import Result
from studies.report.page import HEAD, PAGE, page
from studies.report.render import section


@cache
def result(name: str) -> Result:
    return find(name)(lambda _: None)


@pytest.mark.parametrize("name", MODULES)
def test_the_page_is_what_a_rerun_gives(name: str) -> None:
    assert section(result(name)) in PAGE.read_text(), "run python -m studies --page"


def test_the_page_holds_nothing_else() -> None:
    assert PAGE.read_text() == page([result(name) for name in MODULES])
    assert PAGE.read_text().startswith(HEAD)


@pytest.mark.parametrize("name", MODULES)
def test_every_claim_holds(name: str) -> None:
    assert result(name).checks
    assert not [check.claim for check in result(name).checks if not check.holds]


def test_the_command_keeps_its_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "studies", "comparison", "--out", str(tmp_path), "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = {path.suffix for path in tmp_path.iterdir()}
    assert kept == {".md", ".json", ".jsonl", ".png", ".svg"}
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["files"] == inputs()
    events = [json.loads(line) for line in (tmp_path / "comparison.jsonl").read_text().splitlines()]
    assert {event["method"] for event in events} >= {"ADF-EA", "ToolGate", "VTC", "Direct"}


@pytest.mark.parametrize(
    ("here", "code", "says"), [(ROOT, 0, "comparison"), (Path("/"), 1, "in the source tree")]
)
def test_adf_ea_study(here: Path, code: int, says: str) -> None:
    program = (
        "import sys, adf_ea_ros\n"
        f"sys.path[:] = [p for p in sys.path if p not in ('', {str(ROOT)!r})]\n"
        "from adf_ea_ros.cli.main import main\n"
        "main(['study', '--list'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert says in done.stdout + done.stderr
