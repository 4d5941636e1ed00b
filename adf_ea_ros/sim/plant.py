"""A world in which the effects of any contract come about: facts that move to where a capability says.

It knows nothing of physics: a number moves evenly to a value that satisfies the effect, anything else changes
at the end. Enough to try contracts, gates and planners before the hardware is there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from adf_ea_ros.contracts.conditions import Condition, Operator, Value

Fact = tuple[str, str]
"""Subject and state path."""
_BESIDE = 1e-3
"""How far (relative) beside an open bound the value is put."""


def satisfying(condition: Condition) -> Value | None:
    """A value of which the condition is true: a bound, or the middle between two. None: there is none."""
    low, high = -math.inf, math.inf
    for clause in condition.clauses:
        bound = clause.bound
        if clause.op is Operator.EQ:
            return bound if condition.test(bound) else None
        if isinstance(bound, (bool, str)):
            return None
        beside = max(abs(bound), 1.0) * _BESIDE
        if clause.op in (Operator.GT, Operator.GTE):
            low = max(low, bound + (beside if clause.op is Operator.GT else 0.0))
        else:
            high = min(high, bound - (beside if clause.op is Operator.LT else 0.0))
    if math.isfinite(low) and math.isfinite(high):
        value = (low + high) / 2.0
    else:
        value = low if math.isfinite(low) else high
    return value if condition.test(value) else None


@dataclass
class Motion:
    """Facts on their way; ``left`` seconds to go. ``stop`` leaves them where they are."""

    targets: dict[Fact, Value]
    left: float
    done: bool = field(default=False)

    def stop(self) -> None:
        """Go no further."""
        self.done = True


class Plant:
    """Facts and what moves them. A later motion takes over the facts of an earlier one."""

    def __init__(self) -> None:
        self.facts: dict[Fact, Value] = {}
        self.arguments: dict[str, dict[str, Value]] = {}
        """By subject: those of the last request about it, for readbacks that carry them."""
        self._motions: list[Motion] = []

    def subjects(self, path: str) -> list[str]:
        """The subjects of which something is known at ``path``."""
        return [subject for subject, known in self.facts if known == path]

    def begin(self, targets: Mapping[Fact, Value], seconds: float) -> Motion:
        """Set facts in motion, to arrive in so many seconds."""
        for motion in self._motions:
            for fact in targets:
                motion.targets.pop(fact, None)
        begun = Motion(dict(targets), seconds)
        self._motions.append(begun)
        return begun

    def step(self, seconds: float) -> None:
        """Let time pass."""
        for motion in self._motions:
            if motion.done:
                continue
            part = min(seconds / motion.left, 1.0) if motion.left > 0.0 else 1.0
            motion.left = max(motion.left - seconds, 0.0)
            motion.done = part >= 1.0
            for fact, target in motion.targets.items():
                self.facts[fact] = target if motion.done else _between(self.facts.get(fact), target, part)
        self._motions = [motion for motion in self._motions if not motion.done]


def _between(now: Value | None, target: Value, part: float) -> Value:
    """Some way from here to there; a value that is no number stays until the end."""
    numbers = not isinstance(now, (bool, str)) and not isinstance(target, (bool, str))
    if now is None or not numbers:
        return target if now is None else now
    assert not isinstance(now, str)
    assert not isinstance(target, str)
    return now + (target - now) * part
