"""Conditions over the world: a subject, a state path, and clauses on the value found there.

A condition is the one form in which effects, preconditions and goals are stated (appendix D of the
ADF-EA paper: subject, state path, typed expected value, comparison operator). Conditions are values:
frozen, hashable, compared by content, so that an effect and a precondition link when they speak of the
same fact and not merely of the same tool name (section 3.4).
"""

from __future__ import annotations

import math
from enum import Enum
from functools import cached_property

import msgspec

Value = bool | int | float | str
"""What a readback can say about one state path, after any derivation. NaN and infinity are not values."""

Ns = int
"""A point or a span of ROS time in nanoseconds."""


class Operator(str, Enum):
    """The comparison operators of the public contract format (appendix D)."""

    EQ = "EQ"
    LT = "LT"
    LTE = "LTE"
    GT = "GT"
    GTE = "GTE"


class Clause(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One comparison of a value with a bound."""

    op: Operator
    bound: Value

    def test(self, value: Value) -> bool | None:
        """True or false, or None where the value cannot be compared with the bound."""
        if isinstance(self.bound, (bool, str)) or isinstance(value, (bool, str)):
            # A bool is an int in Python, but a latched 1 is no proof of a true: types must agree.
            if type(value) is not type(self.bound) or self.op is not Operator.EQ:
                return None
            return value == self.bound
        if not math.isfinite(value):
            return None
        if self.op is Operator.EQ:
            return value == self.bound
        if self.op is Operator.LT:
            return value < self.bound
        if self.op is Operator.LTE:
            return value <= self.bound
        if self.op is Operator.GT:
            return value > self.bound
        return value >= self.bound


class Condition(msgspec.Struct, frozen=True, dict=True):
    """All clauses hold of the value at ``path`` of ``subject``. At least one clause."""

    subject: str
    path: str
    clauses: tuple[Clause, ...]

    @property
    def fact(self) -> tuple[str, str]:
        """What the condition speaks of, whatever it says about it."""
        return (self.subject, self.path)

    def test(self, value: Value) -> bool | None:
        """True or false, or None where any clause cannot judge the value."""
        results = [clause.test(value) for clause in self.clauses]
        if None in results:
            return None
        return all(results)

    def implies(self, other: Condition) -> bool:
        """Every value that satisfies this condition satisfies ``other`` (never a guess: false if unsure)."""
        if self.fact != other.fact:
            return False
        if self.clauses == other.clauses:
            return True
        exact = next((c.bound for c in self.clauses if c.op is Operator.EQ), None)
        if exact is not None:
            return other.test(exact) is True
        return all(any(_clause_implies(mine, theirs) for mine in self.clauses) for theirs in other.clauses)

    def excludes(self, other: Condition) -> bool:
        """No value satisfies both (never a guess: false if unsure)."""
        if self.fact != other.fact:
            return False
        for one, two in ((self, other), (other, self)):
            exact = next((c.bound for c in one.clauses if c.op is Operator.EQ), None)
            if exact is not None:
                return two.test(exact) is not True
        return any(_apart(mine, theirs) for mine in self.clauses for theirs in other.clauses)

    def __str__(self) -> str:
        return self._words

    @cached_property
    def _words(self) -> str:
        # Findings and certificates are kept by these words, so that decisions ask for them many times.
        words = " and ".join(f"{_SIGN[c.op]} {c.bound!r}" for c in self.clauses)
        return f"{self.subject}.{self.path} {words}"


_SIGN = {Operator.EQ: "==", Operator.LT: "<", Operator.LTE: "<=", Operator.GT: ">", Operator.GTE: ">="}
_UPPER = (Operator.LT, Operator.LTE)
_LOWER = (Operator.GT, Operator.GTE)


def _apart(one: Clause, two: Clause) -> bool:
    """An upper bound below a lower bound: no number lies on both sides."""
    if one.op in _LOWER and two.op in _UPPER:
        one, two = two, one
    if one.op not in _UPPER or two.op not in _LOWER:
        return False
    if isinstance(one.bound, (bool, str)) or isinstance(two.bound, (bool, str)):
        return False
    touching = one.op is Operator.LTE and two.op is Operator.GTE
    return one.bound < two.bound or (one.bound == two.bound and not touching)


def _clause_implies(mine: Clause, theirs: Clause) -> bool:
    if isinstance(mine.bound, (bool, str)) or isinstance(theirs.bound, (bool, str)):
        return mine == theirs
    strict = theirs.op in (Operator.LT, Operator.GT) and mine.op not in (Operator.LT, Operator.GT)
    if mine.op in _UPPER and theirs.op in _UPPER:
        return mine.bound < theirs.bound or (mine.bound == theirs.bound and not strict)
    if mine.op in _LOWER and theirs.op in _LOWER:
        return mine.bound > theirs.bound or (mine.bound == theirs.bound and not strict)
    return mine == theirs
