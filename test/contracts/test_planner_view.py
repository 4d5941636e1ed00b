"""The planner's view: what is in it, and above all what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.loader import read_text
from adf_ea_ros.contracts.view import as_json, as_markdown, as_mcp_tools, planner_view

CONFIG = Path(__file__).parents[2] / "config"
CATALOG = Catalog.load([CONFIG / kind for kind in ("contracts", "providers", "templates", "tasks")])
S = 1_000_000_000


@pytest.mark.parametrize("spell", [as_json, as_markdown, lambda view: json.dumps(as_mcp_tools(view))])
def test_no_provider_route_node_or_topic_is_told(spell):
    text = spell(planner_view(CATALOG, 0, CATALOG.task("heat_measure_record")))
    assert "heat_to" in text
    for provider in CATALOG.providers():
        secrets = [provider.node, *(route.topic for route in provider.routes.values())]
        secrets += [provider.tool.name, provider.tool.type] if provider.tool else []
        assert not any(secret in text for secret in secrets)
        assert f'"{provider.id}"' not in text


def test_facts_and_ranges_are_told():
    text = as_markdown(planner_view(CATALOG, 0))
    assert "{sample}: temperature >= target - 1 and <= target + 1 degC" in text
    assert "20 to 100 degC" in text
    assert "3 samples by independent sensor, at most 20 s old" in text
    assert "If state lost: repair, stop" in text


def test_only_what_can_be_bound_now_is_shown():
    shown = planner_view(CATALOG, 0)
    assert [c.id for c in shown.capabilities] == ["heat_to", "measure", "record"]  # templates are drafts
    everything = planner_view(CATALOG, 0, unavailable=True)
    assert {c.id for c in everything.capabilities} == {c.id for c in CATALOG.capabilities()}
    assert not next(c for c in everything.capabilities if c.id == "grasp").available
    one = CATALOG.revoke("provider", "heater_a", "smoke", 0)
    assert "heat_to" in [c.id for c in planner_view(one, 0).capabilities]
    both = one.revoke("provider", "heater_b", "smoke", 0)
    assert "heat_to" not in [c.id for c in planner_view(both, 0).capabilities]
    assert "measure" not in [
        c.id for c in planner_view(CATALOG.revoke("capability", "measure", "x", 0), 0).capabilities
    ]


def test_a_task_shows_its_obligations_and_only_its_capabilities():
    shown = planner_view(CATALOG, 0, CATALOG.task("heat_measure_record"), unavailable=True)
    assert [c.id for c in shown.capabilities] == ["heat_to", "measure", "record"]
    assert [(o.id, o.after) for o in shown.obligations] == [
        ("heated", ()),
        ("measured", ("heated",)),
        ("recorded", ("measured",)),
    ]
    assert shown.obligations[0].arguments == {"sample": "s1", "target": 80}
    assert shown.budgets == {"physical": 6, "observation": 8}


def test_mcp_tools():
    tool = as_mcp_tools(planner_view(CATALOG, 0))[0]
    assert tool["name"] == "heat_to"
    assert tool["inputSchema"]["required"] == ["sample", "target"]
    assert tool["inputSchema"]["properties"]["target"]["maximum"] == 100
    assert tool["inputSchema"]["additionalProperties"] is False
    assert tool["annotations"]["readOnlyHint"] is False
    assert "no proof" in tool["description"]


def test_json_reads_back():
    assert json.loads(as_json(planner_view(CATALOG, 0)))["capabilities"][0]["effects"][0]["kind"] == "state"


def test_values_that_only_some_provider_serves_are_told():
    texts = [(CONFIG / folder / "door_set.yaml").read_text() for folder in ("contracts", "templates")]
    other = (
        texts[1].replace("cabinet_door", "drawer").replace("door_set_server", "drawer_server").split("---")[0]
    )
    active = "\n---\n".join([*texts, other]).replace("lifecycle: draft", "lifecycle: active")
    (shown,) = planner_view(Catalog.of(read_text(active)), 0).capabilities
    assert shown.parameters[0].choices == ("cabinet_door", "drawer")
    assert shown.parameters[1].choices == ()
