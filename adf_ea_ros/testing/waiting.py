"""Waiting for a condition instead of for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


class TimedOut(AssertionError):
    """The condition did not come true in time."""


def wait_until(
    condition: Callable[[], _T],
    timeout: float = 20.0,
    spin: Callable[[], object] | None = None,
    what: str = "",
) -> _T:
    """Call ``condition`` until it gives something true, and give that.

    Args:
        timeout: seconds of real time; generous, as it costs nothing where the condition comes true.
        spin: called between two looks; must not block for long. Default: a pause of 5 ms.
        what: names the condition in the error.

    Raises:
        TimedOut: it never came true.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimedOut(f"{what or condition} did not come true within {timeout} s")
        if spin is None:
            time.sleep(0.005)
        else:
            spin()
