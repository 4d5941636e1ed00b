"""Bring up the authority and its capability nodes, on real devices or on simulated ones.

    ros2 launch adf_ea_ros bringup.launch.py contracts:=/etc/robot/contracts tasks:=/etc/robot/tasks
    ros2 launch adf_ea_ros bringup.launch.py contracts:=/etc/robot/contracts devices:=sim
    ros2 launch adf_ea_ros bringup.launch.py --show-args

Contracts, tasks, gates and parameters are read before any node starts: a mistake stops the launch with every
fault as file:line.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from adf_ea_ros.contracts.against_interfaces import check_interfaces
from adf_ea_ros.contracts.catalog import Catalog, check_catalog
from adf_ea_ros.contracts.loader import read_files
from adf_ea_ros.contracts.model import Lifecycle
from launch import LaunchContext, LaunchDescription

SHARE = Path(get_package_share_directory("adf_ea_ros"))
CONFIG = SHARE / "config"

ARGUMENTS = {
    "devices": (
        "real",
        "'real': the devices are there; 'sim': start simulated ones, of the contracts, else the heating rig",
    ),
    "contracts": (
        "",
        "files and folders with contracts, separated by ':'; empty: those of the simulated rig",
    ),
    "tasks": ("", "files and folders with tasks, separated by ':'; empty: as for contracts"),
    "gates": ("", "files and folders with drop-in gates and their standing tasks, separated by ':'"),
    "composed": ("true", "authority and capability node in one process, with direct calls between them"),
    "providers": ("", "providers to wrap, separated by ','; empty: every one that has a tool"),
    "ledger": ("", "SQLite file or postgresql:// URL; empty: below $ROS_HOME or ~/.ros"),
    "namespace": (
        "",
        "namespace of the authority and of the capability node; of the devices: their contracts",
    ),
    "use_sim_time": ("", "run on /clock: true or false; empty: true with the heating rig, which has one"),
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
    contracts, tasks, gates = (_paths(given[name]) for name in ("contracts", "tasks", "gates"))
    rig = simulated and not contracts
    sim_time = _truth("use_sim_time", given["use_sim_time"], default=rig)
    if not contracts:
        if not simulated:
            raise RuntimeError("contracts: name the files and folders with the contracts of your devices")
        # The files themselves: folders below hold contracts of other devices.
        folders = (CONFIG / "contracts", CONFIG / "providers")
        contracts = [str(path) for folder in folders for path in sorted(folder.glob("*.yaml"))]
        tasks = tasks or [str(CONFIG / "tasks")]
    known = _check(contracts, tasks, gates)
    providers = [name.strip() for name in given["providers"].split(",") if name.strip()]
    unknown = [name for name in providers if name not in known]
    if unknown:
        raise RuntimeError(f"providers: no contract of {', '.join(unknown)}; there are {', '.join(known)}")
    parameters = _parameters(given["params_file"])
    common = {"use_sim_time": sim_time, "contracts": contracts}
    authority = f"{'/' + given['namespace'].strip('/') if given['namespace'].strip('/') else ''}/authority"
    options = {"namespace": given["namespace"], "log": given["log_level"]}
    decides = {**common, "tasks": [*tasks, *gates] or [""], "ledger": given["ledger"]}
    acts = {**common, "providers": providers or [""], "gates": gates or [""], "authority": authority}
    if _truth("composed", given["composed"], default=True):
        nodes = [_node("composed", [parameters, {**decides, **acts}], **options)]
    else:
        nodes = [_node("authority", [parameters, decides], **options)]
        nodes.append(_node("capability", [parameters, acts], **options))
    if rig:
        devices = _node("sim_rig", [parameters, {"samples": ["s1"]}], namespace="", log=given["log_level"])
    elif simulated:
        devices = _node("sim_devices", [parameters, common], namespace="", log=given["log_level"])
    return [devices, *nodes] if simulated else nodes


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


def _check(contracts: list[str], tasks: list[str], gates: list[str]) -> list[str]:
    """Read the configuration as the nodes will; the ids of the providers that have a tool."""
    files = list(dict.fromkeys([*contracts, *tasks, *gates]))
    missing = [path for path in files if not Path(path).exists()]
    if missing:
        raise RuntimeError(f"no such file or folder: {', '.join(missing)}")
    loaded = read_files([Path(path) for path in files])
    # What the nodes would find a moment later: fields that are not there, interfaces that are not installed.
    faults = [str(fault) for fault in check_catalog(loaded) or check_interfaces(loaded.documents)[0]]
    bound = [d for d in loaded.documents if getattr(d.contract, "lifecycle", None) is Lifecycle.ACTIVE]
    faults = faults or check_interfaces(bound)[1]
    if faults:
        text = "\n".join(faults)
        raise RuntimeError(f"the configuration has faults, and nothing was started:\n{text}")
    providers = Catalog(loaded.contracts).providers()
    return [provider.id for provider in providers if provider.tool is not None]


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
