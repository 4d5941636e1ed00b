"""Fault parameters are checked, all at once, and say when they apply."""

import math

import pytest

from adf_ea_ros.sim.faults import (
    SECOND,
    FaultError,
    HeaterFaultKind,
    ProbeFaultKind,
    RecorderFaultKind,
    heater_fault,
    probe_fault,
    recorder_fault,
)


@pytest.mark.parametrize("kind", [kind.value for kind in HeaterFaultKind])
def test_every_heater_fault_can_be_named(kind):
    assert heater_fault(kind).kind == HeaterFaultKind(kind)


@pytest.mark.parametrize("kind", [kind.value for kind in ProbeFaultKind])
def test_every_probe_fault_can_be_named(kind):
    assert probe_fault(kind).kind == ProbeFaultKind(kind)


@pytest.mark.parametrize("kind", [kind.value for kind in RecorderFaultKind])
def test_every_recorder_fault_can_be_named(kind):
    assert recorder_fault(kind).kind == RecorderFaultKind(kind)


def test_all_faults_of_the_parameters_are_told_at_once():
    with pytest.raises(FaultError) as caught:
        heater_fault("melts", uses=-1, delay=math.nan, answers=-2)
    for part in ("'melts'", "no_effect", "uses is -1", "delay is nan", "answers is -2"):
        assert part in str(caught.value)


@pytest.mark.parametrize("age", [-1.0, math.inf, math.nan])
def test_an_impossible_age_is_refused(age):
    with pytest.raises(FaultError, match="age"):
        probe_fault("stale", age=age)


def test_a_negative_count_is_refused():
    with pytest.raises(FaultError, match="uses is -3"):
        recorder_fault("down", uses=-3)
    with pytest.raises(FaultError, match="samples is -3"):
        probe_fault("drop", samples=-3)


def test_spans_become_nanoseconds():
    assert heater_fault(delay=2.5).delay == 2_500_000_000
    assert probe_fault(age=7).age == 7 * SECOND


def test_uses_count_from_the_first():
    fault = heater_fault("no_effect", uses=2)
    assert [fault.affects(n) for n in (1, 2, 3)] == [True, True, False]
    assert recorder_fault("no_effect").affects(1000)
    assert not recorder_fault("none", uses=5).affects(1)


def test_samples_count_from_the_heating():
    fault = probe_fault("drop", samples=2)
    assert [fault.affects(n) for n in (None, 0, 1, 2, 3)] == [False, True, True, True, False]
    assert probe_fault("drop").affects(None)
    assert not probe_fault("none").affects(1)
