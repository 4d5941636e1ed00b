"""A temperature probe: reads every sample at whole logical seconds, and measures on request."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from statistics import fmean

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.sim.faults import SECOND, ProbeFault, ProbeFaultKind
from adf_ea_ros.sim.world import Refused, World


class Reading(msgspec.Struct, frozen=True):
    """One sample of the temperature, as the probe publishes it."""

    sample: str
    value: float  # degC
    stamp: Ns


class Measuring:
    """One measurement in progress: the mean over the next ``wanted`` readings of a sample."""

    def __init__(self, name: str, sample: str, wanted: int, deadline: Ns) -> None:
        self.id = name
        self.sample = sample
        self.wanted = wanted
        self.deadline = deadline
        self.taken: list[Reading] = []
        self.ended: Ns | None = None
        self.canceled = False

    @property
    def complete(self) -> bool:
        """Whether every reading that was asked for was taken."""
        return len(self.taken) >= self.wanted

    @property
    def mean(self) -> float:
        """Mean of the readings in degC; not a number where none was taken."""
        return fmean(reading.value for reading in self.taken) if self.taken else math.nan


class Probe:
    """Device model of the probe; ``drain`` gives what it has read since the last call."""

    def __init__(
        self,
        name: str,
        world: World,
        *,
        noise: float = 0.05,
        seed: int = 1,
        wanted: int = 3,
        patience: Ns = 60 * SECOND,
        fault: ProbeFault | None = None,
    ) -> None:
        """Args: noise in degC (uniform, both ways); wanted readings and patience of a measurement.

        Raises:
            ValueError: values that no probe can have.
        """
        if not (math.isfinite(noise) and noise >= 0) or wanted < 1 or patience <= 0:
            raise ValueError(f"{name}: noise must not be negative, wanted and patience must be positive")
        self.name = name
        self.fault = fault or ProbeFault()
        self.measurements = 0  # begun
        self._world = world
        self._noise, self._random = noise, random.Random(seed)
        self._wanted, self._patience = wanted, patience
        self._readings: list[Reading] = []
        self._measuring: list[Measuring] = []
        world.attach(self)

    def measure(self, sample: str) -> Measuring:
        """Begin a measurement; several may run at once.

        Raises:
            Refused: no such sample.
        """
        if sample not in self._world.samples:
            raise Refused(f"no sample {sample!r}: there are {', '.join(self._world.samples)}")
        self.measurements += 1
        name = f"{self.name}-{self._world.now // SECOND}-{self.measurements}"
        measuring = Measuring(name, sample, self._wanted, self._world.now + self._patience)
        self._measuring.append(measuring)
        return measuring

    def cancel(self, measuring: Measuring) -> None:
        """End a measurement before its time."""
        measuring.canceled = True
        self._finish(measuring, self._world.now)

    def drain(self) -> list[Reading]:
        """The readings since the last call, in order."""
        readings, self._readings = self._readings, []
        return readings

    def step(self, now: Ns) -> None:
        """Read at whole seconds, and end the measurements that are full or out of time."""
        if now % SECOND == 0:
            for sample in self._world.samples:
                for reading in self._read(sample, now):
                    self._readings.append(reading)
                    for measuring in self._measuring:
                        if measuring.sample == sample and not measuring.complete:
                            measuring.taken.append(reading)
        for measuring in list(self._measuring):
            if measuring.complete or now >= measuring.deadline:
                self._finish(measuring, now)

    def _finish(self, measuring: Measuring, now: Ns) -> None:
        if measuring in self._measuring:
            self._measuring.remove(measuring)
            measuring.ended = now

    def _read(self, name: str, now: Ns) -> Iterator[Reading]:
        """What the probe makes of one sample at ``now``: one reading, or none."""
        sample = self._world.samples[name]
        true = Reading(name, sample.temperature + self._random.uniform(-self._noise, self._noise), now)
        # Readings at whole seconds: their number since the heating is the number of seconds that began since.
        since = None if sample.settled_at is None else now // SECOND - sample.settled_at // SECOND
        if not self.fault.affects(since):
            yield true
        elif self.fault.kind is ProbeFaultKind.STALE:
            yield msgspec.structs.replace(true, stamp=max(0, now - self.fault.age))
        elif self.fault.kind is ProbeFaultKind.WRONG_SAMPLE:
            yield msgspec.structs.replace(true, sample=f"{name}_other")
        elif self.fault.kind is ProbeFaultKind.NAN:
            yield msgspec.structs.replace(true, value=math.nan)
