"""Bring up the authority and its capability nodes, on real devices or on the simulated rig.

    ros2 launch adf_ea_ros bringup.launch.py contracts:=/etc/robot/contracts tasks:=/etc/robot/tasks
    ros2 launch adf_ea_ros bringup.launch.py --show-args

Contracts, tasks and parameters are read before any node starts: a mistake stops the launch with every fault
as file:line.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from launch import LaunchContext, LaunchDescription

SHARE = Path(get_package_share_directory("adf_ea_ros"))
CONFIG = SHARE / "config"

ARGUMENTS = {
    "devices": ("real", "'real': the devices are there already; 'sim': start the simulated heating rig too"),
    "contracts": (
        "",
        "files and folders with contracts, separated by ':'; empty: those of the simulated rig",
    ),
    "tasks": ("", "files and folders with tasks, separated by ':'; empty: as for contracts"),
    "composed": ("true", "authority and capability node in one process, with direct calls between them"),
    "providers": ("", "providers to wrap, separated by ','; empty: every one that has a tool"),
    "ledger": ("", "SQLite file or postgresql:// URL; empty: below $ROS_HOME or ~/.ros"),
    "namespace": (
        "",
        "namespace of the authority and of the capability node; of the devices: their contracts",
    ),
    "use_sim_time": ("", "run on /clock: true or false; empty: true with devices:=sim, else false"),
    "params_file": (str(CONFIG / "params" / "default.yaml"), "further parameters of the nodes"),
    "log_level": ("info", "debug, info, warn, error or fatal"),
}


def generate_launch_description() -> LaunchDescription:
    """The arguments, then everything else, which depends on their values."""
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=default,
            description=text,
            choices=["real", "sim"] if name == "devices" else None,
        )
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Node]:
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    simulated = given["devices"] == "sim"
    sim_time = _truth("use_sim_time", given["use_sim_time"], default=simulated)
    contracts, tasks = _paths(given["contracts"]), _paths(given["tasks"])
    if not contracts:
        if not simulated:
            raise RuntimeError("contracts: name the files and folders with the contracts of your devices")
        # The files themselves: folders below hold contracts of other devices.
        folders = (CONFIG / "contracts", CONFIG / "providers")
        contracts = [str(path) for folder in folders for path in sorted(folder.glob("*.yaml"))]
        tasks = tasks or [str(CONFIG / "tasks")]
    known = _check(contracts, tasks)
    providers = [name.strip() for name in given["providers"].split(",") if name.strip()]
    unknown = [name for name in providers if name not in known]
    if unknown:
        raise RuntimeError(f"providers: no contract of {', '.join(unknown)}; there are {', '.join(known)}")
    parameters = _parameters(given["params_file"])
    common = {"use_sim_time": sim_time, "contracts": contracts}
    authority = f"{'/' + given['namespace'].strip('/') if given['namespace'].strip('/') else ''}/authority"
    options = {"namespace": given["namespace"], "log": given["log_level"]}
    decides = {**common, "tasks": tasks or [""], "ledger": given["ledger"]}
    acts = {**common, "providers": providers or [""], "authority": authority}
    if _truth("composed", given["composed"], default=True):
        nodes = [_node("composed", [parameters, {**decides, **acts}], **options)]
    else:
        nodes = [_node("authority", [parameters, decides], **options)]
        nodes.append(_node("capability", [parameters, acts], **options))
    if simulated:
        nodes.insert(
            0, _node("sim_rig", [parameters, {"samples": ["s1"]}], namespace="", log=given["log_level"])
        )
    return nodes


def _node(executable: str, parameters: list[object], *, namespace: str, log: str) -> Node:
    # Processes of several nodes name them themselves: a name given here would go to every one of them.
    name = {"name": executable} if executable in ("authority", "capability") else {}
    if namespace:
        name["namespace"] = namespace
    return Node(
        package="adf_ea_ros",
        executable=executable,
        parameters=parameters,
        ros_arguments=["--log-level", log],
        output="screen",
        **name,
    )


def _check(contracts: list[str], tasks: list[str]) -> list[str]:
    """Read the configuration as the nodes will; the ids of the providers that have a tool."""
    missing = [path for path in [*contracts, *tasks] if not Path(path).exists()]
    if missing:
        raise RuntimeError(f"no such file or folder: {', '.join(missing)}")
    try:
        catalog = Catalog.load([Path(path) for path in [*contracts, *tasks]])
    except ContractError as error:
        raise RuntimeError(f"the configuration has faults, and nothing was started:\n{error}") from None
    return [provider.id for provider in catalog.providers() if provider.tool is not None]


def _parameters(path: str) -> str:
    """The path of a parameter file that can be read."""
    try:
        yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise RuntimeError(f"params_file: {error}") from None
    return path


def _paths(text: str) -> list[str]:
    return [str(Path(part).expanduser().absolute()) for part in text.split(":") if part]


def _truth(name: str, text: str, *, default: bool) -> bool:
    known = {"": default, "true": True, "false": False}
    if text.lower() not in known:
        raise RuntimeError(f"{name} is {text!r}: allowed are true and false")
    return known[text.lower()]
