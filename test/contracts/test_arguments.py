"""Arguments of requests: one reading or a refusal with a stable code."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_ea_ros.contracts.arguments import MAX_TEXT, ArgumentFault, check_arguments
from adf_ea_ros.contracts.loader import load_files, read_text
from adf_ea_ros.contracts.model import CapabilityContract

CONFIG = Path(__file__).parents[2] / "config"
CODES = {"A.json", "A.unknown", "A.missing", "A.type", "A.range", "A.choice", "A.nan"}
HEAT_TO = load_files([CONFIG / "contracts" / "heat_to.yaml"]).contracts[0]


def with_parameters(parameters: dict) -> CapabilityContract:
    """heat_to with other parameters; its effects are of no interest here."""
    return HEAT_TO.model_copy(
        update={"parameters": {n: _parameter(p) for n, p in parameters.items()}},
    )


def _parameter(fields: dict):
    from adf_ea_ros.contracts.model import Parameter

    return Parameter.model_validate(fields)


def test_accepts_text_and_mapping_alike():
    wanted = {"sample": "s1", "target": 80.0}
    for given_ in (
        '{"target": 80, "sample": "s1"}',
        {"sample": "s1", "target": 80},
        '{"sample":"s1","target":8e1}',
    ):
        checked = check_arguments(HEAT_TO, given_)
        assert checked == wanted
        assert list(checked) == ["sample", "target"]  # in the order of the contract, however it was written
        assert type(checked["target"]) is float


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("A.json", "{"),
        ("A.json", "[]"),
        ("A.json", "null"),
        ("A.json", '"sample"'),
        ("A.json", '{"sample": "s1", "target": 80, "target": 90}'),
        ("A.json", '{"sample": "s1", "target": {"a": 1, "a": 2}}'),
        ("A.json", "{" * 50_000),
        ("A.json", '{"sample": ' + "[" * 30_000),
        ("A.json", '{"sample": "' + "x" * 70_000 + '"}'),
        ("A.json", "{'sample': 's1'}"),
        ("A.unknown", '{"sample": "s1", "target": 80, "speed": 3}'),
        ("A.missing", '{"sample": "s1"}'),
        ("A.missing", "{}"),
        ("A.missing", ""),
        ("A.type", '{"sample": "s1", "target": "80"}'),
        ("A.type", '{"sample": "s1", "target": true}'),
        ("A.type", '{"sample": "s1", "target": null}'),
        ("A.type", '{"sample": "s1", "target": [80]}'),
        ("A.type", '{"sample": 1, "target": 80}'),
        ("A.type", '{"sample": "s\\u00001", "target": 80}'),
        ("A.type", '{"sample": "\\ud800", "target": 80}'),
        ("A.range", '{"sample": "s1", "target": 19.999}'),
        ("A.range", '{"sample": "s1", "target": 100.001}'),
        ("A.range", '{"sample": "s1", "target": 1' + "0" * 400 + "}"),
        ("A.range", '{"sample": "s1", "target": -1' + "0" * 9000 + "}"),
        ("A.range", '{"sample": "' + "s" * (MAX_TEXT + 1) + '", "target": 80}'),
        ("A.nan", '{"sample": "s1", "target": NaN}'),
        ("A.nan", '{"sample": "s1", "target": -Infinity}'),
        ("A.nan", '{"sample": "s1", "target": 1e999}'),
        ("A.choice", '{"sample": "s 1", "target": 80}'),
        ("A.choice", '{"sample": "", "target": 80}'),
    ],
)
def test_refusals(code, text):
    with pytest.raises(ArgumentFault) as caught:
        check_arguments(HEAT_TO, text)
    assert caught.value.code == code
    assert len(str(caught.value)) < 600


def test_nan_in_a_mapping():
    with pytest.raises(ArgumentFault) as caught:
        check_arguments(HEAT_TO, {"sample": "s1", "target": math.nan})
    assert (caught.value.code, caught.value.argument) == ("A.nan", "target")


def test_defaults_integers_choices_booleans():
    contract = with_parameters(
        {
            "count": {"type": "integer", "minimum": 1, "default": 3},
            "mode": {"type": "string", "choices": ("slow", "fast"), "default": "slow"},
            "dry": {"type": "boolean", "default": False},
        }
    )
    assert check_arguments(contract, "") == {"count": 3, "mode": "slow", "dry": False}
    assert check_arguments(contract, '{"count": 5.0}')["count"] == 5
    assert type(check_arguments(contract, '{"count": 5.0}')["count"]) is int
    for code, text in (
        ("A.type", '{"count": 5.5}'),
        ("A.type", '{"count": true}'),
        ("A.range", '{"count": 0}'),
        ("A.range", '{"count": 9223372036854775808}'),
        ("A.choice", '{"mode": "fsat"}'),
        ("A.type", '{"dry": 0}'),
        ("A.type", '{"dry": "false"}'),
    ):
        with pytest.raises(ArgumentFault) as caught:
            check_arguments(contract, text)
        assert caught.value.code == code, text


def test_minus_zero_is_zero():
    contract = with_parameters({"x": {"type": "number"}})
    assert math.copysign(1, check_arguments(contract, '{"x": -0.0}')["x"]) == 1


def test_suggests_the_nearest_name():
    with pytest.raises(ArgumentFault, match="did you mean 'target'"):
        check_arguments(HEAT_TO, {"sample": "s1", "traget": 80})


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda v: (
        st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["sample", "target", "x"]), v, max_size=3)
    ),
)


def outcome(text: str) -> str:
    try:
        checked = check_arguments(HEAT_TO, text)
    except ArgumentFault as fault:
        return fault.code
    return "ok" if isinstance(checked["sample"], str) and 20 <= checked["target"] <= 100 else "wrong"


@settings(deadline=None)
@given(st.text(max_size=80) | ANY_JSON.map(json.dumps))
def test_any_text_is_checked_or_refused(text):
    assert outcome(text) in {*CODES, "ok"}


def test_an_argument_cannot_smuggle_another_into_a_subject():
    text = (CONFIG / "contracts" / "heat_to.yaml").read_text().replace('    pattern: "[A-Za-z0-9_-]+"\n', "")
    contract = read_text(text).contracts[0]
    arguments = check_arguments(contract, {"sample": "{target}", "target": 80})
    condition = contract.effects["heated"].condition.ground(arguments, contract.subject)
    assert condition.subject == "{target}"
