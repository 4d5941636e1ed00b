"""The four cases of Table 28, as faults of the simulated rig."""

from __future__ import annotations

import msgspec

from adf_ea_ros.sim.faults import HeaterFaultKind, ProbeFaultKind


class Case(msgspec.Struct, frozen=True):
    """One case. ``rig`` are the same faults as parameters of the rig's nodes."""

    name: str
    says: str
    heater: HeaterFaultKind = HeaterFaultKind.NONE  # of heater_a
    probe: ProbeFaultKind = ProbeFaultKind.NONE
    silent: int = 0  # readings that meet the probe's fault after the heating
    recorder_goes: bool = False  # recorder_a is gone once the sample is being heated
    rig: tuple[str, ...] = ()


CASES = (
    Case("H1", "nothing goes wrong"),
    Case(
        "H2",
        "heater_a aborts and has heated nothing",
        heater=HeaterFaultKind.ABORT_WITHOUT_EFFECT,
        rig=("heater_a.fault:=abort_without_effect",),
    ),
    Case(
        "H3",
        "the sample is hot, and the probe is silent for 45 s",
        probe=ProbeFaultKind.DROP,
        silent=45,
        rig=("probe.fault:=drop", "probe.fault_samples:=45"),
    ),
    Case("H4", "recorder_a is gone", recorder_goes=True),
)
