"""Tables that a long run writes into a page: rows that it did not make anew stay, rows of nothing go."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROOFS = ROOT / "doc" / "proofs.md"

Row = tuple[str, ...]


def rows(page: str, part: str, keys: int = 1) -> dict[Row, Row]:
    """The rows of a part's table, by their first ``keys`` columns."""
    found = {}
    for line in _part(page, part)[1].splitlines():
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))
        if line.startswith("| ") and len(cells) > keys:
            found[cells[:keys]] = cells
    return found


def update(path: Path, part: str, head: Row, new: Mapping[Row, Row], order: Sequence[Row]) -> None:
    """Put ``new`` into the part's table; its rows are then those of ``order``, as far as there are any."""
    page = path.read_text()
    before, _, after = _part(page, part)
    known = {**rows(page, part, len(order[0]) if order else 1), **new}
    lines = [_line(head), "|" + "---|" * len(head), *(_line(known[key]) for key in order if key in known)]
    path.write_text(before + "\n".join(lines) + "\n" + after)


def _line(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"


def _part(page: str, name: str) -> tuple[str, str, str]:
    found = re.search(rf"(<!-- {name}: begin -->\n)(.*?)(<!-- {name}: end -->)", page, re.DOTALL)
    if found is None:
        raise ValueError(f"the page has no part {name!r}")
    return page[: found.start(2)], found[2], page[found.end(2) :]
