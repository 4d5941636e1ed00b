"""Fixtures for real nodes; and the rig without ROS, which lives with the tests of the runtime."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("rclpy"):
    from adf_ea_ros.testing.fixtures import *  # noqa: F403 - fixtures are found by name

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
