"""Paired contrasts of the evidence block (sections A.4 and C.2, Table 27): every clause matters.

A pair of cases is told apart by the intact requirement, no longer by one weakened in the clause in question,
and still by one with a change of no consequence (a sham): the distinction is due to that clause and no other.
Beyond the paper's three contrasts of the block, there is one for every clause that a requirement has.
"""

import math

import msgspec
import pytest

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Grade, Role
from adf_ea_ros.evidence.qualify import qualify
from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement, Verdict

S = 1_000_000_000
NOW = 120 * S
CONTEXT = Context(executor="heater", after=100 * S)
INTACT = Requirement(
    id="hot",
    condition=Condition("s1", "temperature", (Clause(Operator.GTE, 79.0), Clause(Operator.LTE, 81.0))),
    role=Role.INDEPENDENT_SENSOR,
    routes=("probe/temperature",),
    max_age=10 * S,
    count=3,
    distinct=True,
    spacing_least=S,
    spacing_greatest=S,
    grade=Grade.NORMAL,
    match=(("sample", "s1"),),
)
SHAM = msgspec.structs.replace(INTACT, id="renamed", routes=("spare/temperature", "probe/temperature"))


def good(**changes):
    samples = [
        Observation(
            id=f"o{index}",
            route="probe/temperature",
            source="probe",
            subject="s1",
            path="temperature",
            value=80.0,
            stamp=(115 + index) * S,
            received=(115 + index) * S,
            producer=f"p{index}",
            fields=(("sample", "s1"),),
        )
        for index in range(3)
    ]
    return [msgspec.structs.replace(sample, **changes) for sample in samples]


def at(*stamps):
    return [
        msgspec.structs.replace(sample, stamp=int(t * S), received=int(t * S))
        for sample, t in zip(good(), stamps, strict=True)
    ]


def heater(samples):
    """The same records over a route of the heater's own."""
    return [msgspec.structs.replace(s, route="heater/temperature", source="heater") for s in samples]


ANY_VALUE = Condition("s1", "temperature", (Clause(Operator.GTE, 0.0),))
# The clause, the case that must be withheld, the requirement weakened in that clause.
CONTRASTS = {
    "source role": (
        heater(good()),
        {"role": Role.SAME_PROVIDER, "routes": ("heater/temperature",)},
        {"routes": ("heater/temperature",)},
    ),
    "route": (
        [msgspec.structs.replace(s, route="camera/temperature", source="camera") for s in good()],
        {"routes": ("probe/temperature", "camera/temperature")},
        {},
    ),
    "freshness": (at(107, 108, 109), {"max_age": 60 * S}, {}),
    "count": (good()[:2], {"count": 2}, {}),
    "distinct identity": (good(producer="p0"), {"distinct": False}, {}),
    "greatest spacing": (at(112, 114, 116), {"spacing_greatest": 0}, {}),
    "least spacing": (at(115, 115.1, 115.2), {"spacing_least": 0}, {}),
    "grade": (good(grade=Grade.LOW), {"grade": Grade.LOW}, {}),
    "correlation": (good(fields=(("sample", "s2"),)), {"match": ()}, {}),
    "effect predicate": (good(value=60.0), {"condition": ANY_VALUE}, {}),
}


def verdict(requirement, samples):
    return qualify(requirement, CONTEXT, samples, (), NOW).verdict


@pytest.mark.parametrize("clause", CONTRASTS)
def test_intact_and_sham_keep_the_distinction_and_weakening_loses_it(clause):
    withheld, weakening, common = CONTRASTS[clause]
    weakened = msgspec.structs.replace(INTACT, **weakening)
    assert verdict(INTACT, good()) is Verdict.SATISFIED
    assert verdict(SHAM, good()) is Verdict.SATISFIED
    assert verdict(msgspec.structs.replace(INTACT, **common), withheld) is not Verdict.SATISFIED
    assert verdict(msgspec.structs.replace(SHAM, **common), withheld) is not Verdict.SATISFIED
    assert verdict(weakened, withheld) is Verdict.SATISFIED


