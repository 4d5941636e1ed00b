"""The faults: each takes a scene of good samples, and the ones to spoil, and returns the spoilt scene."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.contracts.model import Grade
from adf_ea_ros.evidence.types import Context, Gap, Observation

S = 1_000_000_000


class Scene(msgspec.Struct, frozen=True):
    """What one qualification gets to see; ``opposite`` is a good sample that says the contrary."""

    samples: tuple[Observation, ...]
    context: Context
    now: Ns
    opposite: Observation
    gaps: tuple[Gap, ...] = ()
    before: tuple[Observation, ...] = ()  # seen earlier, in the buffers' case


class Fault(msgspec.Struct, frozen=True):
    """A fault. ``spoil`` gets the scene and how many of its samples, from the newest on, are to be spoilt."""

    family: str
    spoil: Callable[[Scene, int], Scene]
    partial: bool = True  # spoiling one sample of several is a case of its own
    several: bool = False  # means nothing where one sample is enough
    buffered: bool = False  # can only be seen by a buffer
    relative: bool = False  # concerns changes since the dispatch only
    independent: bool = False  # a fault only where the source must be independent
    by_policy: bool = False  # decided by the strongest evidence, not a reason to decide nothing


def changed(change: Callable[[Observation], Observation | None]) -> Callable[[Scene, int], Scene]:
    """A fault that changes single samples, or loses them."""

    def spoil(scene: Scene, count: int) -> Scene:
        kept = scene.samples[: len(scene.samples) - count]
        spoilt = (change(sample) for sample in scene.samples[len(kept) :])
        return msgspec.structs.replace(scene, samples=(*kept, *(each for each in spoilt if each is not None)))

    return spoil


def fields(**new: object) -> Callable[[Scene, int], Scene]:
    """A fault that sets fields of single samples."""
    return changed(lambda sample: msgspec.structs.replace(sample, **new))


def shifted(stamp: Ns, received: Ns = 0) -> Callable[[Scene, int], Scene]:
    """A fault that moves single samples in time."""
    return changed(
        lambda each: msgspec.structs.replace(
            each, stamp=each.stamp + stamp, received=each.received + received
        )
    )


def _retyped(sample: Observation) -> Observation:
    return msgspec.structs.replace(sample, value=1 if isinstance(sample.value, (bool, str)) else "text")


def _no_baseline(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - there is one for all
    return msgspec.structs.replace(scene, context=msgspec.structs.replace(scene.context, baseline=()))


def _executor_route(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - the route is the requirement's
    """The executor turns out to be the provider of the route itself."""
    return msgspec.structs.replace(scene, context=msgspec.structs.replace(scene.context, executor="probe"))


def _copies(rename: bool) -> Callable[[Scene, int], Scene]:
    """The oldest sample again, in the place of the others: as it is, or published anew with its old stamp."""

    def spoil(scene: Scene, count: int) -> Scene:
        kept = scene.samples[: len(scene.samples) - count] or scene.samples[:1]
        again = []
        for sample in scene.samples[len(kept) :]:
            new = msgspec.structs.replace(
                kept[0],
                received=sample.received,
                sequence=sample.sequence,
                id=sample.id if rename else kept[0].id,
            )
            again.append(new)
        return msgspec.structs.replace(scene, samples=(*kept, *again))

    return spoil


def _conflicting_occurrence(scene: Scene, count: int) -> Scene:
    twins = tuple(
        msgspec.structs.replace(sample, producer=f"{sample.producer}?") for sample in scene.samples[-count:]
    )
    return msgspec.structs.replace(scene, samples=(*scene.samples, *twins))


def _disagreeing(grade: Grade, at: str, rest: Grade = Grade.NORMAL) -> Callable[[Scene, int], Scene]:
    """One more good sample that says the contrary: before, between or after the others."""

    def spoil(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - one contradiction is enough
        stamps = [sample.stamp for sample in scene.samples]
        stamp = {"oldest": min(stamps) - S, "newest": max(stamps) + S // 2, "same instant": max(stamps)}[at]
        sequence = -1 if at == "oldest" else scene.opposite.sequence
        contrary = msgspec.structs.replace(
            scene.opposite, stamp=stamp, received=stamp, grade=grade, sequence=sequence
        )
        samples = tuple(msgspec.structs.replace(sample, grade=rest) for sample in scene.samples)
        return msgspec.structs.replace(scene, samples=(*samples, contrary))

    return spoil


def _unknown_gap(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - the gap covers them all
    route = scene.samples[0].route
    return msgspec.structs.replace(
        scene, gaps=(Gap(route, scene.now - S, scene.now, "restart", unknown=True),)
    )


def _clock_back(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - time is one
    """The clock of everything goes back by more than the samples' age: they lie in the future."""
    return msgspec.structs.replace(scene, now=scene.now - 20 * S)


