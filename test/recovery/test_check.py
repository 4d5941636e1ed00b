"""Every fault of a task is named with its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tasks import ASK, DONE, NOT, op, task

from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.model import OPERATIONS, SUPPORT, ModelError, Task

GOOD = task(
    op(
        "a",
        key="ka",
        promises={
            "key_lifetime": 5,
            "query": True,
            "commit_bound": 4,
            "visibility_delay": 2,
            "reversible": True,
            "final_on_result": True,
        },
        alternatives=[copy.deepcopy(DONE), copy.deepcopy(NOT)],
    ),
    op("b", after=["a"], promises=dict(ASK)),
)


def test_a_good_task() -> None:
    found = load(GOOD)
    assert isinstance(found, Task)
    assert [o.id for o in found.operations] == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "value", "field", "problem"),
    [
        ("id", "", "id", "empty"),
        ("operations", [], "operations", "there are 0"),
        ("operations", [op(f"o{i}") for i in range(OPERATIONS + 1)], "operations", "there are 13"),
        ("deadline", -1, "deadline", "not a number"),
        ("fees", 2**62, "fees", "below 2**62"),
        ("fees", "5", "fees", "Expected `int`"),
        ("tie", 0, "tie", "not a number"),
        ("writes", -1, "writes", "not a number"),
        ("queries", -1, "queries", "not a number"),
        ("operations.0.attempts", -1, "operations[0].attempts", "not a number"),
        ("waits", [{"fee": 0, "duration": 0}], "waits[0].duration", "from 1"),
        ("hand_over", {"fee": -1}, "hand_over.fee", "not a number"),
        ("unheard_of", 1, "task", "unheard_of"),
        ("operations.1.id", "a", "operations[].id", "two operations are 'a'"),
        ("operations.1.target", "a.target", "operations[].target", "two operations change"),
        ("operations.1.key", "ka", "operations[].key", "two operations use"),
        ("operations.0.id", "ä", "operations[0].id", "ASCII"),
        ("operations.0.goal", 2, "operations[0].goal", "neither 0 nor 1"),
        ("operations.1.goal", 0, "operations[1].goal", "not reversible"),
        ("operations.0.effect", "merge", "operations[0].effect", "merge"),
        ("operations.0.after", ["nobody"], "operations[0].after", "no operation 'nobody'"),
        ("operations.0.after", ["b"], "operations[].after", "cycle"),
        ("operations.0.after", ["a"], "operations[].after", "cycle"),
        ("operations.0.write", {"duration": -1}, "operations[0].write.duration", "not a number"),
        ("operations.0.key", "", "operations[0].promises.key_lifetime", "no key"),
        ("operations.0.promises.query", 3, "operations[0].promises.query", "Expected `bool`"),
        ("operations.0.promises.hope", True, "operations[0].promises", "hope"),
        ("operations.0.promises.commit_bound", -1, "operations[0].promises.commit_bound", "not a number"),
        (
            "operations.1.promises",
            {"query": True, "final": True, "authoritative": False},
            "operations[1].promises.final",
            "counts for nothing",
        ),
        ("operations.0.alternatives", [], "operations[0].alternatives", "none"),
        ("operations.0.alternatives.1.id", "done", "operations[0].alternatives[].id", "two are called"),
        ("operations.0.alternatives.0.weight", 0, "operations[0].alternatives[0].weight", "from 1"),
        ("operations.0.alternatives.0.visible_after", 3, "alternatives[0].visible_after", "promised 2"),
        ("operations.0.alternatives.0.writes", [], "alternatives[0].writes", "empty"),
        ("operations.0.alternatives.0.writes", [{"reply": "known"}], "writes[0].reply", "recognized"),
        ("operations.0.alternatives.0.writes", [{"ok": False}], "writes[0].reply", "no effect"),
        ("operations.0.alternatives.0.writes", [{"delay": 5, "reply": "lost"}], "writes[0].delay", "4"),
        ("operations.0.alternatives.0.writes", [{"delay": 3}], "writes[0].delay", "promised to be final"),
        ("operations.0.alternatives.0.writes", [{"copies": 0}], "writes[0].copies", "from 1"),
        ("operations.0.alternatives.0.past", [{"commit_at": None}], "past[0].commit_at", "commit bound"),
        ("operations.0.alternatives.0.past", [{"commit_at": 5}], "past[0].commit_at", "promised 4"),
        (
            "operations.0.alternatives.0.past",
            [{"commit_at": 1, "accepted_at": 1}],
            "past[0].accepted_at",
            "ends at 0",
        ),
        ("operations.0.alternatives.0.past", [{"commit_at": -1}], "past[0].commit_at", "before its"),
        (
            "operations.1.alternatives",
            [{"id": "x", "past": [{"commit_at": 0, "kind": "undo"}]}],
            "past[0].kind",
            "not reversible",
        ),
        (
            "operations.1.alternatives",
            [{"id": str(i)} for i in range(SUPPORT // 2 + 1)],
            "operations[].alternatives",
            "4098",
        ),
        ("support", [{"alternatives": ["done"]}], "support[0].alternatives", "1 for 2"),
        ("support", [{"alternatives": ["done", "no"]}], "support[0].alternatives", "no alternative 'no'"),
        ("support", [{"alternatives": ["done", "none"], "weight": 0}], "support[0].weight", "from 1"),
        ("support", [{"alternatives": ["done", "none"]}] * 2, "support", "twice"),
    ],
)
def test_faults(path: str, value: Any, field: str, problem: str) -> None:
    raw = copy.deepcopy(GOOD)
    place: Any = raw
    *steps, last = path.split(".")
    for step in steps:
        place = place[int(step)] if step.isdecimal() else place[step]
    place[last] = value
    with pytest.raises(ModelError) as raised:
        load(raw)
    assert raised.value.field.endswith(field)
    assert problem in str(raised.value)


def test_what_replaces_has_one_copy() -> None:
    with pytest.raises(ModelError, match=r"operations\[0\].alternatives\[0\].writes\[0\].copies"):
        load(task(op("a", effect="replace", alternatives=[{"id": "x", "writes": [{"copies": 2}]}])))
    past = [{"commit_at": 0, "copies": 2}]
    with pytest.raises(ModelError, match=r"past\[0\].copies"):
        load(task(op("a", effect="replace", alternatives=[{"id": "x", "past": past}])))
