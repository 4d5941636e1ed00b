"""Interface classes by name: ``sensor_msgs/msg/Temperature`` to the class, checked at the start."""

from __future__ import annotations

import importlib
from typing import Any

from adf_ea_ros.nodes.support import StartFault


def interface(name: str) -> Any:
    """The class of an interface.

    Raises:
        StartFault: the package or the interface is not installed, or has no Python support.
    """
    package, kind, short = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), short)
    except (ImportError, AttributeError) as error:
        raise StartFault(
            f"interface {name} cannot be loaded ({error}): install the package {package}"
        ) from error
