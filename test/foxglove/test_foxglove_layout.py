"""The Foxglove layout: its panels are all placed, and what they name exists in interfaces and contracts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.runtime.policy import Who
from adf_ea_ros.runtime.surface import DECISIONS, DIAGNOSTICS, EPISODES

ROOT = Path(__file__).parents[2]
LAYOUT = json.loads((ROOT / "config" / "foxglove" / "adf_ea_ros.json").read_text(encoding="utf-8"))
PANELS = LAYOUT["configById"]
PATH = re.compile(
    r"(?P<topic>(/\w+)+)(\{(?P<filter>[\w.]+)==\$(?P<variable>\w+)\})?(?P<fields>(\.\w+(\[:\])?)*)"
)
AUTHORITY = Who().authority


def placed(layout):
    """The panels of a layout, in order."""
    if isinstance(layout, str):
        return [layout]
    assert set(layout) == {"direction", "first", "second", "splitPercentage"}
    assert layout["direction"] in ("row", "column")
    assert 0 < layout["splitPercentage"] < 100
    return [*placed(layout["first"]), *placed(layout["second"])]


def topics():
    """What the panels may name, with its type."""
    rig = Catalog.load([ROOT / "config" / "contracts", *(ROOT / "config" / "providers").glob("*.yaml")])
    routes = {route.topic: route.type for p in rig.providers() for route in p.routes.values()}
    return {
        f"{AUTHORITY}/{DECISIONS}": "adf_ea_ros/msg/Decision",
        f"{AUTHORITY}/{EPISODES}": "adf_ea_ros/msg/Episode",
        DIAGNOSTICS: "diagnostic_msgs/msg/DiagnosticArray",
        "/rig/heatings": "adf_ea_ros/msg/Heatings",
        **routes,
    }


def fields_of(kind):
    """Field: type, of a message; of ours from the definition, of others from what is installed."""
    package, _, name = kind.split("/")
    if package == "adf_ea_ros":
        text = (ROOT / "msg" / f"{name}.msg").read_text(encoding="utf-8")
        lines = [line.partition("#")[0].split() for line in text.splitlines()]
        found = {words[1]: words[0] for words in lines if len(words) == 2 and "=" not in words[1]}
    else:
        module = pytest.importorskip(f"{package}.msg", reason=f"{package} comes with ROS")
        found = getattr(module, name).get_fields_and_field_types()
    return {field: full(kind, package) for field, kind in found.items()}


def full(kind, package):
    """The full name of a field's type: Budget, std_msgs/Header and sequence<string> alike; arrays with []."""
    element = re.sub(r"^sequence<(.*?)(, \d+)?>$", r"\1[]", kind)
    name, array = element.removesuffix("[]"), "[]" if element.endswith("[]") else ""
    if "/" in name:
        owner, _, name = name.replace("/msg/", "/").partition("/")
        return f"{owner}/msg/{name}{array}"
    return f"{package}/msg/{name}{array}" if name[0].isupper() else element


def walk(kind, fields):
    """The type at the end of a path of fields."""
    for part in fields:
        name, many = part.removesuffix("[:]"), part.endswith("[:]")
        known = fields_of(kind)
        assert name in known, f"{kind} has no field {name}: {sorted(known)}"
        kind = known[name]
        assert many == kind.endswith("[]"), f"{name} is {kind}"
        kind = kind.removesuffix("[]")
    return kind


def named(config):
    """Every message path of a panel."""
    paths = [series["value"] for series in config.get("paths", [])]
    return paths + [config[key] for key in ("topicPath", "topicToRender") if key in config]


def test_every_panel_is_placed_once_and_every_place_has_a_panel():
    tabs = [tab["layout"] for config in PANELS.values() for tab in config.get("tabs", [])]
    found = [panel for layout in (LAYOUT["layout"], *tabs) for panel in placed(layout)]
    assert sorted(found) == sorted(PANELS)


def test_panels_are_of_kinds_that_foxglove_has():
    kinds = {panel.partition("!")[0] for panel in PANELS}
    assert kinds == {
        *(
            "StateTransitions",
            "RawMessages",
            "Table",
            "Tab",
            "DiagnosticSummary",
            "DiagnosticStatusPanel",
            "Plot",
        )
    }
    assert {"globalVariables", "userNodes", "playbackConfig"} < set(LAYOUT)


@pytest.mark.parametrize("panel", [panel for panel, config in PANELS.items() if named(config)])
def test_what_a_panel_names_exists(panel):
    known = topics()
    for path in named(PANELS[panel]):
        match = PATH.fullmatch(path)
        assert match, path
        assert match["topic"] in known, f"{match['topic']}: there are {sorted(known)}"
        kind = known[match["topic"]]
        walk(kind, [part for part in match["fields"].split(".") if part])
        if match["filter"]:
            assert walk(kind, match["filter"].split(".")) == "string"
            assert match["variable"] in LAYOUT["globalVariables"]


def test_plots_are_of_numbers_and_tables_of_lists():
    known = topics()
    for panel, config in PANELS.items():
        for path in named(config):
            match = PATH.fullmatch(path)
            kind = walk(known[match["topic"]], [part for part in match["fields"].split(".") if part])
            if panel.startswith("Plot!"):
                assert re.fullmatch(r"(u?int(8|16|32|64)|float32|float64|float|double)", kind), (path, kind)
            if panel.startswith("Table!"):
                assert path.endswith("[:]")
                assert kind.startswith("adf_ea_ros/msg/")


def test_decisions_episodes_health_and_the_demo_are_all_shown():
    shown = {PATH.fullmatch(path)["topic"] for config in PANELS.values() for path in named(config)}
    assert shown == {
        f"{AUTHORITY}/{DECISIONS}",
        f"{AUTHORITY}/{EPISODES}",
        DIAGNOSTICS,
        "/rig/probe/temperature",
        "/rig/heatings",
    }
