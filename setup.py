"""`pip install .`: the layers that need no ROS, and the command line. The ROS build is CMakeLists.txt.

Everything static is in pyproject.toml. What is computed is here: the console scripts, which come from the
list of executables that CMakeLists.txt reads too.
"""

from pathlib import Path

from setuptools import setup


def console_scripts() -> list[str]:
    """The lines of the [no-ros] section of executables.txt: they are entry points as they stand."""
    section = ""
    scripts = []
    for line in Path(__file__).with_name("executables.txt").read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif text and not text.startswith("#") and section == "[no-ros]":
            scripts.append(text)
    return scripts


setup(entry_points={"console_scripts": console_scripts()})
