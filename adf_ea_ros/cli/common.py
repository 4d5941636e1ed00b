"""What the contract commands share: where contracts are, how faults are shown."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from adf_ea_ros.contracts.faults import Fault


_WALL = 10**18  # a ROS time behind this (the year 2001) is the machine's own, and not a simulation's


def present(clock: int) -> int:
    """The present of an episode whose latest decision was at ``clock``, in nanoseconds of its ROS time."""
    return max(clock, time.time_ns()) if clock > _WALL else clock


def shipped_config() -> Path | None:
    """The folder ``config`` of this package: in the source tree, else below an installed prefix."""
    source = Path(__file__).resolve().parents[2] / "config"
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    installed = [Path(prefix) / "share" / "adf_ea_ros" / "config" for prefix in [*prefixes, sys.prefix]]
    return next((folder for folder in [source, *installed] if (folder / "contracts").is_dir()), None)


def chosen_paths(paths: list[Path] | None) -> list[Path]:
    """The paths given, else the folder ``config`` here, else the shipped one."""
    if paths:
        return paths
    here = Path("config")
    found = here if here.is_dir() else shipped_config()
    if found is None:
        raise typer.BadParameter("no folder config here: name files or folders with contracts")
    return [found]


def show_faults(faults: Iterable[Fault]) -> None:
    """One line for each on standard output, as compilers do, so that editors can jump to it."""
    for fault in faults:
        typer.echo(str(fault))


def fail(message: str) -> typer.Exit:
    """Say why on standard error; raise what this returns."""
    typer.echo(f"adf-ea: {message}", err=True)
    return typer.Exit(1)


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a file that must not exist yet, unless ``force``."""
    if path.exists() and not force:
        raise fail(f"{path} exists already: give another name, or --force")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from error
