"""Real nodes in processes of their own, in a domain of their own."""

import pytest

pytest.importorskip("rclpy")

from world import World

from adf_ea_ros.testing.fixtures import domain, node_process, watcher

__all__ = ["domain", "node_process", "watcher"]


@pytest.fixture
def world(node_process, watcher, tmp_path):
    made = World(node_process, watcher, tmp_path)
    yield made
    made.tell()  # pytest shows it where the test failed
