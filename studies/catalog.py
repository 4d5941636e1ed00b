"""The studies by name, in the order of the page."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from studies.report.model import Result, Tick

MODULES = {
    "comparison": "studies.comparison.study",
    "compositions": "studies.compositions.study",
    "lifecycle": "studies.lifecycle.study",
    "composed": "studies.composed.study",
    "contrasts": "studies.contrasts.study",
    "heating": "studies.heating.study",
    "controls": "studies.controls.study",
    "scaling": "studies.scaling.study",
    "ablations": "studies.ablations.study",
    "recovery": "studies.recovery.study",
    "approvals": "studies.approvals.study",
}
"""Name, and the module with its ``study``."""

ROS_OF_ITS_OWN = {"heating": "studies.heating.ros"}
"""Studies whose form through real nodes is a module of its own; those of the others are in ``studies.ros``.
"""

IN_PROCESS_ONLY = {"recovery", "approvals"}
"""Studies of a pure library, where there is nothing that nodes would do, and of variants of the core, which
no node has."""

Study = Callable[[Tick], Result]


def find(name: str, *, ros: bool = False) -> Study:
    """A study by name, in one process or through real nodes. KeyError where there is none."""
    ros = ros and name not in IN_PROCESS_ONLY
    if ros and name not in ROS_OF_ITS_OWN:
        form: Study = importlib.import_module("studies.ros.forms").form(name)
        return form
    found: Study = importlib.import_module((ROS_OF_ITS_OWN if ros else MODULES)[name]).study
    return found
