"""The twenty schedules, as sections A.4 and C.4 describe them, with the dispositions expected of them.

The contract is the same throughout: three identity-distinct measurements of the heated sample, one step (1 s)
apart, at most 20 s old, from 79 to 81 degrees inclusive, from a sensor that is not the heater. Heating was
dispatched at 100 s and is taken to have completed; the question is only whether the evidence shows it. The
stamps and values are ours: the paper names the perturbations, not the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator, Value
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Context, Observation, Requirement

SECOND = 1_000_000_000
DISPATCH = 100 * SECOND
ROUTE = "probe/temperature"

REQUIREMENT = Requirement(
    id="heated_seen",
    condition=Condition("s1", "temperature", (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0))),
    role=Role.INDEPENDENT_SENSOR,
    routes=(ROUTE,),
    max_age=20 * SECOND,
    count=3,
    distinct=True,
    spacing_least=SECOND,
    spacing_greatest=SECOND,
    match=(("sample", "s1"),),
)
CORRELATED = msgspec.structs.replace(REQUIREMENT, match=(("measurement", "run-7"), ("sample", "s1")))
CONTEXT = Context(executor="heater_a", after=DISPATCH)


class Schedule(msgspec.Struct, frozen=True):
    """One row: what is seen, when it is judged, what a further observation brings, and what is expected."""

    name: str
    samples: tuple[Observation, ...]
    expected: str
    paper: str  # the outcome that the paper recorded
    horizon: float = 110.0  # seconds
    later: tuple[Observation, ...] = ()  # what the route brings when it is asked again
    requirement: Requirement = REQUIREMENT


def samples(
    values: Iterable[float],
    start: float,
    *,
    step: float = 1.0,
    prefix: str = "m",
    route: str = ROUTE,
    tag: str = "s1",
    **fields: Value,
) -> tuple[Observation, ...]:
    """One measurement for each value, ``step`` seconds apart, each by a producer of its own; ``tag`` is the
    sample identity that the records carry."""
    made = []
    for index, value in enumerate(values):
        stamp = round((start + index * step) * SECOND)
        made.append(
            Observation(
                id=f"{prefix}{index}",
                route=route,
                source=route.partition("/")[0],
                subject="s1",
                path="temperature",
                value=value,
                stamp=stamp,
                received=stamp,
                producer=f"{prefix}{index}",
                fields=tuple(sorted({"sample": tag, **fields}.items())),
            )
        )
    return tuple(made)


def at(stamps: Iterable[float]) -> tuple[Observation, ...]:
    """Measurements of 80 degrees at these times (s)."""
    return tuple(samples([80.0], stamp, prefix=f"m{index}-")[0] for index, stamp in enumerate(stamps))


NOMINAL = samples([80.0] * 3, 105.0)
FURTHER = samples([80.0] * 3, 135.0, prefix="n")  # the sensor works: asked again, it answers
WRONG_FIRST = msgspec.structs.replace(NOMINAL[0], fields=(("sample", "s2"),))

GROUPS: dict[str, tuple[Schedule, ...]] = {
    "Values and numeric bounds": (
        Schedule("Nominal matching measurements", NOMINAL, "verify", "Satisfied"),
        Schedule(
            "Measurements spanning both numeric bounds", samples([79, 80.5, 81], 105), "verify", "Satisfied"
        ),
        Schedule(
            "Small numeric offsets within the range", samples([79.9, 80.1, 80], 105), "verify", "Satisfied"
        ),
        Schedule("Values exactly at the numeric bounds", samples([79, 81, 79], 105), "verify", "Satisfied"),
    ),
    "Freshness and cadence": (
        Schedule("Logical ages below the limit", NOMINAL, "verify", "Satisfied", 124.5),
        Schedule("Oldest observation exactly at the age limit", NOMINAL, "verify", "Satisfied", 125.0),
        Schedule(
            "All observations older than the limit", NOMINAL, "observe, verify", "Satisfied", 128.0, FURTHER
        ),
        Schedule(
            "Phase shift preserving observation cadence", samples([80.0] * 3, 105.37), "verify", "Satisfied"
        ),
        Schedule("Observations exactly at the cadence boundary", at([106, 107, 108]), "verify", "Satisfied"),
        Schedule(
            "Unequal spacing violates the cadence",
            at([105, 106, 107.5]),
            "observe, verify",
            "Satisfied",
            later=FURTHER,
        ),
    ),
    "Observation loss": (
        Schedule(
            "Temporary loss leaves two observations",
            NOMINAL[:2],
            "observe, verify",
            "Satisfied",
            later=FURTHER,
        ),
        Schedule("Permanent loss leaves no observations", (), "insufficient", "Insufficient"),
        Schedule("Permanent loss leaves one observation", NOMINAL[:1], "insufficient", "Insufficient"),
    ),
    "Identity, replay, and lineage": (
        Schedule(
            "Correct values with the wrong sample identity",
            samples([80.0] * 3, 105, tag="s2"),
            "inadmissible",
            "Unsatisfied",
            later=samples([80.0] * 3, 135, prefix="n", tag="s2"),
        ),
        Schedule(
            "Wrong measurement-correlation identity",
            samples([80.0] * 3, 105, measurement="run-6"),
            "inadmissible",
            "Not evaluated",
            later=samples([80.0] * 3, 135, prefix="n", measurement="run-6"),
            requirement=CORRELATED,
        ),
        Schedule(
            "Wrong sample and source route",
            samples([80.0] * 3, 105, route="camera/temperature", tag="s2"),
            "insufficient",
            "Insufficient",
            later=samples([80.0] * 3, 135, prefix="n", route="camera/temperature", tag="s2"),
        ),
        Schedule(
            "Same occurrence replayed three times",
            (NOMINAL[0],) * 3,
            "observe, verify",
            "Satisfied",
            later=FURTHER,
        ),
        Schedule(
            "Three records with one producer identity",
            tuple(msgspec.structs.replace(sample, producer="m0") for sample in NOMINAL),
            "observe, verify",
            "Satisfied",
            later=FURTHER,
        ),
        Schedule(
            "Same occurrence with conflicting lineage",
            (*NOMINAL, WRONG_FIRST),
            "inadmissible",
            "Integrity rejection",
            later=FURTHER,
        ),
    ),
    "Conflicting evidence": (
        Schedule(
            "Overlapping strongest windows disagree",
            samples([80.0, 80.0, 80.0, 85.0], 105),
            "conflict",
            "Unknown",
            later=FURTHER,
        ),
    ),
}
"""The schedules in the order and under the headings of the table."""
