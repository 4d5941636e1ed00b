"""Fixtures for real nodes."""

import importlib.util

if importlib.util.find_spec("rclpy"):
    from adf_ea_ros.testing.fixtures import *  # noqa: F403 - fixtures are found by name
