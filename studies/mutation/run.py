"""Break a copy of the package, run the tests on it, tell what noticed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from studies.mutation.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "adf_ea_ros/__init__.py",
    "adf_ea_ros/contracts",
    "adf_ea_ros/evidence",
    "adf_ea_ros/authority",
    "studies",
    "test/authority",
    "test/studies",
    "pyproject.toml",
    "config",
)
Stages = tuple[tuple[str, tuple[str, ...]], ...]
STAGES: Stages = (
    ("unit tests", ("test/authority", "--ignore-glob=*test_machine*", "--ignore-glob=*test_rules_*")),
    ("single cases", ("test/authority/test_machine_cases.py",)),
    ("exploration", ("test/studies/test_exploration.py",)),
    ("state machine", ("test/authority/test_machine_rules.py", "-m", "not slow")),
)
"""What is run, in this order, until something fails."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant. ``by`` is empty where nothing noticed."""

    mutant: Mutant
    by: str
    seconds: float


def apply(mutant: Mutant, package: Path) -> None:
    """Break the copy.

    Raises:
        ValueError: the text to change is not there, or not only once.
    """
    path = package / "adf_ea_ros" / "authority" / mutant.file
    source = path.read_text()
    if source.count(mutant.old) != 1:
        raise ValueError(f"{mutant.file}: {mutant.what}: its text occurs {source.count(mutant.old)} times")
    path.write_text(source.replace(mutant.old, mutant.new))


def copy(target: Path) -> None:
    """The package and its tests. Compiled files come along: the one of the file that is broken is out of date
    by its time and made anew.
    """
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part)
        elif source.exists():
            (target / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / part)


def judge(mutant: Mutant, stages: Stages = STAGES) -> Fate:
    """Run the stages on a broken copy until one fails."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        target = Path(name)
        copy(target)
        apply(mutant, target)
        for stage, arguments in stages:
            noticed = _run(target, arguments)
            if noticed:
                return Fate(mutant, f"{stage}: {noticed}", time.monotonic() - began)
    return Fate(mutant, "", time.monotonic() - began)


def baseline(stages: Stages = STAGES) -> str:
    """What fails on an unbroken copy; empty where nothing does."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        target = Path(name)
        copy(target)
        return next((found for _, arguments in stages if (found := _run(target, arguments))), "")


def _run(target: Path, arguments: tuple[str, ...]) -> str:
    """The first test that fails, or nothing."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_timeout",  # the only plugin that is needed: the others take longer to load than the tests
        "--no-header",
        *arguments,
    ]
    env = {
        **os.environ,
        "PYTHONPATH": str(target),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        command, cwd=target, env=env, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1].rpartition("/")[2] if found else f"exit {done.returncode}"
