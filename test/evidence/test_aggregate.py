"""From requirements to effects and steps (section B.2), and what becomes of negative evidence on the way."""

import itertools

import pytest

from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.evidence.aggregate import Conclusion, aggregate, aggregate_step
from adf_ea_ros.evidence.types import Finding, Verdict

OPEN = Condition("door", "open", (Clause(Operator.EQ, True),))


def finding(verdict, **changes):
    known = {"basis": ("o1",), "captured": 5, "valid_until": 9} if verdict is Verdict.SATISFIED else {}
    return Finding("r", OPEN, verdict, 7, **(known | changes))


ABSENT = finding(Verdict.UNSATISFIED, negative=True, against=1, basis=("o2",), captured=4, valid_until=8)
ORDER = [Verdict.UNSATISFIED, Verdict.UNKNOWN, Verdict.INSUFFICIENT_EVIDENCE, Verdict.SATISFIED]


@pytest.mark.parametrize("verdicts", list(itertools.product(Verdict, repeat=3)))
def test_the_weakest_verdict_in_the_papers_order_decides(verdicts):
    expected = min(verdicts, key=ORDER.index)
    assert aggregate(finding(each) for each in verdicts).verdict is expected
    assert aggregate_step(Conclusion(each) for each in verdicts).verdict is expected


def test_nothing_confirms_nothing():
    assert aggregate([]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert aggregate_step([]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert not aggregate([]).confirmed


def test_a_confirmation_needs_a_basis():
    assert aggregate([finding(Verdict.SATISFIED)]).confirmed
    assert not aggregate([finding(Verdict.SATISFIED, basis=())]).confirmed


def test_a_conclusion_is_as_old_as_its_oldest_part_and_ends_with_the_first():
    parts = [
        finding(Verdict.SATISFIED),
        finding(Verdict.SATISFIED, basis=("o3", "o1"), captured=2, valid_until=12),
    ]
    result = aggregate(parts)
    assert (result.captured, result.valid_until, result.basis) == (2, 9, ("o1", "o3"))


@pytest.mark.parametrize("verdict", list(Verdict))
def test_an_integrity_failure_anywhere_grants_nothing(verdict):
    broken = finding(Verdict.UNKNOWN, integrity="E.occurrence: o1")
    for parts in ([finding(verdict), broken], [broken, ABSENT]):
        result = aggregate(parts)
        assert (result.verdict, result.negative, result.confirmed) == (Verdict.UNKNOWN, False, False)
        assert result.integrity
        assert aggregate_step([Conclusion(Verdict.SATISFIED, basis=("x",)), result]).integrity


def test_negative_evidence_of_one_requirement_suffices_where_nothing_speaks_for_the_effect():
    assert aggregate([ABSENT]).negative
    assert aggregate([ABSENT, finding(Verdict.INSUFFICIENT_EVIDENCE)]).negative
    assert aggregate([ABSENT]).basis == ("o2",)


@pytest.mark.parametrize(
    "other",
    [
        finding(Verdict.SATISFIED, support=1),
        finding(Verdict.UNKNOWN),
        finding(Verdict.INSUFFICIENT_EVIDENCE, support=1),
        finding(Verdict.UNSATISFIED, support=1, against=2),
    ],
)
def test_anything_that_speaks_for_the_effect_bars_negative_evidence(other):
    assert not aggregate([ABSENT, other]).negative


def test_unsatisfied_alone_is_not_negative():
    assert not aggregate([finding(Verdict.UNSATISFIED, reasons=("E.mismatch",))]).negative


def test_a_step_is_negative_only_where_every_effect_is():
    absent = aggregate([ABSENT])
    assert aggregate_step([absent, absent]).negative
    for verdict in Verdict:
        assert not aggregate_step([absent, aggregate([finding(verdict)])]).negative
