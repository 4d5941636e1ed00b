"""Drafts and their review: what sources say, what stays blank, and when a contract becomes active."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_ea_ros.contracts.blanks import is_blank
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.interfaces import parse_interface
from adf_ea_ros.contracts.loader import read_text
from adf_ea_ros.contracts.onboarding.draft import DraftError, clean, render, render_all, safe_name, scalar
from adf_ea_ros.contracts.onboarding.finalize import Answers, finalize, open_questions
from adf_ea_ros.contracts.onboarding.from_mcp import drafts_from_mcp
from adf_ea_ros.contracts.onboarding.from_ros import draft_from_ros
from adf_ea_ros.contracts.onboarding.from_wot import drafts_from_wot
from adf_ea_ros.contracts.yamlsource import parse_documents

HEAT = parse_interface(
    "rig_msgs/action/Heat",
    "# Warm it.\n\nstring sample\nfloat64 target # degC\nfloat64[] ramp\n---\nbool success\n---\n",
)
THING = {
    "@context": "https://www.w3.org/2022/wot/td/v1.1",
    "title": "Kettle",
    "properties": {
        "temperature": {"type": "number", "unit": "degree celsius", "readOnly": True, "forms": []},
        "setpoint": {"type": "number", "unit": "celsius", "minimum": 20, "maximum": 100},
        "pin": {"type": "string", "writeOnly": True},
    },
    "actions": {
        "boilWater": {
            "title": "Boil",
            "description": "Boils\nthe water.",
            "safe": False,
            "idempotent": True,
            "input": {
                "type": "object",
                "properties": {
                    "volume": {
                        "type": "integer",
                        "unit": "mL",
                        "minimum": 100,
                        "maximum": 1500,
                        "default": 500,
                    },
                    "mode": {"enum": ["soft", "hard"], "default": "soft"},
                    "steps": {"type": "array"},
                    "on": {"type": "boolean"},
                },
            },
            "forms": [{"href": "http://kettle.local/boil"}],
        },
        "keepWarm": {"input": {"type": "number", "unit": "furlong"}},
        "stop": {},
    },
}
TOOL = {
    "name": "open-door",
    "description": "Opens a door.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "door": {"type": "string"},
            "speed": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Note"},
            "mode": {"$ref": "#/$defs/Mode", "description": "How."},
            "unit": {"const": "m"},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
            "round": {"$ref": "#/$defs/Round"},
            "gone": {"$ref": "#/$defs/Gone"},
        },
        "$defs": {
            "Mode": {"enum": ["slow", "fast"], "title": "Mode"},
            "Round": {"$ref": "#/$defs/Round"},
        },
    },
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": False, "idempotentHint": True, "openWorldHint": False},
}


def as_bytes(value) -> bytes:
    return json.dumps(value).encode()


def only_blanks(text: str) -> list[str]:
    """The faults of a draft that are no blanks."""
    return [str(f) for f in read_text(text).faults if "a blank to be filled" not in f.message]


# ---------------------------------------------------------------------------------------------------------
# drafts


def test_from_ros():
    draft = draft_from_ros(HEAT, "/rig/heater_a/heat", "heat_to")
    assert [(p.name, p.type, p.unit, p.field) for p in draft.parameters] == [
        ("sample", "string", "", "sample"),
        ("target", "number", "degC", "target"),
    ]
    assert draft.description == "Warm it."
    assert any("ramp" in note for note in draft.notes)
    text = render(draft)
    assert only_blanks(text) == []
    capability, provider, readback = (raw.data for raw in parse_documents(text, lambda *_: None))
    assert provider["tool"]["arguments"] == {"sample": "sample", "target": "target"}
    assert "success" in text.partition("Might show")[2]  # only to say that it is no evidence
    for value in (
        capability["effects"]["done"]["condition"]["path"],
        capability["effects"]["done"]["condition"]["eq"],
        capability["evidence"]["done_seen"]["role"],
        capability["subject"],
        provider["node"],
        readback["routes"]["state"]["topic"],
    ):
        assert is_blank(value)
    assert {c["lifecycle"] for c in (capability, provider, readback)} == {"draft"}


def test_no_draft_is_executable_even_if_called_active():
    text = render(draft_from_ros(HEAT, "/heat"))
    for candidate in (text, text.replace("lifecycle: draft", "lifecycle: active")):
        with pytest.raises(ContractError, match="a blank to be filled"):
            Catalog.of(read_text(candidate))


def test_from_wot():
    drafts = {d.id: d for d in drafts_from_wot(as_bytes(THING), "kettle.json")}
    assert set(drafts) == {"boil_water", "keep_warm", "stop"}
    boil = drafts["boil_water"]
    assert [(p.name, p.type, p.unit) for p in boil.parameters] == [
        ("volume", "integer", "mL"),
        ("mode", "string", ""),
        ("do_on", "boolean", ""),  # `on` alone is another word in YAML
    ]
    assert boil.parameters[0].default == 500
    assert boil.parameters[1].choices == ("soft", "hard")
    assert dict(boil.claims) == {"safe": "false", "idempotent": "true"}
    assert any("steps" in note for note in boil.notes)
    assert any("kettle.local" in note for note in boil.notes)
    assert [hint.split()[1] for hint in boil.readbacks] == ["temperature", "setpoint"]
    assert any("furlong" in note for note in drafts["keep_warm"].notes)
    assert only_blanks(render_all(drafts.values())) == []


def test_a_claim_changes_nothing_by_itself():
    with_claim = drafts_from_wot(as_bytes(THING), "x", ("boilWater",))[0]
    raw = parse_documents(render(with_claim), lambda *_: None)[0].data
    assert raw["interruption"]["effect_absent"] == ["observe", "stop"]
    assert "retry" not in raw["interruption"]
    claim = raw["review"]["decisions"]["claim_idempotent"]
    assert claim["proposal"] == "the source says true"
    assert is_blank(claim["decision"])


def test_wot_properties_and_choice():
    drafts = drafts_from_wot(as_bytes(THING), "kettle.json", properties=True)
    assert [d.id for d in drafts] == ["boil_water", "keep_warm", "stop", "set_setpoint", "set_pin"]
    setpoint = drafts[3].parameters[0]
    assert (setpoint.name, setpoint.unit, setpoint.minimum, setpoint.maximum) == ("value", "degC", 20, 100)
    assert [d.id for d in drafts_from_wot(as_bytes(THING), "k", ("stop",))] == ["stop"]
    with pytest.raises(DraftError, match="boilWater"):
        drafts_from_wot(as_bytes(THING), "k", ("boil",))
    with pytest.raises(DraftError, match="--with-properties"):
        drafts_from_wot(as_bytes({**THING, "actions": {}}), "k")


def test_from_mcp():
    for content in (TOOL, [TOOL], {"tools": [TOOL]}, {"jsonrpc": "2.0", "result": {"tools": [TOOL]}}):
        (draft,) = drafts_from_mcp(as_bytes(content), "tools.json")
        assert draft.id == "open_door"
        assert [(p.name, p.type, p.choices, p.description) for p in draft.parameters] == [
            ("door", "string", (), ""),
            ("speed", "number", (), ""),
            ("note", "string", (), "Note"),
            ("mode", "string", ("slow", "fast"), "How."),
            ("unit", "string", ("m",), ""),
        ]
        assert [note.split()[1] for note in draft.notes[1:4]] == ["'either'", "'round'", "'gone'"]
        assert dict(draft.claims) == {"read_only": "false", "idempotent": "true", "open_world": "false"}
        assert only_blanks(render(draft)) == []
    with pytest.raises(DraftError, match="open-door"):
        drafts_from_mcp(as_bytes(TOOL), "tools.json", ("close-door",))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b"3",
        b'"x"',
        b"[" * 100_000,
        b'{"name": 3}',
        b'{"tools": 3}',
        b"null",
    ],
)
def test_sources_that_are_none(data):
    with pytest.raises(DraftError):
        drafts_from_mcp(data, "x")
    with pytest.raises(DraftError):
        drafts_from_wot(data, "x")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "input",
                    "unit",
                    "enum",
                    "default",
                    "title",
                    "forms",
                    "href",
                    "name",
                    "minimum",
                    "safe",
                    "$ref",
                    "anyOf",
                    "const",
                    "a\nb",
                    "??",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=50)
@given(JSON, JSON)
def test_any_json_makes_drafts_that_read_back_or_is_refused(actions, properties):
    thing = as_bytes(
        {"@context": "x", "actions": {"do it": actions, "\n# x: &y": properties}, "properties": properties}
    )
    text = render_all(drafts_from_wot(thing, "fuzz", properties=True))
    assert only_blanks(text) == []
    assert text.isprintable() or "\n" in text
    tool = as_bytes({"name": "do", "inputSchema": actions, "annotations": properties})
    assert only_blanks(render_all(drafts_from_mcp(tool, "fuzz"))) == []


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=60))
def test_names_are_names(text):
    name = safe_name(text)
    assert only_blanks(render(draft_from_ros(HEAT, "/x", name))) == []
    assert safe_name(text, [name]) != name


@given(
    st.text(max_size=60)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
def test_scalars_read_back(value):
    (raw,) = parse_documents(f"x: {scalar(value)}", lambda *_: pytest.fail("not YAML"))
    assert raw.data["x"] == (clean(value) if isinstance(value, str) else value)


# ---------------------------------------------------------------------------------------------------------
# review


def filled() -> str:
    """A draft with every blank outside the review filled."""
    text = render(draft_from_ros(HEAT, "/rig/heater_a/heat", "warm"))
    answers = {
        'subject: "?? what': 'subject: "{sample}"',
        'kind: "?? state': "kind: state",
        'path: "?? the state': "path: temperature\n      unit: degC",
        'eq: "?? the value': "gte: {argument: target, plus: -1}",
        'role: "??': "role: INDEPENDENT_SENSOR",
        'max_age: "??': "max_age: 20 s  # é: a comment that must stay",
        'node: "?? the node that serves': "node: /rig/heater_a",
        'node: "?? the node that publishes': "node: /rig/probe",
        'topic: "??': "topic: /rig/probe/temperature",
        'type: "?? its': "type: sensor_msgs/msg/Temperature",
        'path: "?? the same': "path: temperature\n    unit: degC",
        'subject: {const: "??': "subject: {field: header.frame_id}",
        'value: {field: "??': "value: {field: temperature}",
    }
    lines = []
    for line in text.splitlines():
        bare = line.strip()
        new = next((value for start, value in answers.items() if bare.startswith(start)), bare)
        lines.append(line[: len(line) - len(line.lstrip())] + new)
    return "\n".join(lines) + "\n"


ALL = Answers("Ann Lee", "2026-01-31", {"*": "accepted"}, frozenset({"*"}))


def test_finalize():
    text = filled()
    final = finalize(text, "warm.yaml", ALL)
    catalog = Catalog.of(read_text(final))
    assert catalog.obstacle("capability", "warm", 0) == catalog.obstacle("provider", "warm_server", 0) == ""
    review = catalog.capability("warm").review
    assert {d.by for d in review.decisions.values()} == {"Ann Lee"}
    assert review.attestations["effects_are_physical"].by == "Ann Lee"
    assert review.reviewed == "2026-01-31"
    assert len(review.fingerprint) == 64
    assert "# é: a comment that must stay" in final
    assert len(final.splitlines()) == len(text.splitlines())
    assert open_questions(final) == []


def test_before_it_is_final_nothing_is_bound():
    text = filled().replace('"?? your decision"', "yes it is").replace('"?? your name', '"Ann')
    catalog = Catalog.of(read_text(text))
    assert "draft" in catalog.obstacle("capability", "warm", 0)
    assert catalog.bindable_providers("warm", 0) == ()
    # Writing active by hand does not help: the review is not finished.
    with pytest.raises(ContractError, match="run adf-ea finalize"):
        Catalog.of(read_text(text.replace("lifecycle: draft", "lifecycle: active")))


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        (Answers("", "2026-01-31", {"*": "x"}, frozenset({"*"})), "name of the reviewer"),
        (Answers("??", "2026-01-31", {"*": "x"}, frozenset({"*"})), "name of the reviewer"),
        (Answers("Ann", "2026-01-31", {}, frozenset({"*"})), "decisions.effects.decision: a blank"),
        (
            Answers("Ann", "2026-01-31", {"*": "x"}, frozenset()),
            "attestations.effects_are_physical.by: a blank",
        ),
        (
            Answers("Ann", "2026-01-31", {"effects": "x", "evidence": "x"}, frozenset({"*"})),
            "decisions.interruption",
        ),
        (Answers("Ann", "2026-01-31", {"*": "??"}, frozenset({"*"})), "a blank"),
    ],
)
def test_finalize_needs_every_answer(answers, word):
    with pytest.raises(ContractError, match=word):
        finalize(filled(), "warm.yaml", answers)


def test_finalize_refuses_what_is_wrong_otherwise():
    kelvin = filled().replace("    path: temperature\n    unit: degC", "    path: temperature\n    unit: K")
    text = filled()
    cut = (
        text[: text.index("    evidence:\n      question")]
        + text[text.index("    interruption:\n      question") :]
    )
    with pytest.raises(ContractError, match=r"warm\.yaml:\d+: .*nothing is converted"):
        finalize(kelvin, "warm.yaml", ALL)
    with pytest.raises(ContractError, match="not YAML"):
        finalize(filled() + "x: [", "warm.yaml", ALL)
    with pytest.raises(ContractError, match="the decision 'evidence' is missing"):
        finalize(cut, "warm.yaml", ALL)


def test_an_edit_after_the_review_asks_for_a_new_one():
    final = finalize(filled(), "warm.yaml", ALL)
    edited = final.replace("max_age: 20 s", "max_age: 90 s")
    with pytest.raises(ContractError, match="changed after its review"):
        Catalog.of(read_text(edited))
    assert {q.id for q in open_questions(edited)} == {
        "effects",
        "evidence",
        "interruption",
        "effects_are_physical",
    }
    with pytest.raises(ContractError, match="needs a new answer"):
        finalize(edited, "warm.yaml", Answers("Bob", "2026-02-01", {"effects": "x"}, frozenset({"*"})))
    again = finalize(
        edited, "warm.yaml", Answers("Bob", "2026-02-01", {"*": "90 s is enough"}, frozenset({"*"}))
    )
    catalog = Catalog.of(read_text(again))
    assert catalog.capability("warm").review.decisions["evidence"].by == "Bob"
    assert (
        catalog.provider("warm_server").review.decisions["binding"].by == "Ann Lee"
    )  # not touched, not asked again


def test_finalize_twice_changes_nothing_but_the_date():
    final = finalize(filled(), "warm.yaml", ALL)
    assert finalize(final, "warm.yaml", ALL) == final


def test_others_may_be_referred_to():
    text = filled().replace("done_seen: [warm_readback/state]", "done_seen: [probe/temperature]")
    parts = text.split("---\n")
    probe = (
        parts[2]
        .replace("id: warm_readback", "id: probe")
        .replace("  state:\n    topic", "  temperature:\n    topic")
    )
    others = read_text(finalize(probe, "probe.yaml", ALL))
    own = "---\n".join(parts[:2])
    with pytest.raises(ContractError, match="no provider 'probe'"):
        finalize(own, "warm.yaml", ALL)
    assert Catalog.of(others + read_text(finalize(own, "warm.yaml", ALL, others))).providers_of("warm")
