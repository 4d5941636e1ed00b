"""The stories of the demo, and what each must end like (Table 28 of the ADF-EA paper, and three more)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.model import Interaction, Mode
from adf_ea_ros.sim.report import Report


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One story. Faults are parameters of the rig, or things that happen to its processes."""

    name: str
    title: str
    expects: str
    """What Table 28, or the design, says that an assured client does."""
    rig: tuple[str, ...] = ()
    """Parameters of the rig, as NAME:=VALUE."""
    heatings: tuple[tuple[str, int], ...] = (("heater_a", 1), ("heater_b", 0))
    """Physical heatings by each heater, as the rig must count them."""
    direct: bool = False
    """Tell it first with a direct action client."""
    recorder_goes: bool = False
    """recorder_a goes down while the sample is being heated."""
    kill: bool = False
    """The authority is killed while the sample is being heated, and started again."""


STORIES = {
    story.name: story
    for story in (
        Story(
            name="none",
            title="nothing goes wrong",
            expects="completes on samples of a sensor other than the heater, and on a readback of the record",
        ),
        Story(
            name="heater_fails",
            title="heater_a answers SUCCEEDED and heats nothing",
            expects="confirms the missing effect, rebinds to heater_b, completes the unresolved suffix",
            rig=("heater_a.fault:=no_effect",),
            heatings=(("heater_a", 0), ("heater_b", 1)),
        ),
        Story(
            name="evidence_lost",
            title="the heating works, but the probe is silent for a while",
            expects="keeps the heating and obtains the missing measurements without reheating",
            rig=("probe.fault:=drop", "probe.fault_samples:=45"),
        ),
        Story(
            name="recorder_down",
            title="recorder_a goes down while the sample is being heated",
            expects="keeps the verified prefix and rebinds only the record step",
            recorder_goes=True,
        ),
        Story(
            name="ack_lost",
            title="the heating works, and its answer is lost",
            expects="heats once: the effect is proven without the answer",
            rig=("heater_a.fault:=lost_result", "heater_a.fault_uses:=1"),
            direct=True,
        ),
        Story(
            name="authority_killed",
            title="the authority is killed in mid-heating (SIGKILL) and started again",
            expects="reconciles the attempt in flight, heats once, completes",
            rig=("heater_a.ramp:=5.0",),
            kill=True,
        ),
    )
}
DEFAULT = "ack_lost"


class Check(msgspec.Struct, frozen=True):
    """One thing that the story must end like."""

    text: str
    holds: bool


def verdict(story: Story, events: Sequence[ev.AnyEvent], counted: Report) -> list[Check]:
    """Compare the ledger and the rig's own counts with what the story expects."""
    checks = [Check("completion was granted", any(isinstance(event, ev.Completed) for event in events))]
    for heater, wanted in story.heatings:
        found = heatings(counted, heater)
        checks.append(Check(f"{heater} heated {_times(found)}, {wanted} expected", found == wanted))
    checks.append(Check(f"measured {_times(counted.measurements)}, once expected", counted.measurements == 1))
    checks.append(Check(f"recorded {_times(counted.records)}, once expected", counted.records == 1))
    return [*checks, *_particular(story, events)]


def heatings(counted: Report, heater: str) -> int:
    """Physical heatings by one heater, as the rig counted them."""
    found = counted.heaters.get(heater)
    return sum(found.heatings.values()) if found is not None else 0


def _particular(story: Story, events: Sequence[ev.AnyEvent]) -> Iterable[Check]:
    """What is particular to a story."""
    heats = [e.attempt for e in events if isinstance(e, ev.Dispatched) and e.attempt.node == "heat"]
    records = [e.attempt for e in events if isinstance(e, ev.Dispatched) and e.attempt.node == "record"]
    names = {attempt.id for attempt in heats}
    if story.name == "heater_fails":
        providers = [attempt.provider for attempt in heats]
        yield Check(f"heat went to {', then '.join(providers)}", providers == ["heater_a", "heater_b"])
        yield Check("the second one as a retry (R6)", [a.mode for a in heats[1:]] == [Mode.RETRY])
        return
    yield Check(f"heat was dispatched {_times(len(heats))}, once expected", len(heats) == 1)
    if story.name == "evidence_lost":
        spent = sum(isinstance(event, ev.ObservationSpent) for event in events)
        yield Check(f"{spent} observations were spent, at least 1 expected", spent >= 1)
    if story.name == "recorder_down":
        providers = [attempt.provider for attempt in records]
        yield Check(
            f"record was bound to {', then '.join(providers)} in the end", providers[-1:] == ["recorder_b"]
        )
    if story.name == "ack_lost":
        answered = [e for e in events if isinstance(e, ev.Reported) and e.attempt in names]
        silent = all(e.interaction is not Interaction.SUCCEEDED for e in answered)
        yield Check("no answer to the heating ever came", silent)
    if story.name == "authority_killed":
        restarts = [event.generation for event in events if isinstance(event, ev.Restarted)]
        yield Check(f"{len(restarts)} restart is in the ledger, 1 expected", len(restarts) == 1)


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")
