"""``composed``: an authority and a capability node in one process, with direct calls between them: the fast
default.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rclpy.node import Node

from adf_ea_ros.nodes.authority import AuthorityNode
from adf_ea_ros.nodes.authority_main import EXIT_LEDGER, start
from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.nodes.support import run
from adf_ea_ros.runtime.port import LocalPort


def main(args: Sequence[str] | None = None) -> int:
    """Run both until SIGINT or SIGTERM. Exit code 2: configuration, 3: ledger.

    Parameters go to both nodes, or to one by its name: ``-p capability:providers:=[heater_a]``.
    """
    started: list[AuthorityNode] = []

    def make() -> Iterator[Node]:
        authority = AuthorityNode()
        started.append(authority)
        yield authority
        port = LocalPort(authority.desk, authority.presence.arrival)
        yield CapabilityNode(port=port, contracts=authority.catalog)
        start(authority)

    code = run(make, args)
    return EXIT_LEDGER if code and started and started[0].ledger_fault else code


if __name__ == "__main__":
    sys.exit(main())
