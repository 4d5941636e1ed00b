"""The controlled comparison: what must show for ADF-EA, and that the baselines have no gate of ours."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from studies.comparison.run import Run, boolean, conditions, execute
from studies.inputs import Fact
from studies.methods import METHODS, Method
from studies.scorer import Score, score

ROOT = Path(__file__).parents[2]
LISTED = {condition.name: condition for condition in conditions()}


@cache
def run(condition: str, method: str) -> Run:
    return execute(LISTED[condition], METHODS[method], boolean(), f"comparison-{condition}")


@cache
def scored(condition: str, method: str) -> Score:
    library = boolean()
    return score(run(condition, method).events, library, library.task(LISTED[condition].task))


def test_the_conditions_are_those_of_the_paper() -> None:
    groups = [set(c.groups) for c in LISTED.values()]
    assert len(groups) == 17
    assert sum("completion" in g for g in groups) == 14
    assert sum("stopping" in g for g in groups) == 3
    assert sum("no_fault" in g for g in groups) == 3
    assert sum("evidence" in g for g in groups) == 7
    assert sum("retry" in g for g in groups) == 3
    assert sum("repair" in g for g in groups) == 1


@pytest.mark.parametrize("name", LISTED)
def test_adf_ea(name: str) -> None:
    found = scored(name, "ADF-EA")
    assert found.violations == found.improper == found.unavailable == 0
    assert found.legal_blocked == found.legal_observations_blocked == 0
    assert found.mismatches == 0
    if "completion" in LISTED[name].groups:
        assert found.violation_free
    else:
        assert found.safe_stop


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LISTED)
def test_all_methods_get_the_same(name: str, method: str) -> None:
    """The same initial state and stream: what a method is asked is a beginning of what Direct is asked."""

    def asked(which: str) -> list[tuple[int, str, str]]:
        return [
            (e["n"], e["request"], e["step"])
            for e in run(name, which).events
            if e["kind"] == "request" and e["n"]
        ]

    mine, whole = asked(method), [(n, r.kind, r.step) for n, r in enumerate(LISTED[name].stream, 1)]
    assert mine == whole[: len(mine)]
    assert run(name, method).events[0] == run(name, "Direct").events[0]


def test_what_goes_wrong_without_assurance() -> None:
    assert scored("alias_retry", "Direct").false_completion
    assert scored("obligation_omission", "VTC").unqualified
    assert scored("missing_evidence", "ToolGate").end == "failed"
    assert scored("budget_reset", "ToolGate").faults == ["budget"]
    assert scored("provider_replacement", "VTC").unavailable == 1


def test_a_rerun_is_the_same() -> None:
    first = run("repair_then_evidence_loss", "ADF-EA")
    again = execute(
        LISTED["repair_then_evidence_loss"],
        METHODS["ADF-EA"],
        boolean(),
        "comparison-repair_then_evidence_loss",
    )
    assert first.events == again.events


def test_the_baselines_use_no_code_of_the_product() -> None:
    for name in ("base", "direct", "requests", "toolgate", "vtc"):
        tree = ast.parse((ROOT / "studies" / "methods" / f"{name}.py").read_text())
        modules = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not [m for m in modules if m.startswith(("adf_ea_ros", "studies.scorer"))]


def test_the_contracts_library_is_seven_capabilities() -> None:
    library = boolean()
    assert len(library.capabilities) == 7
    job = {"job": "job_1"}
    assert library.action("process_a", job).key == library.action("process_a_alias", job).key
    assert library.action("finish_a", job).needs[0].fact == Fact("branch_a", "processed")


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods_have_names(method: type[Method]) -> None:
    assert METHODS[method.name] is method
