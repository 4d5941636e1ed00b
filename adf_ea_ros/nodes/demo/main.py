"""The demo: an assured heating task on a simulated rig, end to end, with separate processes for everything.

    python -m adf_ea_ros.nodes.demo [--fault STORY] [--keep FOLDER]        (make demo FAULT=STORY)

Exit codes: 0 the story ended as it must, 1 it did not, 2 it could not be told (bad contracts, bad arguments,
a process that did not start), 130 stopped by SIGINT or SIGTERM.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

INTERRUPTED = 130


class Interrupt:
    """Whether somebody asked the demo to stop. A flag, so that no signal can break up the tidying up."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        """Take SIGINT and SIGTERM from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:  # noqa: ARG002 - a signal handler's arguments
        self.asked = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell one story; gives the exit code."""
    interrupt = Interrupt()
    interrupt.listen()
    # Only now: importing ROS takes a while, in which Ctrl-C must be as clean as later.
    from adf_ea_ros.nodes.demo.run import run  # noqa: PLC0415

    return INTERRUPTED if interrupt.asked else run(arguments, interrupt)
