"""Interface definitions: reading them, finding them, and providers against them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adf_ea_ros.contracts.against_interfaces import check_interfaces
from adf_ea_ros.contracts.compatibility import LiveInterface, route_drift, tool_drift
from adf_ea_ros.contracts.interfaces import (
    InterfaceError,
    brought_by,
    find_interface,
    installed_types,
    parse_interface,
    read_interface,
    resolve,
    type_hashes,
)
from adf_ea_ros.contracts.loader import read_text

ROOT = Path(__file__).parents[2]
DEFINITIONS = {
    "std_msgs/msg/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
    "geometry_msgs/msg/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    "robot_msgs/msg/Reading": "std_msgs/Header header\nfloat64 value # mm\nfloat64[] many\nstring<=8 "
    "word\nbool ok\n",
    "geometry_msgs/msg/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "robot_msgs/msg/Flat": "float64 x\nfloat64 y\n",
    "robot_msgs/msg/Seen": (
        "std_msgs/Header header\ngeometry_msgs/Point place\ngeometry_msgs/Point goal\nFlat flat\n"
        "geometry_msgs/Quaternion turn\nfloat64 value\nfloat64[] many\nstring word\nstring[] words\n"
    ),
    "robot_msgs/action/Move": (
        "# Move one axis.\n\nint32 SLOW=1\n# where to go\nfloat64 target # mm, from home\nstring axis 'x'\n"
        "bool[3] flags\ngeometry_msgs/Quaternion turn\nReading[<=4] readings\n---\nbool success\n---\n"
    ),
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A prefix with the definitions above and this package's own, as a build would install them."""
    own = {
        f"adf_ea_ros/{kind}/{p.stem}": p.read_text()
        for kind in ("msg", "srv", "action")
        for p in (ROOT / kind).glob(f"*.{kind}")
    }
    for name, text in {**DEFINITIONS, **own}.items():
        package, kind, stem = name.split("/")
        folder = tmp_path / "share" / package / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.{kind}").write_text(text)
    described = {
        "type_hashes": [{"type_name": "robot_msgs/action/Move", "hash_string": "RIHS01_" + "a" * 64}]
    }
    (tmp_path / "share/robot_msgs/action/Move.json").write_text(json.dumps(described))
    (tmp_path / "share/robot_msgs/msg/Reading.json").write_text("{")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    return tmp_path


def test_parse(installed):
    move = find_interface("robot_msgs/action/Move")
    target, axis, flags, turn, readings = move.sections["goal"]
    assert (target.name, target.kind, target.unit) == ("target", "number", "mm")
    assert (axis.kind, flags.kind, flags.array) == ("string", "boolean", True)
    assert (turn.type, turn.kind) == ("geometry_msgs/msg/Quaternion", "")
    assert (readings.type, readings.array) == ("robot_msgs/msg/Reading", True)
    assert move.sections["feedback"] == ()
    assert move.comment == "Move one axis."


@pytest.mark.parametrize(
    ("type_name", "text", "word"),
    [
        ("a_msgs/srv/X", "int32 a", "2 sections"),
        ("a_msgs/action/X", "int32 a\n---\n", "3 sections"),
        ("a_msgs/msg/X", "int32", "not understood"),
        ("a_msgs/msg/X", "this is; no field", "not understood"),
        ("a_msgs/X", "int32 a", "not an interface type"),
    ],
)
def test_parse_refuses(type_name, text, word):
    with pytest.raises(InterfaceError, match=word):
        parse_interface(type_name, text)


def test_what_is_not_installed_says_what_brings_it(installed):
    with pytest.raises(InterfaceError, match="nav2-msgs brings it"):
        find_interface("nav2_msgs/action/NavigateToPose")
    assert brought_by("control_msgs/msg/X") == "ros-$ROS_DISTRO-control-msgs"


def test_read_file(tmp_path):
    folder = tmp_path / "my_msgs" / "srv"
    folder.mkdir(parents=True)
    (folder / "Set.srv").write_text("bool lit\n---\n")
    assert read_interface(folder / "Set.srv").type == "my_msgs/srv/Set"
    (folder / "Set.srv").write_bytes(b"\xff\xfe")
    for path in (folder / "Set.srv", folder / "None.srv", folder / "x.txt"):
        with pytest.raises(InterfaceError):
            read_interface(path)


