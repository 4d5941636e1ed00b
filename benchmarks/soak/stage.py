"""Rig, authority, capability node and planner as processes to be held, freed, killed and started again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_action_status_default
from typing_extensions import Self

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.runtime.service import goal_uuid
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import TimedOut
from adf_ea_ros.testing.watcher import Watcher
from benchmarks.soak.judge import PHYSICAL, View
from benchmarks.soak.planner import HEATERS

CONFIG = Path(__file__).parents[2] / "config"
AUTHORITY, CAPABILITY, DEVICE, PLANNER = VICTIMS = ("authority", "capability", "device", "planner")
_TASK = """\
spec: adf_ea_ros/1
kind: task
id: heat_{sample}
version: 1.0.0
title: Heat sample {sample}
obligations:
  heated:
    kind: state
    effect: {{capability: heat_to, effect: heated, arguments: {{sample: {sample}, target: 80}}}}
budgets:
  physical: {physical}
  observation: 8
capabilities: [heat_to]
"""


def _ros_args(**parameters: object) -> list[str]:
    words = (f"{name.replace('__', '.')}:={value}" for name, value in parameters.items())
    return ["--ros-args", *(part for word in words for part in ("-p", word))]


def _listed(paths: list[Path]) -> str:
    return "[" + ",".join(map(str, paths)) + "]"


class Stage:
    """One rig with many samples; each run takes a fresh one. A context manager."""

    def __init__(self, folder: Path, samples: int, factor: float, *, bounded: bool = True) -> None:
        """``factor``: logical seconds per second. ``bounded``: the heaters promise a commit bound."""
        folder.mkdir(parents=True)
        self.factor = factor
        self.folder, self.ledger, report = folder, folder / "ledger.db", folder / "rig.json"
        self.samples = [f"s{number}" for number in range(1, samples + 1)]
        self.view = View(self.ledger, report)
        self._pipe = folder / "commands"
        os.mkfifo(self._pipe)
        self._commands = os.open(self._pipe, os.O_RDWR)
        tasks = folder / "tasks"
        tasks.mkdir()
        for sample in self.samples:
            (tasks / f"{sample}.yaml").write_text(_TASK.format(sample=sample, physical=PHYSICAL))
        providers = folder / "providers"
        providers.mkdir()
        for name in (*HEATERS, "probe"):
            lines = (CONFIG / "providers" / f"{name}.yaml").read_text().splitlines(keepends=True)
            promised = [line for line in lines if bounded or "commit_bound" not in line]
            (providers / f"{name}.yaml").write_text("".join(promised))
        contracts = _listed(
            [CONFIG / "contracts" / f"{name}.yaml" for name in ("heat_to", "measure")] + [providers]
        )
        self._modules: dict[str, tuple[str, list[str]]] = {
            DEVICE: (
                "adf_ea_ros.nodes.sim_rig",
                _ros_args(
                    samples="[" + ",".join(self.samples) + "]",
                    clock__factor=factor,
                    report=report,
                    keep="true",
                ),
            ),
            AUTHORITY: (
                "adf_ea_ros.nodes.authority_main",
                _ros_args(
                    contracts=contracts, tasks=_listed([tasks]), ledger=self.ledger, use_sim_time="true"
                ),
            ),
            CAPABILITY: (
                "adf_ea_ros.nodes.capability_main",
                _ros_args(contracts=contracts, providers="[heater_a,heater_b]", use_sim_time="true"),
            ),
            PLANNER: ("benchmarks.soak.planner", [str(self._pipe)]),
        }
        self.processes: dict[str, NodeProcess] = {}
        self._past: list[NodeProcess] = []

    def __enter__(self) -> Self:
        self._domain = DomainLease()
        self.watcher = Watcher(self._domain, "soak")
        self._status: dict[bytes, int] = {}
        self.asked: set[bytes] = set()
        for heater in HEATERS:
            self._watch(f"/rig/{heater}/heat/_action/status", self._on_status)
            self._watch(f"/execute/{heater}/_action/status", self._on_asked)
        for name in (DEVICE, AUTHORITY, CAPABILITY, PLANNER):
            self.start(name)
        self.processes[AUTHORITY].wait_for_line("active: generation", 90)
        self.processes[PLANNER].wait_for_line("ready", 90)
        return self

    def _watch(self, topic: str, take: Any) -> None:
        self.watcher.node.create_subscription(GoalStatusArray, topic, take, qos_profile_action_status_default)

    def _on_status(self, message: Any) -> None:
        self._status.update({bytes(s.goal_info.goal_id.uuid): s.status for s in message.status_list})

    def _on_asked(self, message: Any) -> None:
        self.asked.update(bytes(s.goal_info.goal_id.uuid) for s in message.status_list)

    def ended(self, attempt: str) -> bool:
        """Whether the heater says on its status topic that it has ended the goal of an attempt."""
        return self._status.get(goal_uuid(attempt).bytes) in (
            GoalStatus.STATUS_SUCCEEDED,
            GoalStatus.STATUS_ABORTED,
        )

    # -- processes -------------------------------------------------------------------------------------

    def start(self, name: str, *more: str) -> None:
        """Start a process, or start it again."""
        module, arguments = self._modules[name]
        if name in self.processes:
            self._past.append(self.processes[name])
        self.processes[name] = NodeProcess.of_module(module, [*arguments, *more], self._domain.environment())

    def kill(self, name: str) -> None:
        """SIGKILL."""
        self.processes[name].kill()

    def hold(self, name: str) -> None:
        """SIGSTOP: what is sent to it waits, and it does nothing."""
        os.kill(self.processes[name].pid, signal.SIGSTOP)

    def free(self, name: str) -> None:
        """SIGCONT; of no effect on one that is dead."""
        if self.processes[name].running:
            os.kill(self.processes[name].pid, signal.SIGCONT)

    def tell(self, line: str) -> None:
        """A line for the planner."""
        os.write(self._commands, f"{line}\n".encode())

    def said(self, *words: str) -> bool:
        """Whether the planner has printed a line that begins so, in any of its lives."""
        lives = [
            p for p in (*self._past, self.processes[PLANNER]) if p.command[2] == self._modules[PLANNER][0]
        ]
        start = " ".join(words)
        return any(line.startswith(start) for p in lives for line in p.output.splitlines())

    def word(self, *words: str) -> str:
        """The last word of such a line."""
        start = " ".join(words)
        lines = [line for p in (*self._past, self.processes[PLANNER]) for line in p.output.splitlines()]
        return next(line.split()[-1] for line in reversed(lines) if line.startswith(start))

    def delay_effects(self, heater: str, seconds: float) -> None:
        """Let the heater heat so much later than it accepts; 0: at once."""
        values = {"fault_delay": max(seconds, 0.1), "fault": "delayed_effect" if seconds else "none"}
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        )
        client = self.watcher.node.create_client(SetParameters, f"/rig/{heater}/set_parameters")
        end = time.monotonic() + 60
        try:
            # A device that was killed is still shown for a while, and does not answer.
            while True:
                self.watcher.until(client.service_is_ready, 30, f"parameters of {heater}")
                try:
                    self.watcher.result(client.call_async(request), 5, f"parameters of {heater}")
                except TimedOut:
                    if time.monotonic() > end:
                        raise
                else:
                    return
        finally:
            self.watcher.node.destroy_client(client)

    def close(self) -> None:
        """End everything."""
        for process in self.processes.values():
            if process.running:
                process.kill()
        self.watcher.close()
        self.view.close()
        os.close(self._commands)
        self._domain.close()
        for name, process in self.processes.items():
            (self.folder / f"{name}.log").write_text(
                "\n".join(p.output for p in (*self._past, process) if p.command[2] == process.command[2])
            )

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
