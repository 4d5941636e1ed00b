"""Libraries with edited contracts: written to a folder of their own, loaded like any other."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies import yamls
from studies.inputs import LIBRARIES, Library

Edit = Callable[[dict[str, dict[str, Any]]], None]
"""Changes contracts in place; they come by ``kind/id``."""


def write_variant(source: Path, edit: Edit) -> Path:
    """A folder with the contracts of ``source`` after ``edit``; it goes when the process ends."""
    contracts: dict[str, dict[str, Any]] = {}
    for path in sorted(source.rglob("*.yaml")):
        content = yamls.read(path)
        contracts[f"{content['kind']}/{content['id']}"] = content
    edit(contracts)
    folder = Path(tempfile.mkdtemp(prefix="adf_ea_variant_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, content in contracts.items():
        (folder / f"{name.replace('/', '_')}.yaml").write_text(yamls.dump(content))
    return folder


def variant(name: str, edit: Edit) -> Library:
    """A variant of one of the libraries."""
    return Library(write_variant(LIBRARIES / name, edit))
