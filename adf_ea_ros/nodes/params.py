"""Parameters of the nodes: declared with a description and a range, and read back checked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.nodes.support import StartFault, declare


def number(node: Node, name: str, default: float, low: float, high: float, description: str) -> float:
    """Declare a floating-point parameter within ``low`` and ``high``; fixed after the start.

    Raises:
        StartFault: the value given at the start is no number, or outside.
    """
    value = declare(node, name, default, description, fixed=False)
    return _within(node, name, value, low, high, ParameterDescriptor(
        description=f"{description} [{low:g} to {high:g}]", read_only=True, dynamic_typing=True,
        floating_point_range=[FloatingPointRange(from_value=low, to_value=high)],
    ))  # fmt: skip


def integer(node: Node, name: str, default: int, low: int, high: int, description: str) -> int:
    """Declare a whole-number parameter within ``low`` and ``high``; fixed after the start.

    Raises:
        StartFault: as ``number``.
    """
    value = declare(node, name, default, description, fixed=False)
    return int(_within(node, name, value, low, high, ParameterDescriptor(
        description=f"{description} [{low} to {high}]", read_only=True, dynamic_typing=True,
        integer_range=[IntegerRange(from_value=low, to_value=high)],
    )))  # fmt: skip


def _within(node: Node, name: str, value: Any, low: float, high: float, descriptor: Any) -> Any:
    if not low <= value <= high:
        raise StartFault(
            f"{node.get_fully_qualified_name()}: parameter {name} is {value}: allowed is {low:g} to {high:g}"
        )
    # A whole number in place of a float is checked already, only without the range for tools to show.
    with suppress(InvalidParameterTypeException, InvalidParameterValueException):
        node.set_descriptor(name, descriptor)
    return value


def texts(node: Node, name: str, description: str) -> list[str]:
    """Declare a list of texts, empty by default; fixed after the start. Empty entries fall out."""
    # rclpy cannot tell the type of an empty list.
    return [text for text in declare(node, name, [""], description) if text]


def catalog(node: Node, paths: list[str]) -> Catalog:
    """The contracts of these files and folders.

    Raises:
        StartFault: with every fault of every file as ``file:line: path: message``, one a line.
    """
    if not paths:
        raise StartFault(
            f"{node.get_fully_qualified_name()}: parameter contracts names no file or folder with contracts"
        )
    try:
        return Catalog.load([Path(path).expanduser() for path in paths])
    except ContractError as error:
        raise StartFault(str(error)) from error
