"""Authority that changes at three moments: before the dispatch, beside it, and while the approved step runs.

Each change comes once where it concerns what was approved and once where it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from studies.approvals.bench import PLANNER, Bench

BESIDE = (Step("purge", "purge", {"line": "l1"}), Step("other", "vent", {"valve": "v2"}))
Change = Callable[[Bench], None]


class Pair(NamedTuple):
    """A change that concerns the approved step, and one of its kind that does not (none: there is none)."""

    name: str
    relevant: Change
    unrelated: Change | None


def _other_arguments(w: Bench) -> None:
    w.plan(PLANNER, *BESIDE, speed=100)


def _the_same_plan(w: Bench) -> None:
    w.plan(PLANNER, *BESIDE)


def _withdraw_of_another_step(w: Bench) -> None:
    w.approve(step="other")
    w.withdraw("other")


PAIRS = (
    Pair(
        "a provider is revoked and granted again",
        lambda w: w.revoke("valve_a"),
        lambda w: w.revoke("valve_b"),
    ),
    Pair("a revision of the plan", _other_arguments, _the_same_plan),
    Pair("an approval is withdrawn", lambda w: w.withdraw(), _withdraw_of_another_step),
    Pair("a halt", lambda w: w.halt(), None),
    Pair("the authority is replaced", lambda w: w.crash(contract=True), lambda w: w.crash()),
)


class Seen(NamedTuple):
    """What came of one run."""

    sent: bool  # the approved step was sent after the change
    stopped: bool  # an attempt in flight was asked to stop
    proven: bool  # the task was completed


def before(w: Bench, change: Change) -> Seen:
    """The change comes between approval and dispatch."""
    w.plan(PLANNER, *BESIDE)
    w.approve()
    change(w)
    _settle(w)
    sent = w.send()
    w.through(sent)
    w.finish()
    return Seen(bool(sent), stopped=False, proven=w.completed)


def beside(w: Bench, change: Change) -> Seen:
    """The change comes while another step is on its way, which goes on to its end."""
    w.plan(PLANNER, *BESIDE)
    w.approve()
    other = w.send("purge", "pump")
    w.look()
    change(w)
    stopped = w.asked_to_stop(other)
    _settle(w)
    w.act(other)
    w.answer(other, Interaction.SUCCEEDED)
    w.look(2)
    sent = w.send()
    w.through(sent)
    w.finish()
    return Seen(bool(sent), stopped, w.completed)


def in_flight(w: Bench, change: Change) -> Seen:
    """The change comes while the approved attempt is on its way; the device does it all the same."""
    w.plan(PLANNER, *BESIDE)
    w.approve()
    sent = w.send()
    w.look()
    change(w)
    stopped = w.asked_to_stop(sent)
    _settle(w)
    w.act(sent)
    w.answer(sent, Interaction.SUCCEEDED)
    w.look(2)
    w.finish()
    return Seen(bool(sent), stopped, w.completed)


def _settle(w: Bench) -> None:
    """Where another contract has come, the planner proposes under it: the old step is the old contract's."""
    w.look()
    if w.version > 1:
        w.plan(PLANNER, *BESIDE)
