"""Reports reach the authority in their order, whatever becomes of it in between."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.runtime.outbox import Notice, Outbox
from adf_ea_ros.runtime.port import Unreachable
from adf_ea_ros.runtime.public import Ruling, not_ready, refusal

ACCEPTED = Notice("e.1", Interaction.ACCEPTED)
SUCCEEDED = Notice("e.1", Interaction.SUCCEEDED)


class Authority:
    """Takes reports, or is not there."""

    def __init__(self) -> None:
        self.answers: list[Ruling | None] = []
        self.taken: list[Interaction] = []

    async def report(self, attempt: str, answer: Any, interaction: Interaction, detail: str) -> Ruling:
        answered = self.answers.pop(0) if self.answers else Ruling(id="e:1", authorized=True)
        if answered is None:
            raise Unreachable("gone")
        if not answered.void:
            self.taken.append(interaction)
        return answered


def run(call: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never suspends."""
    with pytest.raises(StopIteration) as stop:
        call.send(None)
    return stop.value.value


@pytest.mark.parametrize(
    "obstacle", [None, not_ready("Report", "e.1", "starting"), refusal("Report", "e.1", "X5.ledger", "full")]
)
def test_what_is_not_taken_is_kept_and_comes_first(obstacle: Ruling | None) -> None:
    authority = Authority()
    outbox = Outbox(authority)  # type: ignore[arg-type]
    authority.answers = [obstacle, obstacle]
    assert run(outbox.deliver(ACCEPTED)) is None
    assert run(outbox.deliver(SUCCEEDED)) is None
    assert len(outbox) == 2
    assert run(outbox.flush())
    assert authority.taken == [Interaction.ACCEPTED, Interaction.SUCCEEDED]
    assert len(outbox) == 0


def test_a_refused_repetition_counts_as_delivered() -> None:
    authority = Authority()
    outbox = Outbox(authority)  # type: ignore[arg-type]
    authority.answers = [None, refusal("Report", "e.1", "R3.invalid_interaction", "it is SUCCEEDED already")]
    run(outbox.deliver(SUCCEEDED))
    assert run(outbox.flush())
    assert len(outbox) == 0


def test_it_is_delivered_at_once_where_nothing_waits() -> None:
    authority = Authority()
    said = run(Outbox(authority).deliver(ACCEPTED))  # type: ignore[arg-type]
    assert said.authorized
    assert authority.taken == [Interaction.ACCEPTED]
