"""What decisions and episodes look like: pure functions, no ROS."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from adf_ea_ros.cli.watch_view import Board, DecisionView, EpisodeView, StepView, decision_row, verdict_word

SECOND = 1_000_000_000


def decision(**changes: Any) -> DecisionView:
    values: dict[str, Any] = {
        "time": 103 * SECOND,
        "id": "job:7",
        "episode": "job",
        "request": "Dispatch",
        "subject": "heat",
        "authorized": False,
        "rules": ("R6",),
        "reasons": ("R6.no_qualified_negative",),
        "sentence": "attempt job.1 is unresolved (SUCCEEDED); observe it, or stop",
        "attempt": "job.1",
        "physical": 5,
        "observation": 8,
        "retry": 1,
    }
    return DecisionView(**{**values, **changes})


def drawn(what: Any, width: int = 80, height: int = 24, *, color: bool = False) -> list[str]:
    console = Console(
        width=width,
        height=height,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
    )
    with console.capture() as capture:
        console.print(what)
    return capture.get().splitlines()


def test_a_refusal_shows_rule_reason_sentence_and_budgets() -> None:
    first, second = drawn(decision_row(decision()), 120)
    assert first.startswith(
        "  103.0 s REFUSED    Dispatch heat #1 R6.no_qualified_negative  5 physical, 8 obs"
    )
    assert first.endswith("1 retry left")
    assert second == "                     attempt #1 is unresolved (SUCCEEDED); observe it, or stop"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"authorized": True}, "GRANTED"),
        ({"request": "Claim", "authorized": True}, "COMPLETE"),
        ({"request": "Claim"}, "REFUSED"),
        ({"request": "Assess", "authorized": True}, "PROVEN"),
        ({"request": "Assess"}, "NOT PROVEN"),
        ({"request": "Assess", "negative": True}, "ABSENT"),
        ({"request": "Report", "authorized": True}, "RECORDED"),
        ({"request": "Something new", "authorized": True}, "GRANTED"),
    ],
)
def test_one_word_says_what_was_decided(changes: dict[str, Any], word: str) -> None:
    assert verdict_word(decision(**changes))[0] == word


def test_colour_only_where_there_is_a_terminal() -> None:
    assert "\x1b[" in "".join(drawn(decision_row(decision()), color=True))
    assert "\x1b[" not in "".join(drawn(decision_row(decision())))


@settings(max_examples=60)
@given(
    width=st.integers(20, 200),
    sentence=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=200),
    subject=st.text("abc_ .", max_size=40),
)
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(
    width: int, sentence: str, subject: str
) -> None:
    console = Console(width=width, highlight=False, color_system=None)
    for line in drawn(decision_row(decision(sentence=sentence, subject=subject)), width):
        assert console.measure(line).maximum <= width
        assert line == line.rstrip(" ")


def test_markup_in_a_sentence_is_text() -> None:
    lines = drawn(decision_row(decision(sentence="[bold]not bold[/bold] [red]")))
    assert "[bold]not bold[/bold] [red]" in lines[-1]


def test_a_narrow_terminal_gets_the_text_below() -> None:
    lines = drawn(decision_row(decision()), 30)
    assert lines[0] == "  103.0 s REFUSED"
    assert lines[1].startswith("    Dispatch")


@dataclass
class Stamp:
    sec: int = 5
    nanosec: int = 500_000_000


@dataclass
class Message:
    """An Episode message, as far as the view reads it."""

    header: Any = field(default_factory=lambda: SimpleNamespace(stamp=Stamp()))
    id: str = "job"
    task: str = "task/t@1"
    phase: str = "active"
    generation: int = 2
    decisions: int = 9
    budget: Any = field(default_factory=lambda: SimpleNamespace(physical=4, observation=8))
    steps: Any = ()
    attempts: Any = ()
    certificates: Any = ()
    obligations: Any = ()
    halted: str = ""


def attempt(**changes: Any) -> Any:
    values = {"id": "job.1", "step": "heat", "provider": "heater_a", "interaction": 4, "negative": False}
    return SimpleNamespace(**{**values, "doubtful": False, "unresolved": True, **changes})


@pytest.mark.parametrize(
    ("changes", "live", "state", "verified"),
    [
        ({}, False, "answered SUCCEEDED, effect not shown", False),
        ({"negative": True}, False, "answered SUCCEEDED, effect shown absent", False),
        ({"doubtful": True, "interaction": 1}, False, "dispatched, in doubt", False),
        ({"unresolved": False}, True, "verified", True),
    ],
)
def test_a_step_is_verified_by_a_live_certificate_only(
    changes: dict[str, Any], live: bool, state: str, verified: bool
) -> None:
    message = Message(
        steps=[SimpleNamespace(id="heat", capability="heat_to")],
        attempts=[attempt(**changes)],
        certificates=[SimpleNamespace(live=live, attempt="job.1")],
    )
    (step,) = EpisodeView.of(message).steps
    assert (step.state, step.verified) == (state, verified)


def episode(number: int, phase: str = "active") -> EpisodeView:
    steps = tuple(StepView(id=f"step{i}", capability="heat_to") for i in range(3))
    return EpisodeView(time=number, id=f"job{number}", task="t", phase=phase, steps=steps, owed=("heat",))


@pytest.mark.parametrize("height", [6, 10, 24, 60])
@pytest.mark.parametrize("width", [30, 80, 160])
def test_the_board_fits_the_terminal_and_shows_the_latest(width: int, height: int) -> None:
    decisions = [decision(id=f"job:{n}", sentence=f"number {n}") for n in range(100)]
    episodes = [episode(n, "active" if n == 3 else "completed") for n in range(20)]
    lines = drawn(Board(episodes, decisions, "the foot"), width, height)
    assert len(lines) <= height
    assert any("job3" in line for line in lines)  # the active one comes first
    assert any("the foot" in line for line in lines)
    if height >= 24:
        assert any("number 99" in line for line in lines)


def test_an_empty_board_says_what_it_waits_for() -> None:
    assert drawn(Board((), (), "no authority at /authority"))[0].startswith("no authority at /authority")