def test_resolve(installed):
    move = find_interface("robot_msgs/action/Move")
    assert resolve(move, "goal", "target").kind == "number"
    assert resolve(move, "goal", "turn.w").kind == "number"
    assert resolve(move, "goal", "readings[0].header.stamp").type == "builtin_interfaces/msg/Time"
    assert resolve(move, "goal", "readings[-1].many[2]").array is False
    for path, word in (
        ("traget", "did you mean 'target'"),
        ("target.x", "it has no fields"),
        ("readings.value", "is a list"),
        ("target[0]", "is not a list"),
        ("turn.v", "no field 'v'"),
    ):
        with pytest.raises(InterfaceError, match=word):
            resolve(move, "goal", path)


def test_hashes_and_completion(installed):
    assert type_hashes("robot_msgs/action/Move")["robot_msgs/action/Move"].startswith("RIHS01_a")
    assert type_hashes("robot_msgs/srv/None") == {}
    with pytest.raises(InterfaceError, match="type description"):
        type_hashes("robot_msgs/msg/Reading")
    assert "robot_msgs/action/Move" in installed_types("action")


PROVIDERS = """\
spec: adf_ea_ros/1
kind: provider
id: axis
version: 1.0.0
lifecycle: active
node: /axis
tool:
  kind: action
  name: /axis/move
  type: robot_msgs/action/Move
  provides: move
  arguments: {target: target, axis: axis}
  yaw: {turn: heading}
  constants: {"flags[0]": true}
evidence: {}
routes:
  value:
    topic: /axis/value
    type: robot_msgs/msg/Reading
    path: axis/value
    subject: {field: header.frame_id}
    value: {field: value}
    stamp: header.stamp
    correlation: {axis: word}
---
spec: adf_ea_ros/1
kind: capability
id: move
version: 1.0.0
subject: axis
parameters:
  target: {type: number}
  axis: {type: string}
  heading: {type: number, unit: rad}
effects: {there: {kind: state, condition: {path: axis/value, eq: {argument: target}}}}
evidence: {seen: {effect: there, role: SAME_PROVIDER, max_age: 1 s}}
interruption:
  effect_absent: [stop]
  evidence_insufficient: [stop]
  evidence_conflicting: [stop]
  outcome_unknown: [stop]
  provider_unavailable: [stop]
  state_lost: [stop]
"""


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("", "", ""),
        ("{target: target,", "{traget: target,", "did you mean 'target'"),
        ("{target: target, axis: axis}", "{target: axis, axis: target}", "which takes no"),
        ("yaw: {turn: heading}", "yaw: {readings: heading}", "not geometry_msgs/msg/Quaternion"),
        ('{"flags[0]": true}', '{"flags[0]": 1}', "takes no integer"),
        ('{"flags[0]": true}', "{flags: true}", "name one element"),
        ("value: {field: value}", "value: {field: many}", "name one element"),
        ("value: {field: value}", "value: {field: header}", "not a single value"),
        ("value: {field: value}", "value: {field: values}", "did you mean 'value'"),
        ("stamp: header.stamp", "stamp: header.frame_id", "not builtin_interfaces/msg/Time"),
        ("correlation: {axis: word}", "correlation: {axis: wort}", "did you mean 'word'"),
        ("correlation: {axis: word}", "producer: words", "did you mean 'word'"),
        ("subject: {field: header.frame_id}", "subject: {field: header.frame}", "frame_id"),
    ],
)
def test_fields_of_providers(installed, old, new, word):
    assert old in PROVIDERS
    loaded = read_text(PROVIDERS.replace(old, new, 1) if old else PROVIDERS)
    assert not loaded.faults
    faults, notes = check_interfaces(loaded.documents)
    assert notes == []
    assert [word in fault.message and fault.line > 0 for fault in faults] == (
        [True] * len(faults) if word else []
    )
    assert bool(faults) == bool(word)


DERIVED = """\
spec: adf_ea_ros/1
kind: provider
id: eye
version: 1.0.0
lifecycle: active
node: /eye
routes:
  seen:
    topic: /eye/seen
    type: robot_msgs/msg/Seen
    path: axis/value
    subject: {{field: header.frame_id}}
    value: {{field: {field}}}
    stamp: header.stamp
    derive: {derive}
"""


