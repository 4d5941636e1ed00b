"""A draft: what a source says about a capability, and blanks for what no source can know (section 3.2).

The source proposes names, arguments, units and ranges. What it claims about safety or idempotency becomes a
question to the reviewer and changes nothing by itself. Effect, evidence and recovery are always blank or at
their
most cautious. The text that ``render`` gives is a contract file with ``lifecycle: draft``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

import msgspec

from adf_ea_ros.contracts.blanks import MARK, blank
from adf_ea_ros.contracts.conditions import Value

CAUTIOUS = """\
interruption:  # nothing is repeated unless you decide so
  effect_absent: [observe, stop]
  evidence_insufficient: [observe, stop]
  evidence_conflicting: [observe, stop]
  outcome_unknown: [observe, stop]
  provider_unavailable: [stop]
  state_lost: [stop]
"""
_SIMPLE = re.compile(r"[A-Za-z/{][A-Za-z0-9_/.{}-]*")
_RESERVED = frozenset(("yes", "no", "on", "off", "true", "false", "null"))


class DraftError(Exception):
    """The source cannot be made a draft of; the message says why and what to do."""


class DraftParameter(msgspec.Struct, frozen=True):
    """An argument that the source asks for, and the goal field that takes it."""

    name: str
    type: str
    field: str = ""  # empty: the tool is not known yet
    description: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()
    default: Value | None = None
    heading: bool = False  # the field is a quaternion, the argument its yaw


class DraftTool(msgspec.Struct, frozen=True):
    """The ROS interface; blanks where the source is of another world."""

    kind: str = blank("action, service or topic")
    name: str = blank("the ROS name, such as /robot/do_it")
    type: str = blank("package/action/Name, package/srv/Name or package/msg/Name")
    type_hash: str = ""
    constants: tuple[tuple[str, Value], ...] = ()


class Draft(msgspec.Struct, frozen=True):
    """One capability as a source shows it."""

    id: str
    source: str
    title: str = ""
    description: str = ""
    parameters: tuple[DraftParameter, ...] = ()
    tool: DraftTool = DraftTool()
    claims: tuple[tuple[str, str], ...] = ()  # what is claimed, and how the source says it
    readbacks: tuple[str, ...] = ()  # what might show the effect, in words
    notes: tuple[str, ...] = ()  # what could not be taken over


def render(draft: Draft) -> str:
    """The draft as the text of a contract file: capability, provider, readback."""
    return "---\n".join((_capability(draft), _provider(draft), _readback(draft)))


def render_all(drafts: Iterable[Draft]) -> str:
    """Several drafts as the text of one file."""
    return "---\n".join(map(render, drafts))


def _capability(d: Draft) -> str:
    notes = "".join(f"# Not taken over: {clean(note)}\n" for note in d.notes)
    parameters = "".join(_parameter(p) for p in d.parameters)
    claims = "".join(
        _decision(f"claim_{name}", _CLAIMS.get(name, f"What follows from {name}?"), f"the source says {said}")
        for name, said in d.claims
    )
    return f"""\
# Draft of a contract. Replace every "{MARK} ...", then run: adf-ea finalize THIS_FILE --reviewer "Your Name"
{notes}spec: adf_ea_ros/1
kind: capability
id: {d.id}
version: 1.0.0
title: {scalar(d.title or d.id)}
description: {scalar(d.description)}
lifecycle: draft
subject: {scalar(blank(f"what it acts on: a fixed name such as robot{_or_argument(d)}"))}
parameters:{chr(10) + parameters if parameters else " {}" + chr(10)}invocation:
  requires: {{}}  # facts that must be seen before it may run, each with condition and evidence
  # approval: {{max_age: 10 min, by: []}}  # where a person has to approve each run; by: who may
effects:
  done:
    kind: {scalar(blank("state (stays true for a while) or event (has happened)"))}
    condition:
      path: {scalar(blank("the state path that changes in the world, such as gripper/width"))}
      # unit: m
      eq: {scalar(blank("the value that shows it; or use lt, lte, gt, gte, or {argument: name, plus: 0.1}"))}
evidence:
  done_seen:
    effect: done
    role: {scalar(blank("INDEPENDENT_SENSOR, INDEPENDENT_READ_BACK, SAME_PROVIDER or OPERATOR"))}
    max_age: {scalar(blank("how old a sample may be before the world may have changed, such as 5 s"))}
    count: 1
{CAUTIOUS}review:
  source: {scalar(d.source)}
  decisions:
{_decision("effects", "Is this the change in the world that a user of the capability wants?")}\
{_decision("evidence", "Would these samples be missing if the effect were missing?")}\
{
        _decision(
            "interruption",
            "What may be done when the effect is absent, unknown or lost?",
            "nothing is repeated",
        )
    }\
{claims}  attestations:
{
        _attestation(
            "effects_are_physical", "The effects are changes of the world, not acknowledgements of a request."
        )
    }\
  reviewed: ""
  fingerprint: ""
