"""Where a telling of the demo leaves its ledger and its logs."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

KEPT = 10
"""Tellings that remain in the default folder; older ones go."""


class FolderTaken(Exception):
    """The folder that was asked for already holds something."""


class Folder:
    """One folder with ``ledger.db``, ``rig.json`` and ``logs/``."""

    def __init__(self, story: str, asked: str = "") -> None:
        """``asked``: a folder to use; else a new one below $ROS_HOME or ~/.ros.

        Raises:
            FolderTaken: it is not empty.
            OSError: it cannot be made.
        """
        self.asked = bool(asked)
        if asked:
            self.path = Path(asked).expanduser().absolute()
            if self.path.exists() and any(self.path.iterdir()):
                raise FolderTaken(
                    f"{self.path} is not empty: a ledger is never written over; name another folder"
                )
            self.path.mkdir(parents=True, exist_ok=True)
        else:
            self.path = _new(story)
        (self.path / "logs" / "ros").mkdir(parents=True)

    @property
    def ledger(self) -> Path:
        """The ledger of the authority."""
        return self.path / "ledger.db"

    @property
    def logs(self) -> Path:
        """What the processes printed, one file each."""
        return self.path / "logs"

    def report(self, part: str) -> Path:
        """The rig's own counts."""
        return self.path / f"rig_{part}.json"

    def remove(self) -> None:
        """Take it away, unless it was asked for by name."""
        if not self.asked:
            shutil.rmtree(self.path, ignore_errors=True)


def _new(story: str) -> Path:
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{story}-{os.getpid()}"
    base = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "adf_ea_ros" / "demo"
    try:
        base.mkdir(parents=True, exist_ok=True)
        (base / name).mkdir()
    except OSError:  # no home, or one that cannot be written
        return Path(tempfile.mkdtemp(prefix=f"adf_ea_ros-{story}-"))
    _tidy(base)
    return base / name


def _tidy(base: Path) -> None:
    """Remove the oldest tellings. Names begin with their time; those that still run are left alone."""
    old = sorted(path for path in base.iterdir() if path.is_dir())[:-KEPT]
    for path in old:
        number = path.name.rpartition("-")[2]
        if not (number.isdigit() and Path(f"/proc/{number}").exists()):
            shutil.rmtree(path, ignore_errors=True)