@pytest.mark.parametrize(
    ("field", "derive", "word"),
    [
        ("value", "{kind: number, scale: 2.0}", ""),
        ("word", "{kind: number}", "is string, which is not a number"),
        ("many", "{kind: number}", "is float64[], which is not a number"),
        ("place", "{kind: number}", "is geometry_msgs/msg/Point, which is not a number"),
        ("place", "{kind: norm}", ""),
        ("many", "{kind: norm}", ""),
        ("words", "{kind: norm}", "is string[], which is not a vector"),
        ("header", "{kind: norm}", "which is not a vector"),
        ("place", "{kind: distance, to: [1.0, 2.0, 3.0]}", ""),
        ("flat", "{kind: distance, to: [1.0, 2.0]}", ""),
        ("flat", "{kind: distance, to: [1.0, 2.0, 3.0]}", "which is not a position in space"),
        ("value", "{kind: distance, to: [1.0, 2.0]}", "which is not a position in the plane"),
        ("place", "{kind: distance, to_field: goal}", ""),
        ("place", "{kind: distance, to_field: gaol}", "did you mean 'goal'"),
        ("place", "{kind: distance, to_field: turn.w}", "is float64, which is not a vector"),
        ("turn", "{kind: yaw}", ""),
        ("turn", "{kind: angle, to: {w: 1.0}}", ""),
        ("place", "{kind: yaw}", "which is not a rotation"),
        ("turn", "{kind: angle, to_field: place}", "which is not a rotation"),
        ("trun", "{kind: yaw}", "did you mean 'turn'"),
    ],
)
def test_derivations_fit_their_fields(installed, field, derive, word):
    loaded = read_text(DERIVED.format(field=field, derive=derive))
    assert not loaded.faults
    faults, _ = check_interfaces(loaded.documents)
    assert [word in fault.message and fault.line > 0 for fault in faults] == ([True] if word else [])


@pytest.mark.parametrize(
    ("field", "derive", "word"),
    [
        ("place", "{kind: distance, to_field: 'a b'}", "to_field"),
        ("place", "{kind: distance}", "give either to or to_field"),
        ("turn", "{kind: angle, to: {w: 0.0}}", "length 1"),
        ("value, map: {a: 1}", "{kind: number}", "leave out value.map"),
        ("value", "{kind: number, scale: 0.0}", "scale of 0"),
    ],
)
def test_derivations_that_make_no_number_are_told_at_load(field, derive, word):
    (fault,) = read_text(DERIVED.format(field=field, derive=derive)).faults
    assert word in f"{fault.path}: {fault.message}"


@pytest.mark.parametrize(
    ("value", "clause", "parameter", "word"),
    [
        ("value", "eq: {argument: target}", "number", ""),
        ("value", "eq: {argument: target}", "integer", ""),
        ("value", "gte: 3", "number", ""),
        (
            "value",
            "eq: true",
            "number",
            "axis/value gives a number, and the condition compares it with a boolean",
        ),
        (
            "value",
            "eq: {argument: target}",
            "string",
            "gives a number, and the condition compares it with a string",
        ),
        ("word", "lt: 2.5", "number", "gives a string, and the condition compares it with a number"),
        ("ok", "eq: 1", "number", "gives a boolean, and the condition compares it with an integer"),
        ("ok, map: {'true': shut}", "eq: shut", "number", ""),
        (
            "ok, map: {'true': shut}",
            "eq: true",
            "number",
            "gives a string, and the condition compares it with a boolean",
        ),
    ],
)
def test_readings_can_be_compared_with_the_bound(installed, value, clause, parameter, word):
    text = PROVIDERS.replace("evidence: {}", "evidence: {seen: [axis/value]}").replace(
        "value: {field: value}", f"value: {{field: {value}}}"
    )
    text = text.replace("eq: {argument: target}", clause).replace(
        "target: {type: number}", f"target: {{type: {parameter}}}"
    )
    text = text.replace(
        "arguments: {target: target, axis: axis}", "unmapped: [target]\n  arguments: {axis: axis}"
    )
    loaded = read_text(text)
    assert not loaded.faults
    faults, _ = check_interfaces(loaded.documents)
    assert [word in fault.message and fault.line > 0 for fault in faults] == ([True] if word else [])


def test_a_tasks_readings_can_be_compared_with_its_condition(installed):
    task = """---
spec: adf_ea_ros/1
kind: task
id: keep
version: 1.0.0
obligations:
  there:
    kind: preserve
    condition: {subject: axis, path: axis/value, eq: true}
    evidence: {role: SAME_PROVIDER, max_age: 1 s}
    routes: [axis/value]
budgets: {physical: 1, observation: 1}
"""
    (fault,), _ = check_interfaces(read_text(PROVIDERS + task).documents)
    assert (fault.path, "compares it with a boolean" in fault.message) == (
        "obligations.there.routes[0]",
        True,
    )


def test_types_that_are_not_installed_are_no_fault(installed):
    loaded = read_text(PROVIDERS.replace("robot_msgs/action/Move", "other_msgs/action/Move"))
    faults, notes = check_interfaces(loaded.documents)
    assert faults == []
    assert len(notes) == 1
    assert "ros-$ROS_DISTRO-other-msgs brings it): other_msgs/action/Move" in notes[0]


