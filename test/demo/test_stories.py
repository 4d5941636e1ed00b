"""The demo's stories with real processes: each ends as Table 28 says, by the rig's own count."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="the demo needs ROS")
pytest.importorskip("adf_ea_ros.msg", reason="the demo needs the built interfaces")

from adf_ea_ros.authority.events import decode_event
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.nodes.demo.story import STORIES
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import wait_until

pytestmark = [pytest.mark.ros, pytest.mark.slow]

CONFIG = Path(__file__).parents[2] / "config"
Start = Callable[..., NodeProcess]
TIME = 110.0
"""Seconds for one demo; it takes a tenth of that on a machine with nothing else to do."""


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Start]:
    """Starts demos; they leave what they leave below the folder of this test."""
    started: list[NodeProcess] = []

    def start(*arguments: str) -> NodeProcess:
        environment = {**os.environ, "ROS_HOME": str(tmp_path / "ros"), "COLUMNS": "100"}
        process = NodeProcess([sys.executable, "-m", "adf_ea_ros.nodes.demo", *arguments], environment)
        started.append(process)
        return process

    try:
        yield start
    finally:
        for process in started:
            process.kill()


def relatives(folder: Path) -> list[int]:
    """Processes that a demo with this folder started and that still run: their environment names it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                gone = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if not gone and b"ROS_LOG_DIR=" + os.fsencode(folder) in environment:
                found.append(int(entry.name))
    return found


def logs(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted((folder / "logs").glob("*.log")))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.smoke if name == "heater_fails" else ())
        for name in STORIES
        if name != "none"
    ],
)
def test_a_story_ends_as_it_must(name: str, demo: Start, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    process = demo("--fault", name, "--keep", str(folder))
    assert process.wait(TIME) == 0, process.output
    assert "AS EXPECTED" in process.output
    assert "Traceback" not in process.output + logs(folder), logs(folder)
    assert "\x1b" not in process.output  # no colour where there is no terminal
    counted = json.loads((folder / "rig_assured.json").read_text())
    assert counted["heatings"] == 1
    assert relatives(folder) == []


def test_two_demos_at_once_do_not_hear_each_other(demo: Start, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    processes = [demo("--fault", "none", "--keep", str(folder)) for folder in folders]
    for process, folder in zip(processes, folders, strict=True):
        assert process.wait(TIME) == 0, process.output
        assert json.loads((folder / "rig_assured.json").read_text())["heatings"] == 1
    domains = {process.wait_for_line(r"ROS domain (\d+)").group(1) for process in processes}
    assert len(domains) == 2
    names = set()
    for folder in folders:
        ledger = open_ledger(str(folder / "ledger.db"), read_only=True)
        assert ledger.verify().ok
        episodes = [name for name in ledger.episodes() if name != "authority"]
        names.update(episodes)
        assert len(episodes) == 1  # nobody else's
        assert any(type(decode_event(r.payload)).__name__ == "Completed" for r in ledger.read(episodes[0]))
        ledger.close()
    assert len(names) == 2


@pytest.mark.parametrize(
    ("how", "when"), [("interrupt", "first dispatch of heat_to"), ("terminate", "processes in ROS domain")]
)
def test_stopping_it_leaves_nothing_behind(how: str, when: str, demo: Start, tmp_path: Path) -> None:
    process = demo("--fault", "evidence_lost")
    process.wait_for_line(when, TIME)
    base = tmp_path / "ros" / "adf_ea_ros" / "demo"
    (folder,) = base.iterdir()
    # Authority, rig, three capability nodes, planner: so that the check below can fail.
    wait_until(lambda: len(relatives(folder)) == 6, 20.0, what="six processes")
    assert getattr(process, how)(20.0) == 130, process.output
    assert "Traceback" not in process.output
    wait_until(lambda: not relatives(folder), 5.0, what="end of all processes")
    assert list(base.iterdir()) == []


def test_a_killed_demo_takes_its_processes_with_it(demo: Start, tmp_path: Path) -> None:
    process = demo("--fault", "none")
    process.wait_for_line("processes in ROS domain", TIME)
    (folder,) = (tmp_path / "ros" / "adf_ea_ros" / "demo").iterdir()
    wait_until(lambda: len(relatives(folder)) == 6, 20.0, what="six processes")
    process.kill()
    wait_until(lambda: not relatives(folder), 5.0, what="end of all processes")


def test_a_malformed_contract_is_listed_and_stops_it(demo: Start, tmp_path: Path) -> None:
    config = tmp_path / "config"
    shutil.copytree(CONFIG, config)
    broken = config / "contracts" / "heat_to.yaml"
    text = broken.read_text()
    broken.write_text(text.replace("count: 3", "count: zero").replace("maximum: 100", "maximum: 10"))
    process = demo("--fault", "none", "--config", str(config))
    assert process.wait(TIME) == 2, process.output
    lines = {
        number for number, line in enumerate(broken.read_text().splitlines(), 1) if "count: zero" in line
    }
    assert f"the authority process ended with exit code 2:\n  {broken}:{lines.pop()}:" in process.output
    assert "Traceback" not in process.output


def test_a_folder_in_use_is_refused(demo: Start, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "ledger.db").write_bytes(b"precious")
    process = demo("--keep", str(tmp_path / "kept"))
    assert process.wait(TIME) == 2
    assert "not empty" in process.output
    assert (tmp_path / "kept" / "ledger.db").read_bytes() == b"precious"
