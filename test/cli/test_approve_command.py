"""``adf-ea approve`` up to the wire: what it asks for, and how it ends. No ROS: the client is a stand-in."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from adf_ea_ros.cli.main import main


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """What the client was asked; it refuses whoever is called eve."""
    calls: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def run(*arguments: str, **options: Any) -> int:
        calls.append((arguments, options))
        return 1 if options["by"] == "eve" else 0

    stand_in = ModuleType("adf_ea_ros.nodes.approver")
    stand_in.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "adf_ea_ros.nodes.approver", stand_in)
    return calls


def ended(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["approve", *words])
    return int(end.value.code or 0)


def test_what_is_typed_is_what_is_asked(asked: list[Any]) -> None:
    assert ended("job", "heat", "--by", "ann", "--reason", "seen", "--for", "2 min") == 0
    assert ended("job", "heat", "--by", "ann", "--withdraw", "--authority", "/r1/authority") == 0
    assert ended("job", "heat", "--by", "eve") == 1
    assert asked[0] == (
        ("job", "heat"),
        {"by": "ann", "reason": "seen", "valid_for": 120.0, "withdraw": False, "authority": "/authority"},
    )
    assert asked[1][1]["withdraw"]
    assert asked[1][1]["authority"] == "/r1/authority"
    assert asked[2][1]["valid_for"] == 0.0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("job", "heat"), "--by"),
        (("job", "heat", "--by", "ann", "--for", "5"), "is not a duration"),
        (("job", "heat", "--by", "ann", "--withdraw", "--for", "5 s"), "a withdrawal has no duration"),
        (("job", "--by", "ann"), "STEP"),
    ],
)
def test_what_cannot_be_meant_is_not_asked(
    words: tuple[str, ...], says: str, asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*words) == 2
    assert says.lower() in capsys.readouterr().err.lower()
    assert not asked