def test_absent_effect_and_unseen_effect_are_told_apart():
    """Appendix D: after a timeout the effect may be absent, or there but unseen; only one is negative."""
    absent = qualify(INTACT, CONTEXT, good(value=20.0), (), NOW).finding
    unseen = qualify(
        INTACT, CONTEXT, [], (Gap("probe/temperature", 0, NOW, "E.silent", unknown=True),), NOW
    ).finding
    assert (absent.verdict, absent.negative) == (Verdict.UNSATISFIED, True)
    assert (unseen.verdict, unseen.negative) == (Verdict.UNKNOWN, False)


def test_before_and_after_the_dispatch():
    """The same samples prove a present fact, and not the effect of an attempt that came after them."""
    assert qualify(INTACT, CONTEXT, good(), (), NOW).verdict is Verdict.SATISFIED
    later = Context(executor="heater", after=116 * S)
    assert qualify(INTACT, later, good(), (), NOW).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert qualify(INTACT, Context(), good(), (), NOW).verdict is Verdict.SATISFIED


def test_an_effect_that_may_still_come_is_not_absent():
    """Samples too early for the effect to show refute nothing; a supporting one counts at any time."""
    settling = Context(executor="heater", after=100 * S, settled=116 * S)
    early = qualify(INTACT, settling, good(value=20.0), (), NOW).finding
    assert (early.verdict, early.negative) == (Verdict.UNSATISFIED, False)
    assert "E.early" in early.reasons
    assert qualify(INTACT, settling, good(), (), NOW).verdict is Verdict.SATISFIED
    exactly = Context(executor="heater", after=100 * S, settled=115 * S)
    assert not qualify(INTACT, exactly, good(value=20.0), (), NOW).finding.negative
    settled = Context(executor="heater", after=100 * S, settled=115 * S - 1)
    assert qualify(INTACT, settled, good(value=20.0), (), NOW).finding.negative


def test_the_strongest_evidence_decides_and_says_so():
    """Appendix D's conflict policy: a stronger window outranks weaker samples; equals decide nothing."""
    one = msgspec.structs.replace(INTACT, count=1, grade=Grade.LOW)
    strong = good(grade=Grade.HIGH)[0]
    weak = msgspec.structs.replace(good(value=20.0)[1], grade=Grade.LOW)
    finding = qualify(one, CONTEXT, [strong, weak], (), NOW).finding
    assert finding.verdict is Verdict.SATISFIED
    assert finding.reasons == ("E.outranked",)
    equal = msgspec.structs.replace(weak, grade=Grade.HIGH)
    assert qualify(one, CONTEXT, [strong, equal], (), NOW).verdict is Verdict.UNKNOWN
    # The other way round the verdict is UNSATISFIED, but a supporting sample, however weak, bars a retry.
    strong_no, weak_yes = good(grade=Grade.HIGH, value=20.0)[0], good(grade=Grade.LOW)[1]
    finding = qualify(one, CONTEXT, [strong_no, weak_yes], (), NOW).finding
    assert (finding.verdict, finding.negative) == (Verdict.UNSATISFIED, False)


def test_a_contradiction_behind_a_hole_in_the_cadence_is_a_conflict():
    """It is part of no window, yet the newest word of the sensor must not go unheard."""
    samples = [
        *at(112, 113, 114),
        msgspec.structs.replace(at(118, 118, 118)[0], id="x", producer="x", value=20.0),
    ]
    result = qualify(INTACT, CONTEXT, samples, (), NOW)
    assert result.verdict is Verdict.UNKNOWN
    assert "x" in result.finding.basis


