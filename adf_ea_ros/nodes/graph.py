"""What the ROS graph shows of tools and readbacks: which node offers them, of which type.

Two nodes may bear one name, and the graph cannot tell them apart: enforcing names is a matter of access
control.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rclpy.node import Node

from adf_ea_ros.contracts.compatibility import LiveInterface
from adf_ea_ros.contracts.interfaces import InterfaceError, type_hashes
from adf_ea_ros.contracts.model import Tool

_FEEDBACK = "_FeedbackMessage"
_UNKNOWN = "_NODE_NAME_UNKNOWN_"


def full_name(info: Any) -> str:
    """The full name of the node that owns an endpoint; empty while the graph does not know it yet."""
    if not info.node_name or info.node_name == _UNKNOWN:
        return ""
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"


def split_name(name: str) -> tuple[str, str]:
    """A full node name as node name and namespace."""
    namespace, _, short = name.rpartition("/")
    return short, namespace or "/"


def tools_in_graph(node: Node, tool: Tool, owner: str) -> list[LiveInterface]:
    """Everything in the graph that offers the tool's name; ``owner`` is the node that should."""
    if tool.kind == "action":
        return _actions(node, tool.name)
    if tool.kind == "topic":
        return [
            LiveInterface(full_name(info), info.topic_type, str(info.topic_type_hash))
            for info in node.get_subscriptions_info_by_topic(tool.name)
        ]
    return _services(node, tool.name, owner)


def _actions(node: Node, name: str) -> list[LiveInterface]:
    # The type of an action is in no single endpoint; its feedback's name and hash are.
    found = []
    for info in node.get_publishers_info_by_topic(f"{name}/_action/feedback"):
        type_name, feedback = info.topic_type.removesuffix(_FEEDBACK), str(info.topic_type_hash)
        action, known = _installed(type_name)
        found.append(
            LiveInterface(full_name(info), type_name, action if feedback == known else f"feedback {feedback}")
        )
    return found


@lru_cache(maxsize=256)
def _installed(action: str) -> tuple[str, str]:
    """The hashes of an installed action and of its feedback message; empty where it is not installed."""
    try:
        hashes = type_hashes(action)
    except InterfaceError:
        hashes = {}
    return hashes.get(action, ""), hashes.get(f"{action}{_FEEDBACK}", "")


def _services(node: Node, name: str, owner: str) -> list[LiveInterface]:
    short, namespace = split_name(owner)
    try:
        offered = dict(node.get_service_names_and_types_by_node(short, namespace))
    except RuntimeError:  # no node of that name
        offered = {}
    found = [LiveInterface(owner, kind) for kind in offered.get(name, [])]
    others = node.count_services(name) - len(found)
    return found + [LiveInterface("another node", "") for _ in range(others)]
