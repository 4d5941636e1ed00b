"""The cells of the fault matrix and their evaluation.

A cell takes good samples that all support the condition (or all contradict it), spoils all of them or the
newest, and qualifies what is left: directly, and after it went through buffers. There are exactly as many
good samples as the requirement asks for, so that one spoilt sample is one too few.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator, Value
from adf_ea_ros.contracts.model import Grade, Role
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.qualify import qualify
from adf_ea_ros.evidence.types import Context, Finding, Observation, Requirement
from studies.evidence_faults.faults import FAULTS, Fault, Scene

S = 1_000_000_000
NOW = 110 * S
NEWEST = 109 * S
ROUTE = "probe/reading"
BASELINE = 0.5


class Kind(msgspec.Struct, frozen=True):
    """A kind of predicate, with a value for which it is true and one for which it is false."""

    clauses: tuple[Clause, ...]
    true: Value
    false: Value
    relative: bool = False


KINDS: dict[str, Kind] = {
    "boolean": Kind((Clause(Operator.EQ, True),), True, False),
    "boolean, false wanted": Kind((Clause(Operator.EQ, False),), False, True),
    "enumeration": Kind((Clause(Operator.EQ, "open"),), "open", "closed"),
    "integer": Kind((Clause(Operator.EQ, 3),), 3, 4),
    "lower bound": Kind((Clause(Operator.GTE, 79.0),), 79.0, 78.999),
    "strict lower bound": Kind((Clause(Operator.GT, 79.0),), 79.001, 79.0),
    "upper bound": Kind((Clause(Operator.LTE, 81.0),), 81.0, 81.001),
    "strict upper bound": Kind((Clause(Operator.LT, 81.0),), 80.999, 81.0),
    "range": Kind((Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0)), 80.0, 20.0),
    "change since dispatch": Kind((Clause(Operator.GT, 0.1),), 0.9, 0.55, relative=True),
}


class Shape(msgspec.Struct, frozen=True):
    """What a requirement asks of a window."""

    count: int
    distinct: bool = False
    cadence: int = 0


SHAPES: dict[str, Shape] = {
    "one": Shape(1),
    "two, distinct": Shape(2, distinct=True),
    "three": Shape(3),
    "three, 1 s apart": Shape(3, cadence=S),
    "three, distinct, 1 s apart": Shape(3, distinct=True, cadence=S),
}
ROLES = (Role.INDEPENDENT_SENSOR, Role.SAME_PROVIDER)


class Cell(msgspec.Struct, frozen=True):
    """One combination. ``fault`` is empty for the good samples as they are."""

    fault: str
    kind: str
    shape: str
    role: Role
    supporting: bool
    spoilt: int
    buffered: bool


def cells() -> Iterator[Cell]:
    """Every combination that means something."""
    for kind_name, kind in KINDS.items():
        for shape_name, shape in SHAPES.items():
            for role in ROLES:
                for supporting in (True, False):
                    for buffered in (False, True):
                        yield Cell("", kind_name, shape_name, role, supporting, 0, buffered)
                        for name, fault in FAULTS.items():
                            for spoilt in _extents(fault, shape, kind, role, buffered):
                                yield Cell(name, kind_name, shape_name, role, supporting, spoilt, buffered)


def _extents(fault: Fault, shape: Shape, kind: Kind, role: Role, buffered: bool) -> set[int]:
    """How many samples to spoil: all, and the newest alone."""
    meaningless = (
        (fault.buffered and not buffered)
        or (fault.several and shape.count == 1)
        or (fault.relative and not kind.relative)
        or (fault.independent and role is Role.SAME_PROVIDER)
    )
    if meaningless:
        return set()
    return {shape.count, 1} if fault.partial else {shape.count}


def evaluate(cell: Cell) -> Finding:
    """What the spoilt samples are found to show."""
    requirement = _requirement(cell)
    scene = _scene(cell)
    if cell.fault:
        scene = FAULTS[cell.fault].spoil(scene, cell.spoilt)
    if not cell.buffered:
        return qualify(requirement, scene.context, scene.samples, scene.gaps, scene.now).finding
    buffers = {ROUTE: RouteBuffer(ROUTE)}
    for sample in (*scene.before, *sorted(scene.samples, key=lambda sample: sample.received)):
        buffers.setdefault(sample.route, RouteBuffer(sample.route)).add(sample)
    for gap in scene.gaps:
        buffers[gap.route].note_gap(gap)
    return qualify_routes(requirement, scene.context, buffers, scene.now).finding


def _requirement(cell: Cell) -> Requirement:
    shape = SHAPES[cell.shape]
    return Requirement(
        id="seen",
        condition=Condition("s1", "reading", KINDS[cell.kind].clauses),
        role=cell.role,
        routes=(ROUTE,),
        max_age=5 * S,
        count=shape.count,
        distinct=shape.distinct,
        spacing_least=shape.cadence,
        spacing_greatest=shape.cadence,
        grade=Grade.NORMAL,
        match=(("run", 7),),
    )


def _scene(cell: Cell) -> Scene:
    kind, count = KINDS[cell.kind], SHAPES[cell.shape].count
    value, contrary = (kind.true, kind.false) if cell.supporting else (kind.false, kind.true)
    samples = [_sample(count - 1 - age, NEWEST - age * S, value, kind) for age in reversed(range(count))]
    context = Context(executor="heater_a", after=100 * S, baseline=(("s1", "reading", BASELINE),))
    return Scene(tuple(samples), context, NOW, _sample(99, NEWEST, contrary, kind))


def _sample(number: int, stamp: int, value: Value, kind: Kind) -> Observation:
    return Observation(
        id=f"o{number}",
        route=ROUTE,
        source="probe",
        subject="s1",
        path="reading",
        value=value,
        stamp=stamp,
        received=stamp,
        producer=f"p{number}",
        sequence=number,
        fields=(("run", 7),),
        publisher="gid",
        relative=kind.relative,
    )
