"""Processes for tests to kill."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def in_doomed_process(work: Callable[[], object]) -> None:
    """Run ``work`` in a process of its own and kill that right behind it: nothing is closed in order."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - nothing may get out of a forked process
            import traceback

            traceback.print_exc()
            os._exit(1)
        os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the process failed before it was killed"
