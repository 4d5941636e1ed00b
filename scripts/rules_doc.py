#!/usr/bin/env python3
"""Write the generated part of doc/rules.md: statements from the code, reasons, and the tests that hold them.
And in doc/proofs.md, what the checker holds a history to.

    python scripts/rules_doc.py [--check]

The statements are the docstrings of the rule modules, so that what the page says is what stands above the
predicate. --check writes nothing and fails where the page is out of date.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "doc" / "rules.md"
PROOFS = ROOT / "doc" / "proofs.md"
TESTS = ROOT / "test" / "authority"
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"
CHECKED, CHECKED_END = "<!-- properties: begin -->", "<!-- properties: end -->"
MODULES = (
    "r1_admission",
    "recovery",
    "eligibility",
    "r3_evidence",
    "r5_observe",
    "r6_retry",
    "r7_repair",
    "invalidation",
    "coverage",
    "r9_completion",
    "x_rules",
    "x10_lease",
    "x11_standing",
    "x11_heir",
    "x12_approval",
    "x12_giving",
)

sys.path.insert(0, str(ROOT))


def statements() -> str:
    """Each rule module's statement, under a heading that names the file."""
    parts = []
    for name in MODULES:
        module = importlib.import_module(f"adf_ea_ros.authority.rules.{name}")
        title, _, body = inspect.cleandoc(module.__doc__ or "").partition("\n")
        parts.append(f"### `{name}.py`\n\n{title}\n\n```text\n{inspect.cleandoc(body)}\n```\n")
    return "\n".join(parts)


def tests_by_reason() -> dict[str, list[str]]:
    """For each reason code, the test functions whose source names it (in a body or in a decorator)."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.glob("test_*.py")):
        for block in path.read_text().split("\n\n\n"):  # what the formatter puts between two functions
            name = re.search(r"^def (test_\w+)", block, re.MULTILINE)
            if name is None:
                continue
            for code in set(re.findall(r'"([RX]\d+\.\w+)"', block)):
                found.setdefault(code, []).append(f"{path.name}::{name[1]}")
    return found


def reasons() -> str:
    """The table of reason codes, their meaning, and one test for each (all of them are found with grep)."""
    codes: dict[str, str] = importlib.import_module("adf_ea_ros.authority.reasons").REASONS
    tested = tests_by_reason()
    rows = ["| reason | meaning | held by |", "|---|---|---|"]
    for code, meaning in codes.items():
        names = tested.get(code, [])
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        rows.append(f"| `{code}` | {meaning} | {f'`{names[0]}`' if names else '**nothing**'}{more} |")
    return "\n".join(rows)


def page() -> str:
    """The page with its generated part made anew."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    generated = f"## Statements\n\n{statements()}\n## Reasons\n\n{reasons()}\n"
    return f"{head}{BEGIN}\n{generated}{END}{tail}"


def proofs() -> str:
    """The page of proofs with the checker's properties made anew."""
    head, _, rest = PROOFS.read_text().partition(CHECKED)
    _, _, tail = rest.partition(CHECKED_END)
    properties: dict[str, str] = importlib.import_module("studies.checker.properties").PROPERTIES
    rows = [
        "| | what must hold |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in properties.items()),
    ]
    table = "\n".join(rows)
    return f"{head}{CHECKED}\n{table}\n{CHECKED_END}{tail}"


def main() -> int:
    """Write or check the pages; the exit status."""
    wanted = {PAGE: page(), PROOFS: proofs()}
    if "--check" in sys.argv[1:]:
        old = [path.name for path, text in wanted.items() if path.read_text() != text]
        if old:
            print(f"out of date: {', '.join(old)}: python scripts/rules_doc.py", file=sys.stderr)
        return 1 if old else 0
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
