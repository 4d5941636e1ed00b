"""What decisions and episodes look like: pure functions, no ROS."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from adf_ea_ros.cli.decision_log import runs
from adf_ea_ros.cli.watch_board import Board, Trouble, trouble_row, troubles
from adf_ea_ros.cli.watch_view import DecisionView, EpisodeView, StepView, decision_row, short, verdict_word

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
    approvals: Any = ()
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


@pytest.mark.parametrize(
    ("given", "tried", "state"),
    [
        (0, None, "waits for approval"),
        (1, None, "approved by ann"),
        (2, {}, "answered SUCCEEDED, effect not shown"),
        (2, {"negative": True}, "answered SUCCEEDED, effect shown absent, waits for another approval"),
        (1, {"negative": True}, "answered SUCCEEDED, effect shown absent, approved by ann"),
        (3, None, "approval withdrawn: waits for another"),
        (4, None, "approval expired: waits for another"),
        (5, None, "approval void: waits for another"),
    ],
)
def test_a_step_that_waits_for_a_person_says_so(given: int, tried: dict[str, Any] | None, state: str) -> None:
    message = Message(
        steps=[SimpleNamespace(id="heat", capability="heat_to")],
        attempts=[attempt(**tried)] if tried is not None else [],
        approvals=[
            SimpleNamespace(step="other", state=1, by="bob"),
            SimpleNamespace(step="heat", state=given, by="ann"),
        ],
    )
    (step,) = EpisodeView.of(message).steps
    assert (step.state, step.verified) == (state, False)


def test_attempts_and_approvals_of_the_episode_at_hand_are_short() -> None:
    assert short("job.1 has used job/a2, and job2.1 has not", "job") == "#1 has used a2, and job2.1 has not"
    assert short("job.1 has used job/a2", "") == "job.1 has used job/a2"


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


def obligation(
    kind: int, condition: str = "s1.hot = true", name: str = "job.1", settled: bool = False
) -> Any:
    return SimpleNamespace(kind=kind, id=name, condition=condition, settled=settled)


def test_what_is_owed_is_told_once_and_an_outcome_by_its_attempt() -> None:
    owed = [obligation(1), obligation(1), obligation(2), obligation(3), obligation(1, "done", settled=True)]
    assert EpisodeView.of(Message(obligations=owed)).owed == (
        "s1.hot = true",
        "the outcome of #1",
        "s1.hot = true again",
    )


def health(*levels: int, of: str = "/authority") -> Any:
    """A DiagnosticArray; the level is a byte in some distributions and a number in others."""
    status = [
        SimpleNamespace(
            name=f"{of}: part {n}", hardware_id=of, level=bytes([level]), message=f"level {level}"
        )
        for n, level in enumerate(levels)
    ]
    return SimpleNamespace(status=status)


def test_troubles_are_those_of_the_authority_the_worst_first() -> None:
    found = troubles(health(0, 1, 3, 2), "/authority")
    assert [(t.name, t.level) for t in found] == [("part 3", 2), ("part 2", 3), ("part 1", 1)]
    assert troubles(health(0, 0), "/authority") == ()
    assert troubles(health(2, of="/other/authority"), "/authority") == ()
    assert trouble_row(found[0]).plain == "ERROR part 3: level 2"


@pytest.mark.parametrize("height", [6, 24, 60])
def test_troubles_stand_at_the_foot_and_leave_room(height: int) -> None:
    unwell = [Trouble(f"readback {n}", 3, "newest sample 30 s old") for n in range(9)]
    lines = drawn(Board([episode(1)], [decision()] * 50, "the foot", unwell), 80, height)
    assert len(lines) <= height
    assert lines[-1].startswith("the foot")
    shown = [line for line in lines if line.startswith("STALE")]
    assert 1 <= len(shown) <= 4
    assert f"(and {9 - len(shown)} more)" in shown[-1]


def test_what_is_decided_again_and_again_is_shown_once_with_its_number() -> None:
    again = [decision(id=f"job:{n}", time=n * SECOND) for n in range(12)]
    other = decision(id="job:99", subject="measure")
    assert [(d.id, times) for d, times in runs([*again, other, again[0]])] == [
        ("job:11", 12),
        ("job:99", 1),
        ("job:0", 1),
    ]
    lines = drawn(Board((), [*again, other]), 120, 24)
    assert sum("REFUSED" in line for line in lines) == 2
    assert "12 times" in lines[0]
    assert lines[0].lstrip().startswith("11.0 s")
