"""What is reported of an order that is under way, against a scripted device."""

import asyncio
from types import SimpleNamespace

import pytest
from test_parts import ORDER

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.nodes import errands
from adf_ea_ros.nodes.hardware import Said
from adf_ea_ros.runtime.public import refusal

pytestmark = pytest.mark.ros


class Device:
    """Accepts, and ends once ``end`` says so."""

    def __init__(self, end):
        self.end = end

    async def send(self, *_):
        return Said(Interaction.ACCEPTED)

    def answered(self, _):
        return self.end.is_set()

    async def result(self, *_):
        await self.end.wait()
        return Said(Interaction.SUCCEEDED)

    def forget(self, _):
        pass


class Waits:
    """Real time, in the loop of the test."""

    now = 0

    async def within(self, ready, seconds):
        for _ in range(round(seconds * 1000)):
            if ready():
                return True
            await asyncio.sleep(0.001)
        return ready()


def seen_through(end, *, before, reported=lambda _: None):
    """Carry an order out; what was reported of it."""
    told = []

    async def deliver(notice):
        told.append(notice.interaction)
        reported(notice)

    node = SimpleNamespace(
        waits=Waits(),
        tools={ORDER.provider: Device(end)},
        reconciler=SimpleNamespace(sent=lambda _: None),
        outbox=SimpleNamespace(deliver=deliver),
    )

    async def main():
        if before:
            end.set()
        work = errands.Errands(node, 1, 1.0)
        run = work.begin(ORDER, refusal("Dispatch", "heat", "X5.bad_request", "", 0))
        run.verdict = Verdict.SATISFIED
        await work.see_through(run, 0)
        return run

    return asyncio.run(main()), told


def test_a_quick_end_says_all_that_the_acceptance_would():
    run, told = seen_through(asyncio.Event(), before=True)
    assert told == [Interaction.SUCCEEDED]
    assert run.interaction is Interaction.SUCCEEDED


def test_what_takes_longer_is_known_to_be_accepted():
    end = asyncio.Event()
    _, told = seen_through(end, before=False, reported=lambda _: end.set())
    assert told == [Interaction.ACCEPTED, Interaction.SUCCEEDED]
