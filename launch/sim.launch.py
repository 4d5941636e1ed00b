"""The simulated heating rig with authority and capability node, on the rig's own clock.

    ros2 launch adf_ea_ros sim.launch.py
    ros2 launch adf_ea_ros sim.launch.py ledger:=/tmp/try.db log_level:=debug

The same as bringup.launch.py with devices:=sim; every argument of that file can be given here too.
"""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Includes bringup.launch.py."""
    share = Path(get_package_share_directory("adf_ea_ros"))
    source = PythonLaunchDescriptionSource(str(share / "launch" / "bringup.launch.py"))
    return LaunchDescription([IncludeLaunchDescription(source, launch_arguments={"devices": "sim"}.items())])
