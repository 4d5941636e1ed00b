"""Two clocks of this process: the time that passes, and the processor time that this thread uses."""

from __future__ import annotations

from time import perf_counter_ns, thread_time_ns
from typing import NamedTuple


class Spent(NamedTuple):
    """Nanoseconds on both clocks."""

    elapsed: int = 0
    processor: int = 0

    def plus(self, other: Spent) -> Spent:
        """The sum."""
        return Spent(self.elapsed + other.elapsed, self.processor + other.processor)

    def minus(self, other: Spent) -> Spent:
        """The difference."""
        return Spent(self.elapsed - other.elapsed, self.processor - other.processor)


def read() -> Spent:
    """Both clocks now."""
    return Spent(perf_counter_ns(), thread_time_ns())
