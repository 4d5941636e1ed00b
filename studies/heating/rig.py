"""The product's simulated rig in one process, stepped by its clients, with a log of what the devices did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.sim.faults import SECOND, HeaterFault, ProbeFault, RecorderFault, RecorderFaultKind
from adf_ea_ros.sim.heater import Heater, Phase
from adf_ea_ros.sim.probe import Measuring, Probe
from adf_ea_ros.sim.recorder import Archive, Recorder
from adf_ea_ros.sim.world import Refused, World
from studies.device.log import Event
from studies.heating.cases import Case

SAMPLE, TARGET = "s1", 80.0
STEP: Ns = SECOND // 2
TIMEOUT = 60  # seconds for an answer

PHASES = {
    Phase.SUCCEEDED: Interaction.SUCCEEDED,
    Phase.ABORTED: Interaction.ABORTED,
    Phase.CANCELED: Interaction.CANCELED,
}


class Rig:
    """Heaters, probe, recorders and archive on one world."""

    def __init__(self, case: Case) -> None:
        """A rig with the faults of a case."""
        self.case = case
        self.world = World([SAMPLE])
        faulty = HeaterFault(kind=case.heater)
        self.heaters = {
            name: Heater(name, self.world, fault=faulty if name == "heater_a" else None)
            for name in ("heater_a", "heater_b")
        }
        self.probe = Probe("probe", self.world, fault=ProbeFault(kind=case.probe, samples=case.silent))
        self.archive = Archive()
        self.recorders = {
            name: Recorder(name, self.world, self.archive) for name in ("recorder_a", "recorder_b")
        }
        self.events: list[Event] = []
        self.listener: Callable[[Observation], None] = lambda _: None
        self._count = 0

    @property
    def now(self) -> Ns:
        """Logical time."""
        return self.world.now

    def note(self, kind: str, **what: Any) -> None:
        """Log an event."""
        self.events.append({"t": self.now, "kind": kind, **what})

    def offered(self, provider: str) -> bool:
        """Whether a device is there."""
        recorder = self.recorders.get(provider)
        return recorder is None or recorder.offered

    def wait(self, seconds: float) -> None:
        """Let time pass; probe and archive publish at whole seconds."""
        for _ in range(round(seconds * SECOND) // STEP):
            self.world.advance(STEP)
            for reading in self.probe.drain():
                self._publish("probe/temperature", "temperature", reading.value, reading.stamp)
            if self.now % SECOND == 0:
                self._publish("archive/records", "record/exists", SAMPLE in self.archive.entries, self.now)

    def _publish(self, route: str, path: str, value: Any, stamp: Ns, producer: str = "") -> None:
        self._count += 1
        sample = Observation(
            id=f"r{self._count}", route=route, source=route.partition("/")[0], subject=SAMPLE, path=path,
            value=value, stamp=stamp, received=self.now, fields=(("sample", SAMPLE),), producer=producer,
        )  # fmt: skip
        self.note("sample", route=route, path=path, value=value, stamp=stamp)
        self.listener(sample)

    # -- devices: each call returns the answer, as its clients see it -----------------------------------

    def act(self, step: str, provider: str) -> Interaction:
        """Carry out a step on a device, to its answer."""
        self.note("call", step=step, provider=provider)
        if step == "heat" and self.case.recorder_goes:
            self.recorders["recorder_a"].fault = RecorderFault(kind=RecorderFaultKind.DOWN)
        answer = {"heat": self._heat, "measure": self._measure, "record": self._record}[step](provider)
        self.note("response", step=step, provider=provider, response=answer.value)
        return answer

    def _heat(self, provider: str) -> Interaction:
        heater = self.heaters[provider]
        try:
            heating = heater.request(SAMPLE, TARGET)
        except Refused:
            return Interaction.REJECTED
        before = heater.heatings[SAMPLE]
        heater.begin(heating)
        if heater.heatings[SAMPLE] > before:
            self.note("effect", what="heating", by=provider)
        self._until(lambda: heating.done)
        return PHASES.get(heating.phase, Interaction.LOST)

    def _measure(self, _: str) -> Interaction:
        measuring: Measuring = self.probe.measure(SAMPLE)
        self._until(lambda: measuring.ended is not None)
        if not measuring.complete:
            return Interaction.ABORTED
        self.note("effect", what="measurement", by="probe")
        self._publish("probe/measurements", "measurement/complete", True, self.now, measuring.id)
        return Interaction.SUCCEEDED

    def _record(self, provider: str) -> Interaction:
        recorder = self.recorders[provider]
        if not recorder.offered:
            return Interaction.REJECTED
        writing = recorder.begin(SAMPLE)
        self._until(lambda: writing.done)
        if writing.success:
            self.note("effect", what="record", by=provider)
        return Interaction.SUCCEEDED if writing.answered else Interaction.LOST

    def _until(self, condition: Callable[[], bool]) -> None:
        for _ in range(2 * TIMEOUT):
            if condition():
                return
            self.wait(STEP / SECOND)

    # -- truth -----------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """The goal, by the devices' own state: hot, measured after it was hot, and recorded."""
        hot = abs(self.world.samples[SAMPLE].temperature - TARGET) <= 1.0
        return hot and self.probe.measurements > 0 and SAMPLE in self.archive.entries
