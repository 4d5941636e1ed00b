"""Random schedules: requirements, contexts, samples and gaps from small ranges, so that rules meet often."""

from __future__ import annotations

import itertools
import math

import msgspec
from hypothesis import strategies as st

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Grade, Role
from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement

ROUTES = ("probe/t", "camera/t", "heater/t")


def mostly(good, *others, weight=6):
    """``good`` in most draws, one of the others in some."""
    return st.sampled_from([*[good] * weight, *others])


CLAUSES = st.sampled_from(
    [
        (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0)),
        (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0)),
        (Clause(Operator.GT, 79),),
        (Clause(Operator.LT, 81.0),),
        (Clause(Operator.EQ, 80.0),),
        (Clause(Operator.EQ, True),),
        (Clause(Operator.EQ, "open"),),
        (Clause(Operator.EQ, True), Clause(Operator.LT, 3.0)),  # nothing can be judged by both
    ]
)
VALUES = st.sampled_from(
    [
        80.0,
        80.0,
        80.0,
        79.0,
        81.0,
        20.0,
        20.0,
        90.5,
        80,
        1,
        True,
        True,
        False,
        "open",
        "shut",
        math.nan,
        math.inf,
    ]
)
TIMES = st.integers(0, 12)
FIELDS = st.sampled_from(
    [(), (("m", 1),), (("m", 1),), (("m", 2),), (("m", True),), (("m", 1), ("n", "a")), (("m", "1"),)]
)


def _sample(parts):
    name, (route, other), source, subject, path, value, stamp, delay, producer, grade, fields, relative = (
        parts
    )
    return Observation(
        id=name,
        route=other or route,
        source=source or (other or route).split("/")[0],
        subject=subject,
        path=path,
        value=value,
        stamp=stamp,
        received=stamp + delay,
        producer=producer,
        grade=grade,
        fields=fields,
        relative=relative,
    )


def _samples(values):
    """Up to eight samples, most of them good. Those without an id get one of their own afterwards."""
    parts = st.tuples(
        mostly("", "o0", "o1", weight=8),
        st.tuples(st.sampled_from(ROUTES), mostly("", *ROUTES, weight=40)),
        mostly("", "heater", "camera", "nobody", weight=40),
        mostly("s1", "s2", weight=20),
        mostly("t", "u", weight=20),
        values,
        TIMES,
        mostly(0, 1, 2, -1, 9, weight=30),
        st.sampled_from(["", "", "p1", "p2", "p3"]),
        mostly(Grade.NORMAL, Grade.HIGH, Grade.LOW, weight=6),
        FIELDS,
        mostly(False, True, weight=20),
    )
    return st.lists(parts, max_size=8)


REQUIREMENTS = st.builds(
    Requirement,
    id=st.just("r"),
    condition=CLAUSES.map(lambda clauses: Condition("s1", "t", clauses)),
    role=st.sampled_from(list(Role)),
    routes=st.sampled_from([each for size in (1, 2, 3) for each in itertools.permutations(ROUTES, size)]),
    max_age=mostly(10, 3, 6, 20, 0, weight=8),
    count=st.sampled_from([1, 1, 2, 2, 3]),
    distinct=st.booleans(),
    spacing_least=mostly(0, 1, 2, weight=3),
    spacing_greatest=mostly(0, 1, 2, 3, weight=3),
    grade=mostly(Grade.LOW, Grade.NORMAL, Grade.HIGH, weight=8),
    match=mostly((), (("m", 1),), weight=3),
)
CONTEXTS = st.builds(
    Context,
    executor=mostly("gripper", "", "heater", "camera", weight=12),
    after=mostly(-1, 2, 6, 13, weight=8),
    match=mostly((), (("m", 1),), (("n", "a"),), (("m", 2),), weight=16),
    aliases=mostly((), ("camera",), ("heater",), weight=16),
    skew=mostly(0, 1, weight=8),
    settled=mostly(-1, 5, 9, 11),
    baseline=st.sampled_from([(), (("s1", "t", 0.0),), (("s1", "t", 60.0),), (("s1", "t", True),)]),
)
GAPS = st.lists(
    st.builds(
        lambda route, start, length, unknown: Gap(route, start, start + length, "lost", unknown),
        st.sampled_from(ROUTES),
        TIMES,
        st.integers(0, 4),
        st.booleans(),
    ),
    max_size=2,
)


def _moods(bound):
    """Samples for a condition with this bound: in some most support it, in others few."""
    supporting = bound if isinstance(bound, (bool, str)) else 80.0
    contrary = {True: False, "open": "shut"}.get(bound, 20.0)
    return st.one_of(
        _samples(mostly(supporting, math.nan, "?", weight=20)),
        _samples(mostly(contrary, math.nan, "?", weight=20)),
        _samples(mostly(supporting, contrary, weight=4)),
        _samples(mostly(contrary, supporting, weight=4)),
        _samples(VALUES),
    )


SAMPLES = {bound: _moods(bound) for bound in (79.0, True, "open")}


@st.composite
def schedules(draw):
    """(requirement, context, samples, gaps, now)."""
    requirement = draw(REQUIREMENTS)
    bound = truth(requirement)
    usual = SAMPLES[bound if isinstance(bound, (bool, str)) else 79.0]
    repeats = draw(mostly(False, True, weight=2))
    samples = []
    for index, (name, (route, other), *rest) in enumerate(draw(usual)):
        on_route = route if route in requirement.routes else requirement.routes[0]
        own = name if repeats and name else f"o{index}"
        samples.append(_sample((own, (on_route, other), *rest)))
    if repeats and samples and draw(st.booleans()):  # one record again, received at another time
        samples.append(
            msgspec.structs.replace(samples[0], received=samples[0].received + draw(st.integers(-2, 2)))
        )
    return requirement, draw(CONTEXTS), samples, draw(mostly_no_gaps), draw(mostly(12, 9, 5, weight=3))


mostly_no_gaps = st.one_of(st.just([]), st.just([]), GAPS)


@st.composite
def honest_schedules(draw):
    """Supporting samples only, each good in itself: (requirement, context, samples, now)."""
    requirement = draw(
        REQUIREMENTS.filter(lambda each: not each.match and not isinstance(truth(each), (bool, str)))
    )
    stamps = draw(st.lists(TIMES, min_size=1, max_size=6))
    producers = draw(st.lists(st.sampled_from(["", "p1", "p2"]), min_size=6, max_size=6))
    route = requirement.routes[0]
    samples = [
        Observation(
            id=f"o{index}",
            route=route,
            source=route.split("/")[0],
            subject="s1",
            path="t",
            value=80.0,
            stamp=stamp,
            received=stamp,
            producer=producer,
            grade=Grade.HIGH,
        )
        for index, (stamp, producer) in enumerate(zip(stamps, producers, strict=False))
    ]
    return requirement, draw(st.builds(Context, after=mostly(-1, 2), skew=mostly(0, 1))), samples, max(stamps)


def truth(requirement):
    """A bound of the condition, whose type is that of the values it can judge."""
    return requirement.condition.clauses[0].bound
