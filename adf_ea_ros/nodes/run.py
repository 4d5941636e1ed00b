"""One goal on its way: the order, what the hardware said, what the evidence showed."""

from __future__ import annotations

from enum import Enum
from typing import Any

from adf_ea_ros.action import Execute
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.nodes.convert import VERDICTS
from adf_ea_ros.runtime.public import Order, Ruling


class Outcome(str, Enum):
    """How a goal ended, as far as evidence says."""

    VERIFIED = "VERIFIED"
    UNVERIFIED = "UNVERIFIED"
    ABSENT = "ABSENT"


OUTCOMES: dict[Outcome, int] = {outcome: getattr(Execute.Result, outcome.name) for outcome in Outcome}


class Run:
    """The order of one goal, from its admission to its result."""

    def __init__(self, order: Order, admission: Ruling, handle: Any = None) -> None:
        """``handle`` is the goal of the planner; none where an earlier process had it."""
        self.order, self.handle = order, handle
        self.ruling = admission
        """The decision that the outcome rests on: the latest that says something of the effect."""
        self.interaction: Interaction = order.interaction
        self.response = "{}"
        self.verdict: Verdict | None = order.verdict
        self.negative = order.negative
        self.canceling = False

    @property
    def decided(self) -> bool:
        """Evidence shows the effect, or shows that it did not come about."""
        return self.verdict is Verdict.SATISFIED or self.negative

    @property
    def outcome(self) -> Outcome:
        """What the evidence so far means."""
        if self.verdict is Verdict.SATISFIED:
            return Outcome.VERIFIED
        return Outcome.ABSENT if self.negative else Outcome.UNVERIFIED

    def hear(self, said: Ruling) -> None:
        """Take in a decision on this attempt's effect."""
        if not self.decided or (self.verdict, self.negative) != (said.verdict, said.negative):
            self.ruling = said
        self.verdict, self.negative = said.verdict, said.negative

    def tell(self, phase: str, response: str = "") -> None:
        """Feedback to the planner, while its goal is open."""
        if self.handle is not None and self.handle.is_active:
            self.handle.publish_feedback(
                Execute.Feedback(phase=phase, verdict=VERDICTS[self.verdict], response=response)
            )