"""


def _or_argument(d: Draft) -> str:
    """An argument of this very draft that may name the subject."""
    texts = [p.name for p in d.parameters if p.type == "string"]
    return f", or an argument such as {{{texts[0]}}}" if texts else ""


_CLAIMS = {
    "idempotent": "May an attempt be repeated? If so, set interruption.retry and effect_absent yourself.",
    "safe": "Does it change nothing at all? Then it needs no contract; else the claim is wrong.",
    "read_only": "Does it change nothing at all? Then it needs no contract; else the claim is wrong.",
    "synchronous": "Is an answer final? If so, set promises.final_on_result yourself.",
    "destructive": "What must hold before it may run? Add it to invocation.requires. "
    "Must a person approve each run? Then write invocation.approval.",
    "open_world": "What outside this robot can change the effect? Choose max_age accordingly.",
}


def _provider(d: Draft) -> str:
    tool = d.tool
    mapped = [p for p in d.parameters if not p.heading]
    arguments = "".join(
        f"    {scalar(p.field or blank(f'field that takes {p.name}'))}: {p.name}\n" for p in mapped
    )
    yaw = "".join(f"    {scalar(p.field)}: {p.name}\n" for p in d.parameters if p.heading)
    constants = "".join(f"    {scalar(path)}: {scalar(value)}\n" for path, value in tool.constants)
    blocks = f"  arguments:\n{arguments}" if arguments else "  arguments: {}\n"
    blocks += f"  yaw:  # quaternion field: argument with a heading in rad\n{yaw}" if yaw else ""
    blocks += f"  constants:\n{constants}" if constants else ""
    pinned = f"  type_hash: {tool.type_hash}\n" if tool.type_hash else ""
    return f"""\
spec: adf_ea_ros/1
kind: provider
id: {d.id}_server
version: 1.0.0
lifecycle: draft
node: {scalar(blank("the node that serves it, as the graph shows it: ros2 node list"))}
tool:
  kind: {scalar(tool.kind)}
  name: {scalar(tool.name)}
  type: {scalar(tool.type)}
{pinned}  provides: {d.id}
{blocks}  deadline: 60 s  # no answer by then: the outcome is unknown
  promises:  # silence promises nothing
    query: false
    final_on_result: false
evidence:
  done_seen: [{d.id}_readback/state]
review:
  source: {scalar(d.source)}
  decisions:
{_decision("binding", "Does each field get the argument that is meant, in the unit that is meant?")}\
{_decision("promises", "What does the server guarantee, as its code or manual says?", "nothing")}\
  attestations:
{_attestation("node_is_the_actuator", "The named node is the one that acts, and no other serves this name.")}\
  reviewed: ""
  fingerprint: ""
"""


def _readback(d: Draft) -> str:
    hints = "".join(f"# Might show the effect: {clean(hint)}\n" for hint in d.readbacks)
    return f"""\
{hints}spec: adf_ea_ros/1
kind: provider
id: {d.id}_readback
version: 1.0.0
lifecycle: draft
node: {scalar(blank("the node that publishes the readback; for an independent role not the one that acts"))}
routes:
  state:
    topic: {scalar(blank("the topic that shows the effect, such as /joint_states"))}
    type: {scalar(blank("its type, such as sensor_msgs/msg/JointState"))}
    path: {scalar(blank("the same state path as in the effect"))}
    # unit: m
    subject: {{const: {scalar(blank("the same subject as above; or {field: header.frame_id} for a field"))}}}
    value: {{field: {scalar(blank("the field with the value, such as position[name=finger]"))}}}
    stamp: header.stamp  # time of capture; leave the line out if the message has none
review:
  source: {scalar(d.source)}
  decisions:
{_decision("routes", "Does this topic show the world, rather than what the server intends or believes?")}\
  attestations:
{
        _attestation(
            "source_is_what_it_says",
            "The named node publishes this topic, from a sensor or state of its own.",
        )
    }\
  reviewed: ""
  fingerprint: ""
"""


def _parameter(p: DraftParameter) -> str:
    lines = [f"  {p.name}:", f"    type: {p.type}"]
    for key in ("description", "unit", "minimum", "maximum", "default"):
        value = getattr(p, key)
        if value is not None and value != "":
            lines.append(f"    {key}: {scalar(value)}")
    if p.choices:
        lines.append(f"    choices: [{', '.join(map(scalar, p.choices))}]")
    return "\n".join(lines) + "\n"


def _decision(name: str, question: str, proposal: str = "") -> str:
    said = f"      proposal: {scalar(proposal)}\n" if proposal else ""
    return (
        f"    {name}:\n      question: {scalar(question)}\n{said}"
        f"      decision: {scalar(blank('your decision'))}\n      by: {scalar(blank('your name'))}\n"
    )


def _attestation(name: str, statement: str) -> str:
    return (
        f"    {name}:\n      statement: {scalar(statement)}\n      by: "
        f"{scalar(blank('your name, if it is so'))}\n"
    )


def scalar(value: Value) -> str:
    """A value as YAML that reads back as the same value."""
    if isinstance(value, str):
        text = clean(value)
        plain = _SIMPLE.fullmatch(text) and text.lower() not in _RESERVED and "{" not in text
        return text if plain else json.dumps(text, ensure_ascii=False)
    return json.dumps(value)


def clean(text: str) -> str:
    """Text of a source on one line, without characters that could end a comment or confuse a reader."""
    return " ".join("".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in text).split())[:500]


def safe_name(text: str, taken: Iterable[str] = ()) -> str:
    """A contract name for a name of another world: ``setTargetTemperature`` becomes
    ``set_target_temperature``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unicodedata.normalize("NFKD", text))
    name = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:48].strip("_")
    if name in _RESERVED:
        name = f"do_{name}"  # `on` would have to be quoted wherever it is written
    if not name or not name[0].isalpha():
        name = f"x_{name}".strip("_")
    unique, number = name, 2
    while unique in set(taken):
        unique, number = f"{name}_{number}", number + 1
    return unique
