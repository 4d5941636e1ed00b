"""Durations and units."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_ea_ros.contracts.units import (
    DURATION_PATTERN,
    UNITS,
    format_duration,
    mismatch,
    parse_duration,
    unit_fault,
)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("20 s", 20 * 10**9),
        ("20s", 20 * 10**9),
        ("0.5 ms", 500_000),
        ("1.5 h", 5400 * 10**9),
        (" 2 min ", 120 * 10**9),
        ("7 ns", 7),
        ("0 s", 0),
        ("0.000000001 s", 1),
    ],
)
def test_durations(text, ns):
    assert parse_duration(text) == ns
    assert re.fullmatch(DURATION_PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20",
        20,
        20.0,
        None,
        True,
        "s",
        "-1 s",
        "+1 s",
        "1e3 s",
        "20 S",
        "1,5 s",
        "1.s",
        ".5 s",
        "20 s s",
        "inf s",
        "20\ts\x00",
        "9" * 13 + " s",
        ["1 s"],
    ],
)
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)
    assert not isinstance(text, str) or not re.fullmatch(DURATION_PATTERN, text)


@given(st.integers(0, 2**62))
def test_round_trip(span):
    spelling = format_duration(span)
    if len(spelling.split()[0]) <= 12:
        assert parse_duration(spelling) == span


def test_units():
    assert all(unit_fault(unit) == "" for unit in UNITS)
    assert unit_fault("") == unit_fault("x-drops") == ""
    assert "did you mean 'degC'" in unit_fault("celsius")
    assert "did you mean 'percent'" in unit_fault("%")
    assert "did you mean 'mL'" in unit_fault("ml")
    assert "is not a known unit" in unit_fault("furlongs")
    assert mismatch("m", "m") == ""
    assert "nothing is converted" in mismatch("m", "mm")
    assert "nothing is converted" not in mismatch("m", "s")
    assert mismatch("m", "") == "no unit where 'm' is expected"
