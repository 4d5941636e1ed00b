"""A heater: takes a sample to a set point and holds it there, and counts what it really did.

What a heater believes and what happens to the sample are two things here: under a fault they differ.
"""

from __future__ import annotations

import math
from collections import Counter
from enum import Enum

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.sim.faults import SECOND, HeaterFault, HeaterFaultKind
from adf_ea_ros.sim.world import Refused, World

LOWEST, HIGHEST = 20.0, 100.0
"""Targets that the heater accepts, in degC (Table 2)."""


class Phase(Enum):
    """Where the goal of one heating stands, as the heater tells it."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    ABORTED = "aborted"
    CANCELED = "canceled"


class Heating:
    """One accepted goal."""

    def __init__(self, sample: str, target: float, fault: HeaterFaultKind) -> None:
        self.sample = sample
        self.target = target
        self.fault = fault
        self.phase = Phase.WAITING
        self.message = ""
        self.origin = 0.0  # degC at the start
        self.believed = 0.0  # degC, as the heater's own control loop has it
        self.started: Ns = 0
        self.ends: Ns = 0

    @property
    def done(self) -> bool:
        """Whether the goal has ended, in whatever way."""
        return self.phase not in (Phase.WAITING, Phase.RUNNING)


class Heater:
    """Device model of a heater; ``request`` and ``begin`` for each goal, ``step`` as time passes."""

    def __init__(
        self,
        name: str,
        world: World,
        *,
        ramp: float = 20.0,
        dwell: Ns = SECOND,
        hold: Ns = 3600 * SECOND,
        fault: HeaterFault | None = None,
    ) -> None:
        """Args: ramp in degC per second; dwell at the set point before success; hold: how long it is kept.

        Raises:
            ValueError: a ramp that leads nowhere, or negative times.
        """
        if not (math.isfinite(ramp) and ramp > 0) or dwell < 0 or hold < 0:
            raise ValueError(f"{name}: ramp must be positive, dwell and hold not negative")
        self.name = name
        self.fault = fault or HeaterFault()
        self.requests = 0  # goals asked for, refused ones too
        self.accepted = 0  # goals begun
        self.heatings: Counter[str] = Counter()  # power applied, per sample: the physical executions
        self._world = world
        self._ramp, self._dwell, self._hold = ramp, dwell, hold
        self._current: Heating | None = None
        self._later: list[tuple[Ns, Heating]] = []  # effects that come after their answer
        self._release: dict[str, Ns] = {}  # sample: end of the hold
        world.attach(self)

    @property
    def offered(self) -> bool:
        """Whether the device is there at all."""
        return self.fault.kind is not HeaterFaultKind.UNAVAILABLE

    @property
    def busy(self) -> bool:
        """Whether a goal is running. Holding a set point is not being busy."""
        return self._current is not None and not self._current.done

    def request(self, sample: str, target: float) -> Heating:
        """A heating that may begin.

        Raises:
            Refused: unknown sample, target out of range, busy, or the fault says so.
        """
        self.requests += 1
        kind = self.fault.kind if self.fault.affects(self.requests) else HeaterFaultKind.NONE
        if kind in (HeaterFaultKind.REJECT, HeaterFaultKind.UNAVAILABLE):
            raise Refused("interlock open")
        if sample not in self._world.samples:
            raise Refused(f"no sample {sample!r}: there are {', '.join(self._world.samples)}")
        if not LOWEST <= target <= HIGHEST:  # refuses NaN too
            raise Refused(f"target {target} degC is not within {LOWEST:g} and {HIGHEST:g}")
        if self.busy:
            raise Refused("another heating is running")
        return Heating(sample, target, kind)

    def begin(self, heating: Heating) -> None:
        """Start: from here on the goal runs, and unless the fault prevents it the sample heats."""
        now = self._world.now
        self.accepted += 1
        self._current = heating
        heating.phase = Phase.RUNNING
        heating.origin = heating.believed = self._world.samples[heating.sample].temperature
        heating.started = now
        heating.ends = now + self._ramp_time(heating) + self._dwell
        if heating.fault is HeaterFaultKind.DELAYED_EFFECT:
            self._later.append((now + self.fault.delay, heating))
        elif heating.fault not in (HeaterFaultKind.NO_EFFECT, HeaterFaultKind.ABORT_WITHOUT_EFFECT):
            self._apply(heating)

    def cancel(self, heating: Heating) -> bool:
        """Stop a running goal. An effect already queued in the device still comes; a stuck goal stays."""
        if heating.phase is not Phase.RUNNING or heating.fault is HeaterFaultKind.STUCK:
            return False
        self._world.samples[heating.sample].release(self.name)
        self._end(heating, Phase.CANCELED, "stopped on request")
        return True

    def step(self, now: Ns) -> None:
        """Apply queued effects, end goals and holds that are due."""
        due = [heating for time, heating in self._later if time <= now]
        self._later = [(time, heating) for time, heating in self._later if time > now]
        for heating in due:
            self._apply(heating)
        for sample in [name for name, time in self._release.items() if time <= now]:
            del self._release[sample]
            self._world.samples[sample].release(self.name)
        if self._current is not None and self._current.phase is Phase.RUNNING:
            self._progress(self._current, now)

    def _progress(self, heating: Heating, now: Ns) -> None:
        way = heating.target - heating.origin
        reach = min(abs(way), self._ramp * (now - heating.started) / SECOND)
        heating.believed = heating.origin + math.copysign(reach, way)
        if now < heating.ends or heating.fault is HeaterFaultKind.STUCK:
            return
        if heating.fault in (HeaterFaultKind.ABORT_WITH_EFFECT, HeaterFaultKind.ABORT_WITHOUT_EFFECT):
            self._end(heating, Phase.ABORTED, "over-current protection tripped")
        else:
            self._end(heating, Phase.SUCCEEDED, "set point reached")

    def _apply(self, heating: Heating) -> None:
        """The physical execution."""
        self.heatings[heating.sample] += 1
        sample = self._world.samples[heating.sample]
        self._release[heating.sample] = self._world.now + self._ramp_time(heating) + self._hold
        sample.drive(self.name, heating.target, self._ramp)
        self._world.effect()

    def _ramp_time(self, heating: Heating) -> Ns:
        way = heating.target - self._world.samples[heating.sample].temperature
        return math.ceil(abs(way) / self._ramp * SECOND)

    @staticmethod
    def _end(heating: Heating, phase: Phase, message: str) -> None:
        heating.phase, heating.message = phase, message
