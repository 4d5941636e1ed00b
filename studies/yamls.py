"""YAML by the C library where PyYAML has it: the studies read and write some thousand small files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Plain(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes everything out: contracts have no anchors."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def read(path: Path) -> Any:
    """The content of a file."""
    return parse(path.read_text())


def parse(text: str) -> Any:
    """The content of a text."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - the safe loader, in C or not


def dump(content: Any) -> str:
    """A text with this content, keys in their order."""
    return str(yaml.dump(content, Dumper=_Plain, sort_keys=False))
