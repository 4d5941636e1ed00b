"""pytest fixtures for tests with real nodes: import the ones you need in a conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.watcher import Watcher

__all__ = ["domain", "node_process", "watcher"]

StartModule = Callable[..., NodeProcess]


@pytest.fixture
def domain() -> Iterator[DomainLease]:
    """A ROS domain for this test alone."""
    with DomainLease() as lease:
        yield lease


@pytest.fixture
def node_process(domain: DomainLease) -> Iterator[StartModule]:
    """Starts ``python -m MODULE ARGUMENTS...`` in the domain of this test; all of it ends with the test."""
    started: list[NodeProcess] = []

    def start(module: str, *arguments: str) -> NodeProcess:
        process = NodeProcess.of_module(module, arguments, domain.environment())
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in reversed(started):
            process.end()


@pytest.fixture
def watcher(domain: DomainLease) -> Iterator[Watcher]:
    """A node in this process and in the domain of this test."""
    with Watcher(domain) as node:
        yield node
