"""``capability``: a capability node as a process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rclpy.node import Node

from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.nodes.support import run


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM. Exit code 2: configuration."""

    def make() -> Iterator[Node]:
        yield CapabilityNode()

    return run(make, args)


if __name__ == "__main__":
    sys.exit(main())
