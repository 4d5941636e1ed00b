"""The studies by name, in the order of the page."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from studies.report.model import Result

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
}
"""Name, and the module with its ``study``."""

ROS: dict[str, str] = {"heating": "studies.heating.ros"}
"""Studies that have a form through real nodes, and the module with its ``study``."""

Study = Callable[[Callable[[str], Any]], Result]


def find(name: str, *, ros: bool = False) -> Study:
    """A study by name. KeyError where there is none, or none of this form."""
    found: Study = importlib.import_module((ROS if ros else MODULES)[name]).study
    return found
