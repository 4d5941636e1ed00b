"""Example: clients of NavigateToPose and FollowJointTrajectory, gated without a change to any of them.

    ros2 launch adf_ea_ros gated.launch.py                       # with simulated devices
    ros2 launch adf_ea_ros gated.launch.py devices:=real         # on a robot; see config/examples/nav_and_arm

In another terminal, as ever:

    ros2 action send_goal /navigate_to_pose nav2_msgs/action/NavigateToPose \\
        "{pose: {header: {frame_id: map}, pose: {position: {x: 1.0, y: 2.0}, orientation: {w: 1.0}}}}"

The goal succeeds once localization has shown twice that the base is there, and is aborted where it is not.
On a robot, start the navigator and the controller with their actions under other names, so that the usual
ones are the gates':

    from adf_ea_ros.nodes.names import action_remappings

    Node(package="nav2_bt_navigator", ...,
         remappings=action_remappings("navigate_to_pose", "/hardware/navigate_to_pose"))

Needs nav2_msgs, nav_msgs, control_msgs and trajectory_msgs. Arguments: those of bringup.launch.py.
"""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Includes bringup.launch.py with the example's files."""
    share = Path(get_package_share_directory("adf_ea_ros"))
    example = share / "config" / "examples" / "nav_and_arm"
    capabilities = [
        share / "config" / "contracts" / f"{name}.yaml" for name in ("navigate_to", "move_joints")
    ]
    contracts = ":".join(map(str, [*capabilities, example / "base.yaml", example / "arm.yaml"]))
    defaults = {
        "devices": (
            "sim",
            "'sim': simulated devices, made from the contracts; 'real': they are there already",
        ),
        "contracts": (contracts, "files and folders with contracts, separated by ':'"),
        "gates": (str(example / "gates.yaml"), "files and folders with gates, separated by ':'"),
    }
    declared = [
        DeclareLaunchArgument(name, default_value=value, description=text)
        for name, (value, text) in defaults.items()
    ]
    source = PythonLaunchDescriptionSource(str(share / "launch" / "bringup.launch.py"))
    given = {name: LaunchConfiguration(name) for name in defaults}
    return LaunchDescription([*declared, IncludeLaunchDescription(source, launch_arguments=given.items())])
