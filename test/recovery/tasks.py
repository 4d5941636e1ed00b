"""Tasks: small ones to be read, and arbitrary ones from hypothesis, as plain values."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.model import ModelError
from adf_ea_ros.recovery.world import Frame

Raw = dict[str, Any]


def op(name: str, **more: Any) -> Raw:
    """An operation on a target of its own."""
    return {"id": name, "target": f"{name}.target", **more}


def task(*operations: Raw, **more: Any) -> Raw:
    """A task with generous limits."""
    return {"id": "t", "operations": list(operations), "deadline": 50, "fees": 50, "actions": 20, **more}


def frame(*operations: Raw, **more: Any) -> Frame:
    """The frame of such a task."""
    return Frame(load(task(*operations, **more)))


DONE = {"id": "done", "past": [{"commit_at": 0}]}
NOT = {"id": "not"}
LATER = {"id": "later", "past": [{"commit_at": 3}]}
UNKNOWN = {"id": "unknown", "past": [{"commit_at": None}]}
ASK = {"query": True}


@st.composite
def outcomes(draw: st.DrawFn) -> list[Raw]:
    found = []
    for _ in range(draw(st.integers(1, 2))):
        ok = draw(st.booleans())
        reply = draw(st.sampled_from(["done", "lost", "failed"] if ok else ["lost", "failed"]))
        found.append({"ok": ok, "reply": reply, "delay": draw(st.integers(0, 4)), "copies": 1})
    return found


@st.composite
def operations(draw: st.DrawFn, number: int) -> Raw:
    goal = draw(st.sampled_from([1, 1, 1, 0]))
    reversible = goal == 0 or draw(st.booleans())
    effect = draw(st.sampled_from(["append", "replace"]))
    key = draw(st.sampled_from(["", f"k{number}"]))
    kinds = ["write", "write", "undo"] if reversible else ["write"]
    names = ["a", "b"][: draw(st.integers(1, 2))]
    alternatives = [
        {
            "id": name,
            "weight": draw(st.integers(1, 3)),
            "visible_after": draw(st.integers(0, 3)),
            "past": [
                {
                    "commit_at": draw(st.sampled_from([-1, 0, 1, 3, 3, None])),
                    "accepted_at": -2,
                    "kind": draw(st.sampled_from(kinds)),
                    "keyed": draw(st.booleans()),
                }
                for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2])))
            ],
            "writes": draw(outcomes()),
            "undos": draw(outcomes()),
        }
        for name in names
    ]
    return {
        "id": f"o{number}",
        "target": f"t{number}",
        "after": draw(st.lists(st.sampled_from([f"o{j}" for j in range(number)]), max_size=1))
        if number
        else [],
        "goal": goal,
        "effect": effect,
        "key": key,
        "promises": {
            "key_lifetime": draw(st.sampled_from([3, 9])) if key else 0,
            "undo_key_lifetime": draw(st.sampled_from([0, 2, 9])) if key else 0,
            "query": draw(st.booleans()),
            "authoritative": True,
            "final": draw(st.booleans()),
            "visibility_delay": 3,
            "authorization": draw(st.sampled_from(["acceptance", "commit"])),
            "enforced": draw(st.booleans()),
            "reversible": reversible,
        },
        "write": {"fee": draw(st.integers(0, 2)), "duration": draw(st.integers(0, 2))},
        "attempts": draw(st.sampled_from([None, None, 0, 1, 2])),
        "authorized_until": draw(st.sampled_from([None, None, 2, 6])),
        "alternatives": alternatives,
    }


@st.composite
def tasks(draw: st.DrawFn, most: int = 3) -> Raw:
    """A task of up to ``most`` operations, within the profile."""
    raw = task(
        *(draw(operations(i)) for i in range(draw(st.integers(1, most)))),
        deadline=draw(st.integers(4, 15)),
        fees=draw(st.integers(2, 20)),
        actions=draw(st.integers(2, 8)),
        writes=draw(st.sampled_from([None, None, 0, 1, 3])),
        queries=draw(st.sampled_from([None, None, 0, 1, 3])),
        waits=[{"fee": 0, "duration": 2}],
    )
    try:
        load(raw)
    except ModelError:
        assume(False)
    return raw
