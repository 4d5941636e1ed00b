"""One order on its way: what the hardware said, what the evidence showed, and who wants to hear of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from adf_ea_ros.action import Execute
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.runtime.public import Order, Ruling


class Outcome(str, Enum):
    """How a goal ended, as far as evidence says."""

    VERIFIED = "VERIFIED"
    UNVERIFIED = "UNVERIFIED"
    ABSENT = "ABSENT"


OUTCOMES: dict[Outcome, int] = {outcome: getattr(Execute.Result, outcome.name) for outcome in Outcome}

Listener = Callable[[str, Any], None]
"""Called with a phase and what was said in it: a native message, words, or nothing."""


class Run:
    """The order of one goal, from its admission to its result."""

    def __init__(self, order: Order, admission: Ruling, listener: Listener | None = None) -> None:
        """``listener`` hears of progress; none where nobody waits any more."""
        self.order, self.listener = order, listener
        self.ruling = admission
        """The decision that the outcome rests on: the latest that says something of the effect."""
        self.interaction: Interaction = order.interaction
        self.response: Any = None
        """The provider's result or response, in its own type; None where there is none."""
        self.verdict: Verdict | None = order.verdict
        self.negative = order.negative
        self.proven: Ns = -1
        """Since when (ROS time) the effect is known to be proven; -1: it is not."""
        self.active: Ns = -1
        """When (ROS time) the hardware last reported progress; -1: never."""
        self.sent = False
        """It is with the hardware, as far as that can be known."""
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
        if self.verdict is Verdict.SATISFIED and self.proven < 0:
            self.proven = said.time

    def tell(self, phase: str, said: Any = None) -> None:
        """Progress, to whoever listens."""
        if self.listener is not None:
            self.listener(phase, said)