def test_the_demo_rig_fits_its_interfaces(installed):
    text = "\n---\n".join(p.read_text() for p in sorted((ROOT / "config" / "providers").glob("*.yaml")))
    text += "\n---\n" + "\n---\n".join(
        p.read_text() for p in sorted((ROOT / "config" / "contracts").glob("*.yaml"))
    )
    faults, notes = check_interfaces(read_text(text).documents)
    assert faults == []
    assert not any("adf_ea_ros" in note for note in notes)


HASH, OTHER = "RIHS01_" + "a" * 64, "RIHS01_" + "b" * 64


@pytest.mark.parametrize(
    ("live", "word"),
    [
        ([LiveInterface("/axis", "robot_msgs/action/Move", HASH)], ""),
        ([], "does not offer it"),
        ([LiveInterface("/other", "robot_msgs/action/Move", HASH)], "but /other does"),
        ([LiveInterface("/axis", "robot_msgs/action/Go", HASH)], "is of type robot_msgs/action/Go"),
        ([LiveInterface("/axis", "robot_msgs/action/Move", OTHER)], "another definition"),
        ([LiveInterface("/axis", "robot_msgs/action/Move")], "cannot be confirmed"),
        (
            [
                LiveInterface("/axis", "robot_msgs/action/Move", HASH),
                LiveInterface("/two", "robot_msgs/action/Move", HASH),
            ],
            "offered 2 times",
        ),
    ],
)
def test_drift_from_the_live_graph(live, word):
    text = PROVIDERS.replace("  provides: move", f"  type_hash: {HASH}\n  provides: move")
    provider = next(c for c in read_text(text).contracts if c.kind == "provider")
    assert word in tool_drift(provider.tool, provider.node, live)
    assert bool(word) == bool(tool_drift(provider.tool, provider.node, live))


def test_drift_of_a_readback():
    provider = next(c for c in read_text(PROVIDERS).contracts if c.kind == "provider")
    route = provider.routes["value"]
    own, other = LiveInterface("/axis", route.type), LiveInterface("/stranger", route.type)
    assert route_drift(route, "/axis", [own]) == route_drift(route, "/axis", [own, other]) == ""
    assert "but /stranger does" in route_drift(route, "/axis", [other])


SERVICE_GATE = """
spec: adf_ea_ros/1
kind: provider
id: switch
version: 1.0.0
lifecycle: active
node: /switch
tool:
  kind: service
  name: /switch/set
  type: {type}
  provides: switch_set
  promises: {{commit_bound: 1 s}}
---
spec: adf_ea_ros/1
kind: gate
id: switch_gate
version: 1.0.0
name: /gate/switch
provider: switch
task: anything
redundant: reject
{more}
"""


@pytest.mark.parametrize(
    ("type_name", "more", "told"),
    [
        ("demo/srv/Switch", "", []),
        ("demo/srv/Mute", "", [(15, "reply.refused: demo/srv/Mute has no boolean field 'success'")]),
        ("demo/srv/Mute", "reply: {refused: {code: 1}, text: words}", []),
        ("demo/srv/Mute", "reply: {refused: {cod: 1}}", [(23, "has no field 'cod'; did you mean 'code'?")]),
        ("demo/srv/Mute", "reply: {refused: {code: word}}", [(23, "is int32, which takes no string")]),
        (
            "demo/srv/Mute",
            "reply: {refused: {code: 1}, text: code}",
            [(23, "is int32, which takes no string")],
        ),
        ("demo/srv/Switch", "fields: {lit: litt}", [(23, "has no field 'litt'; did you mean 'lit'?")]),
        ("demo/srv/Switch", "ignored: [dark]", [(23, "has no field 'dark'")]),
    ],
)
def test_gates_against_interfaces(tmp_path, monkeypatch, type_name, more, told):
    folder = tmp_path / "share" / "demo" / "srv"
    folder.mkdir(parents=True)
    (folder / "Switch.srv").write_text("bool lit\n---\nbool success\nstring message\n")
    (folder / "Mute.srv").write_text("bool lit\n---\nint32 code\nstring words\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    text = SERVICE_GATE.format(type=type_name, more=more)
    faults, notes = check_interfaces(read_text(text).documents)
    assert notes == []
    assert len(faults) == len(told)
    for fault, (line, part) in zip(faults, told, strict=True):
        assert fault.line == line
        assert part in f"{fault.path}: {fault.message}"
