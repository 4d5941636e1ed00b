"""Access control from contracts: who may reach the hardware, speak for a sensor, or answer for the authority.

The result is a policy as SROS2 reads it (version 0.2.0): an allow-list for each node, grouped by enclave, the
unit for which the middleware enforces it. Nothing here enforces anything.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.model import Lifecycle, ProviderContract, Tool
from adf_ea_ros.runtime.surface import (
    APPROVE,
    CAPABILITY_SERVICES,
    DECISIONS,
    DIAGNOSTICS,
    EPISODES,
    INSTANCES,
    OPERATOR_SERVICES,
    PLANNER_SERVICES,
    SERVICES,
)

CLOCK = "/clock"
VERSION = "0.2.0"
"""Of the policy format."""
SECTIONS = {
    "publish": ("topics", "topic"),
    "subscribe": ("topics", "topic"),
    "reply": ("services", "service"),
    "request": ("services", "service"),
    "execute": ("actions", "action"),
    "call": ("actions", "action"),
}
"""Verb: the list that it stands on, and the name of an element of that list."""
ASKS = {"action": "call", "service": "request", "topic": "publish"}
SERVES = {"action": "execute", "service": "reply", "topic": "subscribe"}
PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "get_type_description",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
)
LIFECYCLE = (
    "change_state",
    "get_available_states",
    "get_available_transitions",
    "get_state",
    "get_transition_graph",
)

Right = tuple[str, str]
"""A verb and the full name of a topic, service or action."""
Rights = dict[str, set[Right]]
"""By the full name of a node."""


class Who(msgspec.Struct, frozen=True):
    """The nodes that the policy is about, by their full names."""

    authority: str = "/authority"
    capability: str = "/capability"
    planners: tuple[str, ...] = ("/planner",)
    operators: tuple[str, ...] = ("/operator",)
    clients: tuple[str, ...] = ()  # that know no episode and talk to drop-in gates
    clock: str = ""  # publishes /clock, under use_sim_time; empty: nobody may

    @property
    def namespace(self) -> str:
        """Of the capability node, and so of the actions that it offers; empty for the root."""
        return self.capability.rpartition("/")[0]


def rights(catalog: Catalog, who: Who) -> Rights:
    """What each node needs, and no more. Of a device: only what its contract is about."""
    found: Rights = {}
    bound = _bound(catalog)
    _assurance(found, who, sorted(f"{who.namespace}/execute/{p.id}" for p in bound if p.tool is not None))
    for kind, name in _gates(catalog):
        _allow(found, who.capability, SERVES[kind], name)
        for client in who.clients:
            _allow(found, client, ASKS[kind], name)
    for provider in bound:
        if provider.tool is not None:
            _allow(found, who.capability, ASKS[provider.tool.kind], provider.tool.name)
            _allow(found, provider.node, SERVES[provider.tool.kind], provider.tool.name)
        for route in provider.routes.values():
            _allow(found, who.authority, "subscribe", route.topic)
            _allow(found, provider.node, "publish", route.topic)
    if who.clock:
        _allow(found, who.clock, "publish", CLOCK)
    for node in found:
        _allow(found, node, "reply", *(f"{node}/{name}" for name in PARAMETERS))
        _allow(found, node, "publish", "/rosout", "/parameter_events")
        _allow(found, node, "subscribe", "/parameter_events", CLOCK)
    return found


def _assurance(found: Rights, who: Who, offered: list[str]) -> None:
    """Authority, capability node, planners, operators. ``offered``: the capability node's actions."""

    def of_authority(*names: str) -> list[str]:
        return [f"{who.authority}/{name}" for name in names]

    _allow(found, who.authority, "reply", *of_authority(*SERVICES, *LIFECYCLE))
    _allow(
        found, who.authority, "publish", *of_authority(DECISIONS, EPISODES, "transition_event"), DIAGNOSTICS
    )
    _allow(found, who.capability, "request", *of_authority(*CAPABILITY_SERVICES))
    _allow(found, who.capability, "subscribe", *of_authority(DECISIONS), f"{who.namespace}/{INSTANCES}")
    _allow(found, who.capability, "publish", f"{who.namespace}/{INSTANCES}")
    _allow(found, who.capability, "execute", *offered)
    for planner in who.planners:
        _allow(found, planner, "request", *of_authority(*PLANNER_SERVICES))
        _allow(found, planner, "subscribe", *of_authority(DECISIONS, EPISODES))
        _allow(found, planner, "call", *offered)
    for operator in who.operators:
        _allow(found, operator, "request", *of_authority(*OPERATOR_SERVICES, *LIFECYCLE))
        _allow(found, operator, "subscribe", *of_authority(DECISIONS, EPISODES), DIAGNOSTICS)


