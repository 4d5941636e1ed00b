"""A peer of another distribution: its authority, our devices and our capability node."""

import os
from pathlib import Path

import pytest
from world import PLAN, VERIFIED

from adf_ea_ros.testing.process import NodeProcess

ROOT = Path(__file__).parents[2]
OTHERS = {"kilted": "jazzy", "jazzy": "kilted"}

pytestmark = [pytest.mark.ros, pytest.mark.smoke]


@pytest.fixture
def other():
    """The command that runs something in the other distribution's environment."""
    here = os.environ.get("ROS_DISTRO", "")
    name = OTHERS.get(here)
    if name is None:
        pytest.skip(f"there is no peer for ROS_DISTRO={here!r}")
    folder = ROOT / ".env" / name
    if not (folder / "run").exists():
        pytest.skip(f"no environment of the other distribution: make build ROS={name}")
    built = next(folder.glob("install/lib/python3.*/site-packages/adf_ea_ros"), None)
    wanted = {path.stem for kind in ("msg", "srv", "action") for path in (ROOT / kind).iterdir()}
    offered = "".join(path.read_text() for path in built.glob("*/__init__.py")) if built else ""
    if any(f"import {name}  #" not in offered for name in wanted):
        pytest.skip(f"the other distribution's interfaces are not up to date: make build ROS={name}")
    return folder / "run"


def test_an_authority_of_another_distribution_serves_our_nodes(world, domain, other):
    def there(module, *arguments):
        command = [str(other), "python", "-m", module, *arguments]
        return NodeProcess(command, domain.environment())

    here = world._start
    world.rig()
    world._start = there
    authority = world.authority()
    world._start = here
    try:
        world.capability()
        world.begin()
        for step, provider in zip(PLAN, ("heater_a", "probe", "recorder_a"), strict=True):
            assert world.run(step.id, provider).outcome == VERIFIED
        world.claim()
        assert world.heated == 1
    finally:
        authority.end()
