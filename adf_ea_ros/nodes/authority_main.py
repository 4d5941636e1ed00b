"""``authority``: the authority node as a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rclpy.node import Node

from adf_ea_ros.nodes.authority import DONE, AuthorityNode
from adf_ea_ros.nodes.support import StartFault, run

EXIT_LEDGER = 3
"""The ledger cannot be used; the last line on stderr says why and what to do."""


def start(node: AuthorityNode) -> None:
    """Configure and activate it where it is to start by itself.

    Raises:
        StartFault: the ledger cannot be used.
    """
    if not node.autostart:
        return
    if node.trigger_configure() != DONE or node.trigger_activate() != DONE:
        raise StartFault(node.ledger_fault or "the authority could not be activated; see the log")


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM. Exit code 2: configuration, 3: ledger."""
    started: list[AuthorityNode] = []

    def make() -> Iterator[Node]:
        node = AuthorityNode()
        started.append(node)
        yield node
        start(node)

    code = run(make, args)
    return EXIT_LEDGER if code and started and started[0].ledger_fault else code


if __name__ == "__main__":
    sys.exit(main())
