"""The generated access control beside real nodes: whatever they open in the graph, the policy allows them.

Enforcement itself needs a middleware that was built with security; the ordinary one runs here.
"""

from __future__ import annotations

import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import Parameter
from world import CONFIG, CONTRACTS, listed

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.nodes.client import Planner
from adf_ea_ros.runtime.policy import LIFECYCLE, PARAMETERS, Who, rights
from adf_ea_ros.runtime.surface import SERVICES

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def opened(node, full_name):
    """What a node has opened, as verbs and names; an action once, not its parts."""
    space, _, name = full_name.rpartition("/")
    at = (name, space or "/")
    asked = {
        "publish": node.get_publisher_names_and_types_by_node,
        "subscribe": node.get_subscriber_names_and_types_by_node,
        "reply": node.get_service_names_and_types_by_node,
        "request": node.get_client_names_and_types_by_node,
        "execute": lambda *at: get_action_server_names_and_types_by_node(node, *at),
        "call": lambda *at: get_action_client_names_and_types_by_node(node, *at),
    }
    try:
        return {
            (verb, name) for verb, ask in asked.items() for name, _ in ask(*at) if "/_action/" not in name
        }
    except NodeNameNonExistentError:  # not discovered yet
        return set()


def test_every_node_gets_what_it_opens_and_devices_offer_what_is_theirs(world, domain):
    world.rig()
    world.authority()
    world.capability(gates=listed([CONFIG / "gates"]))
    granted = rights(Catalog.load([*CONTRACTS, CONFIG / "gates"]), Who())
    look = world.watcher.node
    with Planner(domain_id=domain.domain, timeout=20.0) as planner:
        planner.start("heat_measure_record")
        planner.observe("heat")
        planner.run("heat", "heater_a", timeout=30.0)  # refused: for the sake of the action client
        must = {
            "/authority": {("reply", f"/authority/{name}") for name in (*SERVICES, *LIFECYCLE, *PARAMETERS)},
            "/capability": {
                right for right in granted["/capability"] if right[0] in ("call", "request", "execute")
            },
            "/planner": {("call", "/execute/heater_a"), ("request", "/authority/observe")},
        }
        for node, least in must.items():
            world.watcher.until(
                lambda node=node, least=least: least <= opened(look, node), what=f"all of {node}"
            )
            assert opened(look, node) <= granted[node], f"{node}: add to runtime/surface.py or policy.py"
    for node in (name for name in granted if name.startswith("/rig/")):
        own = {right for right in granted[node] if right[1].startswith("/rig/")}
        world.watcher.until(lambda node=node, own=own: own <= opened(look, node), what=f"{own} of {node}")

    # Who may set parameters may still not turn a running node over to another clock.
    for node in ("/authority", "/capability"):
        client = look.create_client(SetParameters, f"{node}/set_parameters")
        world.watcher.until(client.service_is_ready, what=f"parameters of {node}")
        for value, taken in ((False, False), (True, True)):  # they run on /clock: nothing changes
            change = Parameter("use_sim_time", value=value).to_parameter_msg()
            answer = world.watcher.result(client.call_async(SetParameters.Request(parameters=[change])))
            assert answer.results[0].successful == taken
