"""The launch files, run for real where launch_ros is there; elsewhere only that they compile."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., Any]

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))
HAS_LAUNCH = all(importlib.util.find_spec(name) for name in ("launch", "launch_ros", "rclpy"))

needs_launch = pytest.mark.skipif(
    not HAS_LAUNCH, reason="launch_ros does not import: it comes with a ROS distribution, not from a registry"
)

NATIVE = ("nav2_msgs", "nav_msgs", "control_msgs", "trajectory_msgs")
HAS_NATIVE = all(importlib.util.find_spec(name) for name in NATIVE)

RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
arguments = dict(word.split(":=", 1) for word in sys.argv[2:])
source = PythonLaunchDescriptionSource(sys.argv[1])
service = LaunchService(noninteractive=True)
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments.items())])
)
sys.exit(service.run())
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), str(path), "exec")


@pytest.fixture
def launch(domain: Any, tmp_path: Path) -> Iterator[Start]:
    """Starts a launch file in the domain of this test."""
    from adf_ea_ros.testing.process import NodeProcess

    started: list[NodeProcess] = []

    def start(name: str, *arguments: str) -> NodeProcess:
        environment = {
            **domain.environment(),
            "ROS_LOG_DIR": str(tmp_path / "log"),
            "ROS_HOME": str(tmp_path),
        }
        command = [sys.executable, "-c", RUN, str(ROOT / "launch" / name), *arguments]
        process = NodeProcess(command, environment)
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            process.kill()


@needs_launch
@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize(("composed", "robot"), [("true", ""), ("false", "/robot_1")])
def test_the_simulated_rig_comes_up_and_heats(
    composed: str, robot: str, launch: Start, domain: Any, tmp_path: Path
) -> None:
    from adf_ea_ros.action import Execute

    from adf_ea_ros.nodes.client import Planner, step

    ledger = tmp_path / "ledger.db"
    process = launch("sim.launch.py", f"ledger:={ledger}", f"composed:={composed}", f"namespace:={robot}")
    process.wait_for_line("active: generation 1", 60.0)
    with Planner(
        domain_id=domain.domain, authority=f"{robot}/authority", namespace=robot, timeout=20.0
    ) as planner:
        planner.start("heat_measure_record")
        assert planner.propose([step("heat", "heat_to", sample="s1", target=80)]).authorized
        assert planner.run("heat", "heater_a", timeout=60.0).outcome == Execute.Result.VERIFIED
    assert ledger.exists()
    process.interrupt(30.0)
    assert "Traceback" not in process.output
    assert process.output.count("process has finished cleanly") == (2 if composed == "true" else 3)


@needs_launch
@pytest.mark.ros
@pytest.mark.slow
def test_devices_are_made_from_named_contracts_and_gated(launch: Start, domain: Any, tmp_path: Path) -> None:
    from adf_ea_ros.action import Heat
    from rclpy.action import ActionClient

    from adf_ea_ros.testing.watcher import Watcher

    heat_to = (ROOT / "config" / "contracts" / "heat_to.yaml").read_text(encoding="utf-8")
    # The rig's clock gives one sample each second; these devices have no such clock.
    changed = heat_to.replace("spacing: {least: 1 s, greatest: 1 s}", "spacing: {least: 50 ms}")
    (tmp_path / "heat_to.yaml").write_text(changed, encoding="utf-8")
    contracts = [tmp_path / "heat_to.yaml", ROOT / "config" / "contracts" / "measure.yaml"]
    contracts += [
        ROOT / "config" / "providers" / f"{name}.yaml" for name in ("heater_a", "heater_b", "probe")
    ]
    process = launch(
        "bringup.launch.py",
        "devices:=sim",
        f"contracts:={':'.join(map(str, contracts))}",
        f"gates:={ROOT / 'config' / 'gates'}",
        f"ledger:={tmp_path / 'ledger.db'}",
    )
    process.wait_for_line("active: generation 1", 60.0)
    with Watcher(domain) as watcher:
        client = ActionClient(watcher.node, Heat, "/bench/heat")
        watcher.until(client.server_is_ready, 30.0)
        handle = watcher.result(client.send_goal_async(Heat.Goal(sample="s1", target=80.0)), 30.0)
        assert handle.accepted
        answer = watcher.result(handle.get_result_async(), 60.0)
        assert (answer.status, answer.result.success) == (4, True)
    process.interrupt(30.0)
    assert "Traceback" not in process.output


@needs_launch
@pytest.mark.ros
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("gated.launch.py", ("gates:=/no/such",), "no such file or folder: /no/such"),
        ("bringup.launch.py", (), "name the files and folders"),
        ("bringup.launch.py", ("contracts:=/no/such",), "no such file or folder: /no/such"),
        ("bringup.launch.py", ("devices:=maybe",), "maybe"),
        ("sim.launch.py", ("providers:=heater_z",), "no contract of heater_z; there are heater_a"),
        ("sim.launch.py", ("use_sim_time:=perhaps",), "use_sim_time is 'perhaps'"),
        ("sim.launch.py", ("params_file:=/no/such.yaml",), "params_file"),
    ],
)
def test_a_wrong_argument_stops_it_before_any_node(
    name: str, arguments: tuple[str, ...], said: str, launch: Start
) -> None:
    process = launch(name, *arguments)
    assert process.wait(60.0) != 0
    assert said in process.output
    assert "process started" not in process.output


@needs_launch
@pytest.mark.ros
def test_a_malformed_contract_is_listed_before_any_node(launch: Start, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config" / "contracts", tmp_path / "contracts")
    broken = tmp_path / "contracts" / "heat_to.yaml"
    broken.write_text(broken.read_text().replace("count: 3", "count: zero"))
    process = launch("bringup.launch.py", f"contracts:={tmp_path / 'contracts'}")
    assert process.wait(60.0) != 0
    assert f"{broken}:" in process.output
    assert "process started" not in process.output


@needs_launch
@pytest.mark.ros
@pytest.mark.skipif(HAS_NATIVE, reason="the interfaces of the example are installed")
def test_interfaces_that_are_not_installed_are_named_before_any_node(launch: Start) -> None:
    process = launch("gated.launch.py")
    assert process.wait(60.0) != 0
    assert "nav2_msgs/action/NavigateToPose" in process.output
    assert "process started" not in process.output


@needs_launch
@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.skipif(not HAS_NATIVE, reason=f"one of {', '.join(NATIVE)} does not import")
def test_clients_of_a_base_and_an_arm_are_gated(launch: Start, domain: Any, tmp_path: Path) -> None:
    from control_msgs.action import FollowJointTrajectory
    from nav2_msgs.action import NavigateToPose
    from rcl_interfaces.srv import SetParameters
    from rclpy.action import ActionClient
    from rclpy.parameter import Parameter
    from trajectory_msgs.msg import JointTrajectoryPoint

    from adf_ea_ros.testing.watcher import Watcher

    process = launch("gated.launch.py", f"ledger:={tmp_path / 'ledger.db'}")
    process.wait_for_line("active: generation 1", 60.0)
    with Watcher(domain) as watcher:
        base = ActionClient(watcher.node, NavigateToPose, "/navigate_to_pose")
        arm = ActionClient(watcher.node, FollowJointTrajectory, "/arm_controller/follow_joint_trajectory")

        def send(client: Any, goal: Any) -> Any:
            """The status and the result; nothing where the goal was rejected."""
            watcher.until(client.server_is_ready, 30.0)
            handle = watcher.result(client.send_goal_async(goal), 30.0)
            return watcher.result(handle.get_result_async(), 60.0) if handle.accepted else None

        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = "map"
        goal.pose.pose.position.x, goal.pose.pose.position.y = 1.0, 2.0
        assert send(base, goal).status == 4
        assert send(base, goal).status == 4  # it stands there already, and is not sent again
        assert process.output.count("[bt_navigator]: navigate_to:") == 1
        goal.behavior_tree = "other.xml"
        assert send(base, goal) is None
        points = [JointTrajectoryPoint(positions=[0.4 * k, 1.2 * k]) for k in (0.5, 1.0)]
        trajectory = FollowJointTrajectory.Goal()
        trajectory.trajectory.joint_names = ["shoulder_joint", "elbow_joint"]
        trajectory.trajectory.points = points
        assert send(arm, trajectory).status == 4

        faults = watcher.node.create_client(SetParameters, "/arm_controller/set_parameters")
        watcher.until(faults.service_is_ready)
        change = [Parameter("fault", value="no_effect").to_parameter_msg()]
        assert (
            watcher.result(faults.call_async(SetParameters.Request(parameters=change))).results[0].successful
        )
        trajectory.trajectory.points = [JointTrajectoryPoint(positions=[-0.4, 0.1])]
        answer = send(arm, trajectory)
        assert (answer.status, answer.result.error_code) == (6, -5)
        assert "joint/" in answer.result.error_string
    process.interrupt(30.0)
    assert "Traceback" not in process.output


@needs_launch
def test_every_argument_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    for path in FILES:
        description = get_launch_description_from_python_launch_file(str(path))
        for argument in description.get_launch_arguments():
            assert argument.description
            assert argument.description != "no description given"
