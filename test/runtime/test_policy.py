"""Access control from contracts: what the policy allows, and what gives it away. Text only, no middleware."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from adf_ea_ros.cli.main import main
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.runtime.policy import SECTIONS, Who, as_xml, exclusive, rights
from adf_ea_ros.runtime.policy_check import NoPolicy, leaks

CONFIG = Path(__file__).parents[2] / "config"
FILES = [
    *(CONFIG / "contracts" / f"{name}.yaml" for name in ("heat_to", "measure", "record", "dose")),
    *sorted((CONFIG / "providers").glob("*.yaml")),
]
WHO = Who()
HEAT, WRITE, TEMPERATURE = "/rig/heater_a/heat", "/rig/recorder_a/write", "/rig/probe/temperature"


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load(FILES)


def holders(granted, verb, name):
    return {node for node, allowed in granted.items() if (verb, name) in allowed}


def test_only_the_capability_node_reaches_the_hardware(catalog):
    granted = rights(catalog, WHO)
    tools = [provider.tool for provider in catalog.providers() if provider.tool]
    assert len(tools) == 5
    for tool in tools:
        verb = {"action": "call", "service": "request"}[tool.kind]
        assert holders(granted, verb, tool.name) == {"/capability"}


def test_devices_serve_and_the_authority_reads(catalog):
    granted = rights(catalog, WHO)
    assert holders(granted, "execute", HEAT) == {"/rig/heater_a"}
    assert holders(granted, "reply", WRITE) == {"/rig/recorder_a"}
    assert holders(granted, "publish", TEMPERATURE) == {"/rig/probe"}
    assert holders(granted, "subscribe", TEMPERATURE) == {"/authority"}


def test_planners_ask_and_never_admit(catalog):
    granted = rights(catalog, WHO)
    assert holders(granted, "call", "/execute/heater_a") == {"/planner"}
    assert holders(granted, "execute", "/execute/heater_a") == {"/capability"}
    asked = {name for verb, name in granted["/planner"] if verb == "request"}
    assert "/authority/revise_proposal" in asked
    assert not asked & {f"/authority/{name}" for name in ("admit", "admit_goal", "report", "halt", "approve")}
    assert holders(granted, "request", "/authority/halt") == {"/operator"}
    assert holders(granted, "request", "/authority/approve") == {"/operator"}


def test_a_planner_that_could_approve_is_a_leak(catalog):
    granted = rights(catalog, WHO)
    assert exclusive(catalog, WHO)["request", "/authority/approve"] == {"/operator"}
    assert not leaks(as_xml(granted, {}), catalog, WHO)
    granted["/planner"].add(("request", "/authority/approve"))
    assert [leak for leak in leaks(as_xml(granted, {}), catalog, WHO) if "/authority/approve" in str(leak)]
    together = as_xml(rights(catalog, WHO), {"/both": ["/planner", "/operator"]})
    assert [leak for leak in leaks(together, catalog, WHO) if "/authority/approve" in str(leak)]


def test_a_command_topic_is_published_by_the_capability_node_alone(tmp_path):
    text = (CONFIG / "templates" / "dose.yaml").read_text()
    (tmp_path / "dose.yaml").write_text(text.replace("lifecycle: draft", "lifecycle: active"))
    granted = rights(Catalog.load([CONFIG / "contracts" / "dose.yaml", tmp_path / "dose.yaml"]), WHO)
    assert holders(granted, "publish", "/pump/dose") == {"/capability"}
    assert holders(granted, "subscribe", "/pump/dose") == {"/pump_driver"}


def test_a_draft_gives_nobody_a_right():
    granted = rights(
        Catalog.load([CONFIG / "contracts" / "dose.yaml", CONFIG / "templates" / "dose.yaml"]),
        WHO,
    )
    assert not any("/pump" in name for allowed in granted.values() for _, name in allowed)


def test_a_gate_is_served_by_the_capability_node_for_clients_that_know_no_episode():
    catalog = Catalog.load([*FILES, CONFIG / "gates"])
    who = Who(clients=("/tree",))
    granted = rights(catalog, who)
    assert holders(granted, "execute", "/bench/heat") == {"/capability"}
    assert holders(granted, "call", "/bench/heat") == {"/tree"}
    assert holders(granted, "call", HEAT) == {"/capability"}
    assert not any("/authority" in name for _, name in granted["/tree"] if not name.startswith("/tree"))
    assert leaks(as_xml(granted, {}), catalog, who) == []
    assert {leak.name for leak in leaks(other([("execute", "/bench/*", "ALLOW")]), catalog, who)} == {
        "/bench/heat"
    }


def test_a_robot_in_a_namespace_has_its_own_names(catalog):
    who = Who(authority="/r1/authority", capability="/r1/capability", planners=("/r1/bt", "/r1/llm"))
    granted = rights(catalog, who)
    assert holders(granted, "call", "/r1/execute/heater_a") == {"/r1/bt", "/r1/llm"}
    assert holders(granted, "reply", "/r1/authority/admit") == {"/r1/authority"}
    assert holders(granted, "call", HEAT) == {"/r1/capability"}


def test_the_xml_has_the_form_that_sros2_reads(catalog):
    granted = rights(catalog, WHO)
    text = as_xml(granted, {"/composed": ["/authority", "/capability"]}, "a note")
    root = ET.fromstring(text)
    assert (root.tag, root.get("version"), [child.tag for child in root]) == ("policy", "0.2.0", ["enclaves"])
    paths = [enclave.get("path") for enclave in root.iter("enclave")]
    assert paths == sorted({"/composed", *granted} - {"/authority", "/capability"})
    shown = {}
    for profile in root.findall("./enclaves/enclave/profiles/profile"):
        node = f"{profile.get('ns').rstrip('/')}/{profile.get('node')}"
        for section in profile:
            ((verb, allow),) = section.attrib.items()
            assert (section.tag, allow) == (SECTIONS[verb][0], "ALLOW")
            assert {element.tag for element in section} == {SECTIONS[verb][1]}
            shown.setdefault(node, set()).update((verb, element.text) for element in section)
    assert shown == granted


@pytest.mark.parametrize("enclaves", [{}, {"/composed": ["/authority", "/capability"]}])
def test_what_is_generated_gives_nothing_away(catalog, enclaves):
    assert leaks(as_xml(rights(catalog, WHO), enclaves), catalog, WHO) == []


def other(rules, *, ns="/", node="other"):
    """A policy in which another node has these rules."""
    root = ET.Element("policy", version="0.2.0")
    profiles = ET.SubElement(
        ET.SubElement(ET.SubElement(root, "enclaves"), "enclave", path="/other"), "profiles"
    )
    profile = ET.SubElement(profiles, "profile", ns=ns, node=node)
    for verb, name, allow in rules:
        section, element = SECTIONS[verb]
        ET.SubElement(ET.SubElement(profile, section, {verb: allow}), element).text = name
    return ET.tostring(root, encoding="unicode")


@pytest.mark.parametrize(
    ("verb", "name", "right"),
    [
        ("call", HEAT, ("call", HEAT)),
        ("call", "/rig/*", ("call", HEAT)),
        ("call", "rig/heater_?/heat", ("call", HEAT)),
        ("request", f"{HEAT}/_action/send_goal", ("request", f"{HEAT}/_action/send_goal")),
        ("request", "*", ("request", WRITE)),
        ("request", "/authority/admit", ("request", "/authority/admit")),
        ("publish", TEMPERATURE, ("publish", TEMPERATURE)),
        ("publish", f"{HEAT}/_action/status", ("publish", f"{HEAT}/_action/status")),
        ("publish", "/authority/decisions", ("publish", "/authority/decisions")),
        ("execute", HEAT, ("execute", HEAT)),
        ("reply", "/authority/*", ("reply", "/authority/admit")),
    ],
)
def test_a_way_around_is_found_by_name_and_by_pattern(catalog, verb, name, right):
    found = leaks(other([(verb, name, "ALLOW")]), catalog, WHO)
    assert right in {(leak.verb, leak.name) for leak in found}
    assert {leak.node for leak in found} == {"/other"}
    assert f"/other may {right[0]} {right[1]}" in "\n".join(map(str, found))


@pytest.mark.parametrize(
    "rule",
    [
        ("call", "/execute/*", "ALLOW"),
        ("subscribe", "*", "ALLOW"),
        ("request", "/authority/start_episode", "ALLOW"),
        ("call", HEAT, "DENY"),
    ],
)
def test_what_planners_may_do_is_no_way_around(catalog, rule):
    assert leaks(other([rule]), catalog, WHO) == []


def test_what_is_denied_in_the_same_enclave_is_denied(catalog):
    allow, deny = ("call", "/rig/heater_a/*", "ALLOW"), ("call", HEAT, "DENY")
    assert {leak.name for leak in leaks(other([allow]), catalog, WHO)} == {HEAT}
    assert leaks(other([allow, deny]), catalog, WHO) == []


def test_names_of_a_nodes_own_are_its_own(catalog):
    found = leaks(other([("publish", "~/temperature", "ALLOW")], ns="/rig", node="heater_a"), catalog, WHO)
    assert found == []
    found = leaks(
        other([("publish", "probe/temperature", "ALLOW")], ns="/rig", node="heater_a"), catalog, WHO
    )
    assert [(leak.node, leak.name, leak.owner) for leak in found] == [
        ("/rig/heater_a", TEMPERATURE, "only /rig/probe")
    ]


def test_a_process_shared_with_the_capability_node_is_a_way_around(catalog):
    text = as_xml(rights(catalog, WHO), {"/all": ["/authority", "/capability", "/planner"]})
    found = leaks(text, catalog, WHO)
    assert {leak.node for leak in found} == {"/planner"}
    assert HEAT in {leak.name for leak in found}
    assert all(leak.shared for leak in found)


def test_an_actuator_in_the_process_of_its_witness_is_a_way_around(catalog):
    text = as_xml(rights(catalog, WHO), {"/rig": ["/rig/heater_a", "/rig/probe"]})
    assert ("/rig/heater_a", TEMPERATURE) in {(leak.node, leak.name) for leak in leaks(text, catalog, WHO)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<policy", "no XML"),
        ("<permissions/>", "the root element is permissions"),
        (
            '<policy><include xmlns="http://www.w3.org/2001/XInclude" href="x"/></policy>',
            "it includes other files",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(catalog, text, said):
    with pytest.raises(NoPolicy, match=said):
        leaks(text, catalog, WHO)


def test_every_exclusive_right_has_an_owner_who_exists(catalog):
    nodes = set(rights(catalog, WHO))
    owned = exclusive(catalog, WHO)
    assert owned.pop(("publish", "/clock")) == set()
    assert all(owners and owners <= nodes for owners in owned.values())


def test_the_time_is_told_by_the_node_that_is_named_for_it_or_by_nobody(catalog):
    forged = other([("publish", "/clock", "ALLOW")])
    (leak,) = leaks(forged, catalog, WHO)
    assert str(leak) == "enclave /other: /other may publish /clock; nobody should"
    who = Who(clock="/rig/clock")
    assert holders(rights(catalog, who), "publish", "/clock") == {"/rig/clock"}
    assert leaks(as_xml(rights(catalog, who), {}), catalog, who) == []
    assert [leak.owner for leak in leaks(forged, catalog, who)] == ["only /rig/clock"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["policy", *map(str, FILES), *map(str, arguments)])
    return int(ended.value.code or 0), *capsys.readouterr()


def test_the_command_writes_and_checks(capsys, tmp_path):
    path = tmp_path / "robot.policy.xml"
    assert run(capsys, "-o", path, "--enclave", "/composed=/authority,/capability")[0] == 0
    assert run(capsys, "-o", path)[0] == 1  # it exists
    code, out, err = run(capsys, "--check", path)
    assert (code, out, err) == (0, "", "0 ways around the contracts\n")
    path.write_text(other([("call", HEAT, "ALLOW")]))
    code, out, err = run(capsys, "--check", path)
    assert code == 1
    assert f"enclave /other: /other may call {HEAT}; only /capability should" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--planner", "bt"), "not the full name of a node"),
        (("--enclave", "composed"), "expected PATH=NODE"),
        (("--enclave", "/c=/authority,/nobody"), "no node /nobody"),
    ],
)
def test_a_wrong_argument_is_told(capsys, arguments, said):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert said in " ".join(err.replace("│", " ").split())
