"""Messages for the rqt plugin's tests: plain objects with the fields of the real ones, no ROS."""

from __future__ import annotations

from types import SimpleNamespace as Message
from typing import Any

from adf_ea_ros.cli.watch_view import DecisionView

SECOND = 1_000_000_000


def decision(number: int = 7, **changes: Any) -> DecisionView:
    values: dict[str, Any] = {
        "time": 103 * SECOND,
        "id": f"job:{number}",
        "episode": "job",
        "request": "Dispatch",
        "subject": "heat",
        "authorized": False,
        "rules": ("R5",),
        "reasons": ("R5.unresolved",),
        "sentence": "attempt job.1 is unresolved; observe it, or stop",
        "attempt": "job.1",
        "physical": 5,
        "observation": 8,
        "retry": 1,
        "next": ("observe job.1", "stop"),
        "generation": 2,
    }
    return DecisionView(**{**values, **changes})


def time(seconds: int) -> Message:
    return Message(sec=seconds, nanosec=0)


def step(name: str, capability: str) -> Message:
    return Message(id=name, capability=capability)


def attempt(name: str, of: str, **changes: Any) -> Message:
    values = {
        "interaction": 4,
        "provider": "heater_a",
        "negative": False,
        "doubtful": False,
        "unresolved": True,
    }
    return Message(id=name, step=of, **{**values, **changes})


def episode(name: str = "job", **changes: Any) -> Message:
    """An Episode: one step tried and not shown, one state lost, one goal settled."""
    values: dict[str, Any] = {
        "header": Message(stamp=time(105)),
        "id": name,
        "task": "task/heat@1.0.0",
        "planner": "tree",
        "phase": "active",
        "generation": 2,
        "decisions": 9,
        "budget": Message(physical=5, observation=8, retry=-1),
        "steps": [step("heat", "heat_to"), step("record", "record")],
        "attempts": [attempt(f"{name}.1", "heat")],
        "certificates": [Message(condition="s1.clean = true", attempt="", live=False, revoked="X2.lost")],
        "obligations": [
            Message(kind=1, id="clean", condition="s1.clean = true", settled=True, needed_by=[]),
            Message(kind=2, id=f"{name}.1", condition="", settled=False, needed_by=[]),
            Message(kind=3, id="c1", condition="s1.clean = true", settled=False, needed_by=["record"]),
        ],
        "approvals": [],
        "facts": [
            Message(
                condition="s1.temperature >= 79",
                verdict=2,
                negative=True,
                valid_until=time(120),
                reasons=["E.early"],
            )
        ],
        "feedback": "Owed: the outcome of #1.\nAccepted next: observe heat.",
        "halted": "",
    }
    return Message(**{**values, **changes})
