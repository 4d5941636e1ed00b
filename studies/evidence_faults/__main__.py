"""Evaluate every cell and print the counts by fault."""

from __future__ import annotations

import json
import sys
from collections import Counter

from adf_ea_ros.evidence.types import Finding
from studies.evidence_faults.faults import FAULTS
from studies.evidence_faults.matrix import Cell, cells, evaluate

COLUMNS = ("SATISFIED", "negative", "UNSATISFIED", "UNKNOWN", "INSUFFICIENT", "integrity")
ROW = "{:<13} {:<32}" + " {:>12}" * (len(COLUMNS) + 2)


def outcome(finding: Finding) -> str:
    """The column that a finding is counted in."""
    if finding.integrity:
        return "integrity"
    return "negative" if finding.negative else finding.verdict.value.removesuffix("_EVIDENCE")


def forbidden(cell: Cell, finding: Finding) -> bool:
    """Whether the finding grants what the spoilt samples would have granted."""
    if not cell.fault or FAULTS[cell.fault].by_policy:
        return False
    return outcome(finding) == ("SATISFIED" if cell.supporting else "negative")


def main() -> int:
    """Print the matrix; 1 where a forbidden outcome was met, or good samples were not granted."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("", *FAULTS)}
    bad = Counter[str]()
    for cell in cells():
        finding = evaluate(cell)
        counts[cell.fault][outcome(finding)] += 1
        bad[cell.fault] += forbidden(cell, finding)
    print(ROW.format("family", "fault", *COLUMNS, "cells", "forbidden"))
    for name, count in counts.items():
        family = FAULTS[name].family if name else "none"
        row = [count[column] for column in COLUMNS]
        mark = "by policy" if name and FAULTS[name].by_policy else bad[name]
        print(ROW.format(family, name or "(good samples)", *row, count.total(), mark))
    total = sum(count.total() for count in counts.values())
    print(f"\n{total} cells, {bad.total()} forbidden outcomes")
    print(json.dumps({"study": "evidence_faults", "cells": total, "forbidden": bad.total()}))
    return 1 if bad.total() else 0


if __name__ == "__main__":
    sys.exit(main())