def _allow(found: Rights, node: str, verb: str, *names: str) -> None:
    found.setdefault(node, set()).update((verb, name) for name in names)


def exclusive(catalog: Catalog, who: Who) -> dict[Right, set[str]]:
    """The rights on which assurance rests, and who alone may have them.

    The way to the hardware is the capability node's; a tool is served, and a readback published, by the
    declared node; the authority answers for itself. A right without an owner is nobody's.
    """
    owners: dict[Right, set[str]] = {}

    def own(verb: str, name: str, node: str) -> None:
        owners.setdefault((verb, name), set()).add(node)

    for provider in _bound(catalog):
        tool = provider.tool
        if tool is not None:
            for verb, name in _reaching(tool):
                own(verb, name, who.capability)
            for verb, name in _serving(tool.kind, tool.name):
                own(verb, name, provider.node)
        for route in provider.routes.values():
            own("publish", route.topic, provider.node)
    for kind, name in _gates(catalog):
        for verb, part in _serving(kind, name):
            own(verb, part, who.capability)
    for name in SERVICES:
        own("reply", f"{who.authority}/{name}", who.authority)
    for name in set(CAPABILITY_SERVICES) - set(PLANNER_SERVICES):
        own("request", f"{who.authority}/{name}", who.capability)
    # A planner that reaches this could approve its own steps under any name.
    owners["request", f"{who.authority}/{APPROVE}"] = set(who.operators)
    own("publish", f"{who.authority}/{DECISIONS}", who.authority)
    own(
        "publish", f"{who.namespace}/{INSTANCES}", who.capability
    )  # who says that it is a rival holds goals up
    # Whoever says what time it is decides how old evidence is.
    owners["publish", CLOCK] = {who.clock} if who.clock else set()
    return owners


def _reaching(tool: Tool) -> list[Right]:
    """Every right with which somebody could make the hardware act."""
    ways = [(ASKS[tool.kind], tool.name)]
    if tool.kind == "action":  # an action is a few services underneath, and can be called as such
        ways += [("request", f"{tool.name}/_action/{part}") for part in ("send_goal", "cancel_goal")]
    return ways


def _serving(kind: str, name: str) -> list[Right]:
    """Every right with which somebody could answer in the place of a tool or a gate."""
    if kind == "topic":
        return []  # whoever listens to a command answers nothing
    ways = [(SERVES[kind], name)]
    if kind == "action":
        services, topics = ("send_goal", "cancel_goal", "get_result"), ("feedback", "status")
        ways += [("reply", f"{name}/_action/{part}") for part in services]
        ways += [("publish", f"{name}/_action/{part}") for part in topics]
    return ways


def _gates(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The drop-in gates of providers that may be bound: what kind of interface each is, and its name."""
    tools = {provider.id: provider.tool for provider in _bound(catalog)}
    for gate in catalog.gates():
        tool = tools.get(gate.provider)
        if tool is not None:
            yield tool.kind, gate.name


def _bound(catalog: Catalog) -> list[ProviderContract]:
    """Providers that may be bound: drafts and contracts that are over give nobody a right."""
    return [p for p in catalog.providers() if p.lifecycle is Lifecycle.ACTIVE]


def as_xml(granted: Rights, enclaves: Mapping[str, Iterable[str]], note: str = "") -> str:
    """The policy file. A node that stands in none of ``enclaves`` gets one of its own name.

    Args:
        granted: what ``rights`` gave.
        enclaves: for nodes that share a process: the path of the enclave, and their full names.
        note: a comment for the head of the file.
    """
    placed = {node: path for path, nodes in enclaves.items() for node in nodes}
    paths: dict[str, list[str]] = {}
    for node in sorted(granted):
        paths.setdefault(placed.get(node, node), []).append(node)
    root = ET.Element("policy", version=VERSION)
    if note:
        root.append(ET.Comment(f" {note} "))
    all_enclaves = ET.SubElement(root, "enclaves")
    for path in sorted(paths):
        profiles = ET.SubElement(ET.SubElement(all_enclaves, "enclave", path=path), "profiles")
        for node in paths[path]:
            namespace, _, name = node.rpartition("/")
            _profile(ET.SubElement(profiles, "profile", ns=namespace or "/", node=name), granted[node])
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _profile(profile: ET.Element, allowed: set[Right]) -> None:
    for verb, (section, element) in SECTIONS.items():
        names = sorted(name for each, name in allowed if each == verb)
        if names:
            listed = ET.SubElement(profile, section, {verb: "ALLOW"})
            for name in names:
                ET.SubElement(listed, element).text = name
