"""The physical side of the rig: samples with a temperature, on one logical clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.sim.faults import SECOND


class Refused(Exception):
    """The device does not take this request; the text says why."""


class Device(Protocol):
    """Something that acts as logical time passes."""

    def step(self, now: Ns) -> None:
        """Do what is due at ``now``."""


class Sample:
    """One sample: it follows the heater that drives it, and cools towards the room when none does."""

    def __init__(self, name: str, *, ambient: float, cooling: float) -> None:
        """Args: ambient in degC; cooling is the time constant of the cooling in seconds."""
        self.name = name
        self.temperature = ambient
        self.settled_at: Ns | None = None  # when the last heating reached its set point
        self._ambient = ambient
        self._cooling = cooling
        self._driver = ""
        self._target = ambient
        self._ramp = 0.0

    @property
    def driver(self) -> str:
        """The heater that drives or holds this sample; empty where none does."""
        return self._driver

    @property
    def target(self) -> float:
        """Where the driver takes it, in degC."""
        return self._target

    @property
    def ramp(self) -> float:
        """How fast the driver takes it there, in degC per second."""
        return self._ramp

    def drive(self, driver: str, target: float, ramp: float) -> None:
        """Move to ``target`` (degC) with ``ramp`` (degC per second), and stay there; the last driver wins."""
        self._driver, self._target, self._ramp = driver, target, ramp
        self.settled_at = None

    def release(self, driver: str) -> None:
        """Stop driving, if ``driver`` is the one that does."""
        if self._driver == driver:
            self._driver = ""

    def step(self, now: Ns, span: Ns) -> None:
        """Let ``span`` pass, ending at ``now``."""
        seconds = span / SECOND
        if not self._driver:
            excess = self.temperature - self._ambient
            self.temperature = self._ambient + excess * math.exp(-seconds / self._cooling)
            return
        missing = self._target - self.temperature
        reach = self._ramp * seconds
        if abs(missing) > reach:
            self.temperature += math.copysign(reach, missing)
            return
        self.temperature = self._target
        if self.settled_at is None:
            self.settled_at = now


class World:
    """All samples and devices, and the only clock they know."""

    def __init__(
        self,
        samples: Iterable[str],
        *,
        start: Ns = 100 * SECOND,
        ambient: float = 22.0,
        cooling: float = 600.0,
    ) -> None:
        """Args: ambient in degC, cooling as a time constant in seconds.

        Raises:
            ValueError: no samples, a name used twice, or values that no rig can have.
        """
        names = list(samples)
        if not names or len(set(names)) != len(names) or not all(names):
            raise ValueError(f"samples are {names}: at least one is needed, each with a name of its own")
        if not math.isfinite(ambient) or not (math.isfinite(cooling) and cooling > 0) or start < 0:
            raise ValueError("ambient must be a number, cooling a positive time, start not negative")
        self.samples = {name: Sample(name, ambient=ambient, cooling=cooling) for name in names}
        self._now = start
        self._devices: list[Device] = []
        self._witnesses: list[Callable[[], None]] = []

    @property
    def now(self) -> Ns:
        """The logical time."""
        return self._now

    def attach(self, device: Device) -> None:
        """Let ``device`` act on every step from now on, in the order of attachment."""
        self._devices.append(device)

    def on_effect(self, witness: Callable[[], None]) -> None:
        """Call ``witness`` at each physical execution, at the moment it happens."""
        self._witnesses.append(witness)

    def effect(self) -> None:
        """A device acts on a sample, now."""
        for witness in self._witnesses:
            witness()

    def advance(self, span: Ns) -> None:
        """Let ``span`` pass in one step: first the samples change, then the devices act.

        Raises:
            ValueError: time does not pass backwards, and not without passing.
        """
        if span <= 0:
            raise ValueError(f"a step takes some time, not {span} ns")
        self._now += span
        for sample in self.samples.values():
            sample.step(self._now, span)
        for device in self._devices:
            device.step(self._now)
