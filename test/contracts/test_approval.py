"""What contracts say of approvals, and who is told."""

from __future__ import annotations

import json
from pathlib import Path

from adf_ea_ros.authority.grounding import ground_operation
from adf_ea_ros.authority.model import ApprovalTerms
from adf_ea_ros.contracts.canonical import canonical, fingerprint
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.view import as_json, as_markdown, as_mcp_tools, planner_view

CONFIG = Path(__file__).parents[2] / "config"
ASKED = "  approval: {max_age: 10 min, by: [ann, bob]}\n"


def catalog(tmp_path: Path, lines: str) -> Catalog:
    """The demo's contracts, with lines added to block I of ``record``."""
    files = []
    for path in (CONFIG / "contracts", CONFIG / "providers"):
        for file in sorted(path.glob("*.yaml")):
            files.append(tmp_path / f"{path.name}_{file.name}")
            text = file.read_text()
            if path.name == "contracts" and file.stem == "record":
                text = text.replace("invocation:\n", f"invocation:\n{lines}", 1)
            files[-1].write_text(text)
    return Catalog.load(files)


def test_an_operation_carries_what_its_contract_asks_for(tmp_path: Path) -> None:
    found = catalog(tmp_path, ASKED)
    operation = ground_operation(found, "record", {"sample": "s1"}, "once", 0)
    assert operation.approval == ApprovalTerms(600_000_000_000, ("ann", "bob"))
    assert ground_operation(found, "measure", {"sample": "s1"}, "once", 0).approval is None


def test_contracts_that_ask_for_none_keep_their_fingerprints(tmp_path: Path) -> None:
    plain, asking = catalog(tmp_path, "").capability("record"), catalog(tmp_path, ASKED).capability("record")
    other = catalog(tmp_path, ASKED.replace("ann, ", "")).capability("record")
    assert b"approval" not in canonical(plain)
    assert len({fingerprint(contract) for contract in (plain, asking, other)}) == 3


def test_a_planner_is_told(tmp_path: Path) -> None:
    told = "ann or bob, at most 10 min before it runs; never by who planned it"
    view = planner_view(catalog(tmp_path, ASKED), 0)
    assert [c.approval for c in view.capabilities if c.id == "record"] == [told]
    assert f"- Needs approval: by {told}" in as_markdown(view)
    tool = next(tool for tool in as_mcp_tools(view) if tool["name"] == "record")
    assert f"Each run needs an approval of its own: by {told}." in tool["description"]
    assert "by a person, at most" in as_markdown(
        planner_view(catalog(tmp_path, ASKED.replace("ann, bob", "")), 0)
    )
    assert "approval" not in as_json(planner_view(catalog(tmp_path, ""), 0))
    assert "approval" not in json.dumps(as_mcp_tools(planner_view(catalog(tmp_path, ""), 0)))
