"""``adf-ea watch`` beside a real authority process."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="watching needs ROS")
pytest.importorskip("adf_ea_ros.msg", reason="watching needs the built interfaces")

from adf_ea_ros.nodes.client import Planner, step
from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import wait_until

pytestmark = [pytest.mark.ros, pytest.mark.slow]

CONFIG = Path(__file__).parents[2] / "config"
WATCH = "from adf_ea_ros.cli.main import main; main()"


def contracts() -> list[str]:
    return [str(p) for name in ("contracts", "providers") for p in sorted((CONFIG / name).glob("*.yaml"))]


@pytest.fixture
def authority(node_process: Callable[..., NodeProcess], tmp_path: Path) -> NodeProcess:
    """An authority on real time: no rig is needed to see decisions."""
    return node_process(
        "adf_ea_ros.nodes.authority_main",
        "--ros-args",
        "-p",
        f"contracts:={json.dumps(contracts())}",
        "-p",
        f"tasks:={json.dumps([str(CONFIG / 'tasks')])}",
        "-p",
        f"ledger:={json.dumps(str(tmp_path / 'ledger.db'))}",
    )


def test_plain_shows_decisions_as_they_fall(
    authority: NodeProcess, node_process: Callable[..., NodeProcess], domain: DomainLease
) -> None:
    watch = NodeProcess([sys.executable, "-c", WATCH, "watch", "--plain"], domain.environment())
    try:
        with Planner(domain_id=domain.domain, timeout=20.0) as planner:
            authority.wait_for_line("active")
            episode = planner.start("heat_measure_record")
            watch.wait_for_line(rf"STARTED +Begin.*\n +episode {episode}")
            planner.propose([step("heat", "heat_to", sample="s1", target=800)])
            watch.wait_for_line(r"REFUSED +Revise .*R1\.grounding")
            for _ in range(3):
                planner.propose([step("heat", "heat_to", sample="s1", target=800)])
            planner.propose([step("heat", "heat_to", sample="s1", target=80)])
            watch.wait_for_line(r"the same 3 times more, until")
        watch.wait_for_line(r"WARN +readback probe/temperature: no usable sample yet")
        authority.interrupt()
        watch.wait_for_line(f"/authority has left ROS domain {domain.domain}")
        assert "\x1b" not in watch.output
        assert watch.interrupt() == 0, watch.output
        assert "Traceback" not in watch.output
    finally:
        watch.kill()


def test_without_an_authority_it_says_so_and_ends_when_told(domain: DomainLease) -> None:
    watch = NodeProcess([sys.executable, "-c", WATCH, "watch", "--plain", "--for", "6"], domain.environment())
    try:
        watch.wait_for_line(f"no authority at /authority in ROS domain {domain.domain}")
        assert watch.wait() == 0
    finally:
        watch.kill()


def test_the_live_view_in_a_terminal(authority: NodeProcess, domain: DomainLease) -> None:
    mine, its = pty.openpty()
    environment = {**domain.environment(), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [sys.executable, "-c", WATCH, "watch"], env=environment, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    seen = bytearray()

    def read() -> bytes:
        while select.select([mine], [], [], 0.02)[0]:
            try:
                seen.extend(os.read(mine, 65536))
            except OSError:
                break
        return bytes(seen)

    try:
        with Planner(domain_id=domain.domain, timeout=20.0) as planner:
            authority.wait_for_line("active")
            episode = planner.start("heat_measure_record")
            planner.propose([step("heat", "heat_to", sample="s1", target=80)])
            wait_until(lambda: b"ADMITTED" in read() and episode.encode() in seen and b"not begun" in seen)
        process.send_signal(signal.SIGINT)
        end = time.monotonic() + 10.0
        while process.poll() is None and time.monotonic() < end:
            read()  # a full pipe would hold it up
        read()
        assert process.poll() == 0
        assert b"\x1b[?1049l" in seen  # the terminal is given back as it was
        assert b"Traceback" not in seen
    finally:
        process.kill()
        process.wait()
        os.close(mine)
