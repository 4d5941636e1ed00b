"""What can go wrong with the devices of the rig: small checked values, made from plain parameters.

Table 28 of the paper exercises a heater without effect, missing samples and a recorder that is gone; the
others are further ways in which an acknowledgement and the world can come apart.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TypeVar

import msgspec

from adf_ea_ros.contracts.conditions import Ns

SECOND: Ns = 1_000_000_000


class FaultError(ValueError):
    """Fault parameters that mean nothing; the message names each one and what is allowed."""


class HeaterFaultKind(str, Enum):
    """How a heater misbehaves."""

    NONE = "none"
    NO_EFFECT = "no_effect"  # answers SUCCEEDED, nothing heats
    LOST_RESULT = "lost_result"  # heats and succeeds, result requests stay unanswered
    REJECT = "reject"  # refuses the goal
    ABORT_WITHOUT_EFFECT = "abort_without_effect"  # answers ABORTED, nothing heats
    ABORT_WITH_EFFECT = "abort_with_effect"  # answers ABORTED, heats all the same
    DELAYED_EFFECT = "delayed_effect"  # answers SUCCEEDED, heats later
    STUCK = "stuck"  # heats, and the goal never ends
    UNAVAILABLE = "unavailable"  # offers no action


class ProbeFaultKind(str, Enum):
    """How the temperature probe misbehaves."""

    NONE = "none"
    DROP = "drop"  # samples are missing
    STALE = "stale"  # samples carry an old time
    WRONG_SAMPLE = "wrong_sample"  # samples name another sample
    NAN = "nan"  # the value is not a number


class RecorderFaultKind(str, Enum):
    """How a recorder misbehaves."""

    NONE = "none"
    DOWN = "down"  # offers no service
    LOST_REPLY = "lost_reply"  # writes, and never answers
    NO_EFFECT = "no_effect"  # answers success, writes nothing


class HeaterFault(msgspec.Struct, frozen=True, kw_only=True):
    """The fault of one heater."""

    kind: HeaterFaultKind = HeaterFaultKind.NONE
    uses: int = 0  # how many goals are affected, from the first on; 0: all
    delay: Ns = 10 * SECOND  # delayed_effect: from the start of the goal to the start of the heating
    answers: int = 0  # lost_result: result requests of a goal that stay unanswered; 0: all

    def affects(self, use: int) -> bool:
        """Whether the ``use``-th goal (counted from 1) meets this fault."""
        return self.kind is not HeaterFaultKind.NONE and (self.uses == 0 or use <= self.uses)


class ProbeFault(msgspec.Struct, frozen=True, kw_only=True):
    """The fault of the probe."""

    kind: ProbeFaultKind = ProbeFaultKind.NONE
    samples: int = 0  # how many samples are affected after each heating; 0: all samples, heating or not
    age: Ns = 60 * SECOND  # stale: how much too old the stamps are

    def affects(self, since_heating: int | None) -> bool:
        """Whether the n-th sample after the last heating (None: no heating yet) meets this fault."""
        if self.kind is ProbeFaultKind.NONE:
            return False
        return self.samples == 0 or (since_heating is not None and since_heating <= self.samples)


class RecorderFault(msgspec.Struct, frozen=True, kw_only=True):
    """The fault of one recorder."""

    kind: RecorderFaultKind = RecorderFaultKind.NONE
    uses: int = 0  # how many requests are affected, from the first on; 0: all

    def affects(self, use: int) -> bool:
        """Whether the ``use``-th request (counted from 1) meets this fault."""
        return self.kind is not RecorderFaultKind.NONE and (self.uses == 0 or use <= self.uses)


def heater_fault(kind: str = "none", uses: int = 0, delay: float = 10.0, answers: int = 0) -> HeaterFault:
    """A heater's fault from plain parameters; ``delay`` in logical seconds.

    Raises:
        FaultError: with every fault of the parameters.
    """
    faults = _counts(uses=uses, answers=answers) + _spans(delay=delay)
    chosen = _choice(HeaterFaultKind, kind, faults)
    return HeaterFault(kind=chosen, uses=uses, delay=round(delay * SECOND), answers=answers)


def probe_fault(kind: str = "none", samples: int = 0, age: float = 60.0) -> ProbeFault:
    """The probe's fault from plain parameters; ``age`` in logical seconds.

    Raises:
        FaultError: with every fault of the parameters.
    """
    faults = _counts(samples=samples) + _spans(age=age)
    chosen = _choice(ProbeFaultKind, kind, faults)
    return ProbeFault(kind=chosen, samples=samples, age=round(age * SECOND))


def recorder_fault(kind: str = "none", uses: int = 0) -> RecorderFault:
    """A recorder's fault from plain parameters.

    Raises:
        FaultError: with every fault of the parameters.
    """
    chosen = _choice(RecorderFaultKind, kind, _counts(uses=uses))
    return RecorderFault(kind=chosen, uses=uses)


_Kind = TypeVar("_Kind", HeaterFaultKind, ProbeFaultKind, RecorderFaultKind)


def _choice(kinds: type[_Kind], name: str, faults: list[str]) -> _Kind:
    """The kind of that name; raises for it and for the faults found before."""
    allowed = [kind.value for kind in kinds]
    if name not in allowed:
        faults.insert(0, f"fault is {name!r}: allowed are {', '.join(allowed)}")
    if faults:
        raise FaultError("; ".join(faults))
    return kinds(name)


def _counts(**values: int) -> list[str]:
    return [f"{name} is {value}: allowed are 0 and more" for name, value in values.items() if value < 0]


def _spans(**values: float) -> list[str]:
    return [
        f"{name} is {value} s: allowed are 0 and more"
        for name, value in values.items()
        if not (math.isfinite(value) and value >= 0)
    ]
