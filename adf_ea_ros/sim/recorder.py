"""The archive of records, and the recorders that write into it."""

from __future__ import annotations

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.sim.faults import SECOND, RecorderFault, RecorderFaultKind
from adf_ea_ros.sim.world import World


class Entry(msgspec.Struct, frozen=True):
    """A record as the archive holds it."""

    id: str
    sample: str
    writer: str
    written: Ns


class Archive:
    """The latest record of each sample. It is read back by its own node, not by the recorders."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.writes = 0  # entries ever written

    def write(self, sample: str, writer: str, now: Ns) -> Entry:
        """Store a new record of ``sample``; it takes the place of an older one."""
        self.writes += 1
        entry = Entry(f"record-{now // SECOND}-{self.writes}", sample, writer, now)
        self.entries[sample] = entry
        return entry


class Writing:
    """One request to a recorder."""

    def __init__(self, sample: str, due: Ns, fault: RecorderFaultKind) -> None:
        self.sample = sample
        self.due = due
        self.fault = fault
        self.done = False
        self.success = False
        self.message = ""
        self.record_id = ""

    @property
    def answered(self) -> bool:
        """Whether the answer reaches the client."""
        return self.done and self.fault is not RecorderFaultKind.LOST_REPLY


class Recorder:
    """Device model of a recorder."""

    def __init__(
        self,
        name: str,
        world: World,
        archive: Archive,
        *,
        duration: Ns = SECOND // 2,
        fault: RecorderFault | None = None,
    ) -> None:
        """Args: duration of one writing."""
        if duration < 0:
            raise ValueError(f"{name}: a writing cannot take {duration} ns")
        self.name = name
        self.fault = fault or RecorderFault()
        self.requests = 0
        self._world, self._archive, self._duration = world, archive, duration
        self._writings: list[Writing] = []
        world.attach(self)

    @property
    def offered(self) -> bool:
        """Whether the device is there at all."""
        return self.fault.kind is not RecorderFaultKind.DOWN

    def begin(self, sample: str) -> Writing:
        """Start writing the record of ``sample``."""
        self.requests += 1
        kind = self.fault.kind if self.fault.affects(self.requests) else RecorderFaultKind.NONE
        writing = Writing(sample, self._world.now + self._duration, kind)
        if sample not in self._world.samples:
            writing.done = True
            writing.message = f"no sample {sample!r}: there are {', '.join(self._world.samples)}"
        else:
            self._writings.append(writing)
        return writing

    def step(self, now: Ns) -> None:
        """Finish what is due."""
        due = [writing for writing in self._writings if writing.due <= now]
        self._writings = [writing for writing in self._writings if writing.due > now]
        for writing in due:
            if writing.fault is RecorderFaultKind.NO_EFFECT:
                writing.record_id = f"record-{now // SECOND}-0"
            else:
                writing.record_id = self._archive.write(writing.sample, self.name, now).id
            writing.done = writing.success = True
            writing.message = "written"