def _clock_back_little(scene: Scene, count: int) -> Scene:  # noqa: ARG001 - time is one
    """The clock goes back to the newest sample's own time, less a moment."""
    return msgspec.structs.replace(scene, now=min(sample.stamp for sample in scene.samples) - 1)


def _old_numbers(scene: Scene, count: int) -> Scene:
    """Samples from before the dispatch, sent again with fresh stamps under their old numbers."""
    kept = scene.samples[: len(scene.samples) - count]
    old = tuple(
        msgspec.structs.replace(
            sample, id=f"{sample.id}-old", stamp=sample.stamp - 30 * S, received=sample.received - 30 * S
        )
        for sample in scene.samples
    )
    first = {sample.sequence: sample for sample in scene.samples}
    replayed = tuple(
        msgspec.structs.replace(first[sample.sequence], id=f"{sample.id}-again")
        for sample in scene.samples[len(kept) :]
    )
    kept = tuple(msgspec.structs.replace(sample, sequence=sample.sequence + 100) for sample in kept)
    return msgspec.structs.replace(scene, samples=(*replayed, *kept), before=old)


FAULTS: dict[str, Fault] = {
    "lost": Fault("missing", changed(lambda _: None)),
    "not a number": Fault("missing", fields(value=math.nan)),
    "infinite": Fault("missing", fields(value=-math.inf)),
    "another type": Fault("missing", changed(_retyped)),
    "value at the dispatch unknown": Fault("missing", _no_baseline, partial=False, relative=True),
    "older than the limit": Fault("stale", shifted(-6 * S, -6 * S)),
    "old stamp, fresh arrival": Fault("stale", shifted(-6 * S)),
    "captured before the dispatch": Fault("stale", shifted(-11 * S, -11 * S)),
    "the state became unknown": Fault("stale", _unknown_gap, partial=False),
    "same occurrence again": Fault("replayed", _copies(rename=False), several=True),
    "same capture published again": Fault("replayed", _copies(rename=True), several=True),
    "old numbers, fresh stamps": Fault("replayed", _old_numbers, buffered=True),
    "another node": Fault("wrong source", fields(source="stranger")),
    "the executor's echo": Fault("wrong source", fields(source="heater_a")),
    "the route is the executor's own": Fault(
        "wrong source", _executor_route, partial=False, independent=True
    ),
    "another route": Fault("wrong source", fields(route="camera/reading", source="camera")),
    "another subject": Fault("wrong source", fields(subject="s2")),
    "another path": Fault("wrong source", fields(path="setpoint")),
    "another run": Fault("wrong source", fields(fields=(("run", 6),))),
    "no run named": Fault("wrong source", fields(fields=())),
    "too weak": Fault("wrong source", fields(grade=Grade.LOW)),
    "source's clock ahead": Fault("clocks", shifted(10 * S)),
    "source's clock slightly ahead": Fault("clocks", shifted(1)),
    "source's clock behind": Fault("clocks", shifted(-10 * S)),
    "our clock reset": Fault("clocks", _clock_back, partial=False),
    "our clock set back a little": Fault("clocks", _clock_back_little, partial=False),
    "a contradiction, newest": Fault("conflicting", _disagreeing(Grade.NORMAL, "newest"), partial=False),
    "a contradiction, oldest": Fault("conflicting", _disagreeing(Grade.NORMAL, "oldest"), partial=False),
    "a contradiction, same instant": Fault(
        "conflicting", _disagreeing(Grade.NORMAL, "same instant"), partial=False
    ),
    "a stronger contradiction": Fault("conflicting", _disagreeing(Grade.HIGH, "newest"), partial=False),
    "a weaker contradiction": Fault(
        "conflicting", _disagreeing(Grade.NORMAL, "newest", rest=Grade.HIGH), partial=False, by_policy=True
    ),
    "one occurrence, two contents": Fault("conflicting", _conflicting_occurrence),
}
"""Every fault by name, with its family."""