def test_a_faster_sensor_than_the_cadence_asks_for():
    """At 10 Hz, three samples one second apart are found, and the ones between are not overlooked."""
    every = [
        msgspec.structs.replace(good()[0], id=f"f{i}", producer=f"f{i}", stamp=t, received=t)
        for i, t in enumerate(range(114 * S, 117 * S + 1, S // 10))
    ]
    result = qualify(INTACT, CONTEXT, every, (), NOW)
    assert [sample.stamp for sample in result.used] == [117 * S, 116 * S, 115 * S]
    between = msgspec.structs.replace(every[14], value=20.0)
    assert qualify(INTACT, CONTEXT, [*every[:14], between, *every[15:]], (), NOW).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 0},
        {"routes": ()},
        {"max_age": -1},
        {"spacing_least": -1},
        {"condition": Condition("s1", "temperature", ())},
        {"condition": Condition("s1", "temperature", (Clause(Operator.GTE, math.nan),))},
        {"condition": Condition("s1", "temperature", (Clause(Operator.LTE, math.inf),))},
    ],
)
def test_a_malformed_requirement_is_an_integrity_failure(changes):
    finding = qualify(msgspec.structs.replace(INTACT, **changes), CONTEXT, good(), (), NOW).finding
    assert finding.integrity.startswith("E.requirement")
    assert finding.verdict is Verdict.UNKNOWN


def test_an_alias_of_the_executor_is_the_executor():
    context = Context(executor="heater", after=100 * S, aliases=("probe",))
    finding = qualify(INTACT, context, good(), (), NOW).finding
    assert finding.integrity.startswith("E.role")


def test_the_explanation_names_used_and_refused_samples():
    samples = [*good(), msgspec.structs.replace(good()[0], id="late", stamp=90 * S)]
    result = qualify(INTACT, CONTEXT, samples, (), NOW)
    assert [refused.code for refused in result.refused] == ["E.before_dispatch"]
    text = result.explain()
    assert "SATISFIED" in text
    assert "used o0" in text
    assert "refused late" in text


@pytest.mark.parametrize(
    ("samples", "code"),
    [
        ([], "E.none"),
        (good(value=math.nan), "E.none"),
        (good()[:2], "E.count"),
        (good(producer="p0"), "E.identity"),
        (at(112, 114, 116), "E.cadence"),
    ],
)
def test_what_was_lacking_is_the_first_reason(samples, code):
    finding = qualify(INTACT, CONTEXT, samples, (), NOW).finding
    assert (finding.verdict, finding.reasons[0]) == (Verdict.INSUFFICIENT_EVIDENCE, code)
    assert (finding.basis, finding.captured, finding.valid_until) == ((), -1, -1)


@pytest.mark.parametrize("carried", [True, 1.5, "1", "", 2])
def test_a_correlation_field_matches_by_type_and_value(carried):
    """True is not 1, and a text is no number; 1.0 is 1."""
    wanted = msgspec.structs.replace(INTACT, match=(("run", 1),))
    assert verdict(wanted, good(fields=(("run", 1.0),))) is Verdict.SATISFIED
    finding = qualify(wanted, CONTEXT, good(fields=(("run", carried),)), (), NOW).finding
    assert (finding.verdict, finding.negative) == (Verdict.UNSATISFIED, False)
    assert finding.reasons[0] == "E.mismatch"


@pytest.mark.parametrize("reverse", [False, True])
def test_of_two_receptions_of_one_record_the_first_counts(reverse):
    """Received before its own stamp: its clock leads, and another copy of it later does not undo that."""
    one = msgspec.structs.replace(INTACT, count=1)
    ahead = msgspec.structs.replace(good()[0], received=114 * S)
    again = msgspec.structs.replace(ahead, received=116 * S)
    samples = [again, ahead] if reverse else [ahead, again]
    result = qualify(one, CONTEXT, samples, (), NOW)
    assert result.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert {refused.code for refused in result.refused} == {"E.future", "E.duplicate"}


def test_the_same_unreadable_record_twice_is_no_contradiction():
    twice = [good(value=math.nan)[0]] * 2
    assert not qualify(INTACT, CONTEXT, twice, (), NOW).finding.integrity
