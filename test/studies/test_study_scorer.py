"""The scorer is scored: evidence with one wrong field shows nothing, and no planted completion passes for
true.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from studies.comparison.run import Run, boolean, conditions, execute
from studies.inputs import SECOND
from studies.methods import METHODS
from studies.scorer import Inconsistent, Score, score

Event = dict[str, Any]
ROOT = Path(__file__).parents[2]


@cache
def runs() -> dict[tuple[str, str], Run]:
    """Every condition with every method."""
    library = boolean()
    return {
        (condition.name, method.name): execute(condition, method, library, f"scorer-{condition.name}")
        for condition in conditions()
        for method in METHODS.values()
    }


def judged(run: Run, events: list[Event] | None = None) -> Score:
    library = boolean()
    return score(run.events if events is None else events, library, library.task(run.condition.task))


def edited(run: Run, edit: Callable[[Event], object], chosen: Callable[[Event], bool]) -> list[Event]:
    """The log with an edit to the events that are chosen; an edit that gives False drops the event."""
    events, touched = [], 0
    for event in copy.deepcopy(run.events):
        if chosen(event):
            touched += 1
            if edit(event) is False:
                continue
        events.append(event)
    assert touched, "the edit met nothing"
    return events


def of_goal(event: Event) -> bool:
    """A reading of what a_chain wants."""
    return event["kind"] == "sample" and event["path"] == "finished" and event["subject"] == "branch_a"


def put(**what: Any) -> Callable[[Event], object]:
    return lambda event: event.update(what)


MUTATIONS: dict[str, Callable[[Event], object]] = {
    "another subject": put(subject="branch_b"),
    "another path": put(path="processed"),
    "another source": put(source="finish_a_unit"),
    "another route": put(route="monitor/processed"),
    "an undeclared route": put(route="camera/finished", source="camera"),
    "stamped before the call": lambda e: e.update(stamp=e["stamp"] - 60 * SECOND),
    "stamped after its reception": lambda e: e.update(stamp=e["received"] + 1),
    "received after the claim": lambda e: e.update(received=e["received"] + 10**15),
    "another job": lambda e: e["fields"].update(job="job_2"),
    "no job": lambda e: e["fields"].pop("job"),
    "the other value": lambda e: e.update(value=not e["value"]),
    "a number for a truth": lambda e: e.update(value=int(e["value"])),
    "a text for a truth": lambda e: e.update(value=str(e["value"]).lower()),
    "no reading": lambda _: False,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_evidence_with_one_wrong_field_shows_nothing(name: str) -> None:
    run = runs()["normal_chain", "ADF-EA"]
    assert judged(run).qualified
    found = judged(run, edited(run, MUTATIONS[name], of_goal))
    assert found.goal_confirmed
    assert not found.qualified
    assert found.unqualified


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_step_without_evidence_leaves_the_run_unqualified(name: str) -> None:
    """Also where the goal itself is shown: the outcome of an earlier call is unresolved."""
    if name == "another path":
        pytest.skip("a reading of another path would show the goal here")

    def of_processing(event: Event) -> bool:
        return event["kind"] == "sample" and event["path"] == "processed" and event["subject"] == "branch_a"

    run = runs()["normal_chain", "ADF-EA"]
    edit = put(route="monitor/finished") if name == "another route" else MUTATIONS[name]
    found = judged(run, edited(run, edit, of_processing))
    assert found.goal_confirmed
    assert not found.qualified


def test_readings_that_have_grown_old_show_nothing() -> None:
    run = runs()["normal_chain", "ADF-EA"]
    last = next(e["t"] for e in run.events if e["kind"] == "request" and e["request"] == "claim")
    events = edited(run, lambda _: False, lambda e: of_goal(e) and last - e["t"] <= 3 * SECOND)
    assert not judged(run, events).qualified


@pytest.mark.parametrize(("condition", "method"), [(c.name, m) for c in conditions() for m in METHODS])
def test_every_planted_false_completion_is_caught(condition: str, method: str) -> None:
    """The effect that the goal needs is taken out of the log, and an accepted claim put in."""
    run = runs()[condition, method]
    wanted = {str(goal.wanted.fact) for goal in boolean().task(run.condition.task).goals}
    events = []
    for event in copy.deepcopy(run.events):
        if event["kind"] == "effect" and event["fact"] in wanted:
            continue
        if event["kind"] == "final":
            event["state"].update(dict.fromkeys(wanted, False))
            if not any(e["kind"] == "claim" and e["accepted"] for e in events):
                events.append({"t": event["t"], "kind": "claim", "n": 0, "accepted": True})
        events.append(event)
    found = judged(run, events)
    assert found.false_completion
    assert not found.qualified
    assert not found.goal_met


def test_a_goal_undone_before_the_claim_is_a_false_completion() -> None:
    run = runs()["normal_chain", "Direct"]
    events = copy.deepcopy(run.events)
    claim = next(i for i, e in enumerate(events) if e["kind"] == "claim")
    undone = {
        "t": events[claim]["t"],
        "kind": "effect",
        "fact": "branch_a.finished",
        "value": False,
        "cause": "external",
    }
    events.insert(claim, undone)
    next(e for e in events if e["kind"] == "final")["state"]["branch_a.finished"] = False
    assert judged(run, events).false_completion


def test_success_without_a_claim_is_none() -> None:
    run = runs()["normal_chain", "Direct"]
    found = judged(run, edited(run, put(accepted=False), lambda e: e["kind"] == "claim"))
    assert found.goal_met
    assert not found.goal_confirmed


def test_a_qualified_end_after_a_violation_is_not_violation_free() -> None:
    found = judged(runs()["stale_evidence", "Direct"])
    assert found.qualified
    assert found.violations == found.improper == 1
    assert not found.violation_free


def test_legality_follows_the_events() -> None:
    """Take away the reading that permits a retry, the unit or the budget: the same calls are violations."""
    retry = runs()["ambiguous_without_effect", "ADF-EA"]
    assert (judged(retry).retries, judged(retry).violations) == (1, 0)
    unseen = edited(retry, lambda _: False, lambda e: e["kind"] == "sample" and e["value"] is False)
    assert judged(retry, unseen).improper == 1
    chain = runs()["normal_chain", "ADF-EA"]
    gone = copy.deepcopy(chain.events)
    gone.insert(
        1, {"t": gone[1]["t"], "kind": "availability", "provider": "process_a_unit", "available": False}
    )
    assert judged(chain, gone).unavailable == 1
    small = boolean()
    assert score(chain.events, small, small.task("a_chain_two")).faults == ["budget"]
    repair = runs()["repair_then_evidence_loss", "ADF-EA"]
    assert (judged(repair).repairs, judged(repair).violations) == (1, 0)
    unlost = edited(repair, put(value=True), lambda e: e["kind"] == "sample" and e["path"] == "prepared")
    assert judged(repair, unlost).improper == 1


def first(events: list[Event], kind: str) -> Event:
    return next(e for e in events if e["kind"] == kind)


STRANGE = {"kind": "effect", "fact": "x.y", "value": True, "cause": "external"}


@pytest.mark.parametrize(
    "edit",
    [
        lambda events: first(events, "final")["state"].update({"branch_a.finished": False}),
        lambda events: events.append({**events[-1], "t": 0}),
        lambda events: events.remove(first(events, "effect")),
        lambda events: events.insert(1, {"t": events[1]["t"], **STRANGE}),
        lambda events: events.remove(first(events, "call")),
    ],
)
def test_a_log_that_contradicts_itself_has_no_score(edit: Callable[[list[Event]], object]) -> None:
    run = runs()["normal_chain", "Direct"]
    events = copy.deepcopy(run.events)
    edit(events)
    with pytest.raises((Inconsistent, StopIteration)):
        judged(run, events)


def test_the_scorer_uses_no_code_of_the_product_or_of_a_method() -> None:
    for path in (*(ROOT / "studies" / "scorer").glob("*.py"), ROOT / "studies" / "inputs.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                allowed = name.split(".")[0] != "adf_ea_ros" and not name.startswith(
                    ("studies.methods", "studies.device")
                )
                assert allowed, f"{path.name} imports {name}"
