"""rqt finds the plugin through package.xml, plugin.xml and the layout: they fit each other and the code."""

from __future__ import annotations

import ast
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ROOT / "adf_ea_ros" / "nodes" / "rqt"


def plugin_class():
    (found,) = ET.parse(ROOT / "plugin.xml").getroot().iter("class")
    return found


def test_the_package_exports_the_plugin_file():
    (export,) = ET.parse(ROOT / "package.xml").getroot().findall("./export/rqt_gui")
    assert export.get("plugin") == "${prefix}/plugin.xml"
    assert (
        "install(FILES plugin.xml DESTINATION share/${PROJECT_NAME})" in (ROOT / "CMakeLists.txt").read_text()
    )


def test_the_plugin_file_names_a_class_that_exists():
    found = plugin_class()
    assert found.get("base_class_type") == "rqt_gui_py::Plugin"
    module, _, name = found.get("type").rpartition(".")
    source = importlib.util.find_spec(module).origin
    classes = [node for node in ast.parse(Path(source).read_text()).body if isinstance(node, ast.ClassDef)]
    assert name in {node.name for node in classes}
    assert found.findtext("qtgui/label")
    assert found.findtext("qtgui/group/label") == "Robot Tools"


def test_the_layout_has_the_parts_that_the_widget_uses():
    root = ET.parse(ROOT / "resource" / "decisions.ui").getroot()
    parts = {element.get("name") for element in root.iter("widget")}
    text = (CODE / "widget.py").read_text() + (CODE / "plugin.py").read_text()
    used = set(
        re.findall(r"(?:self|self\.widget)\.(\w+)\.(?:set|add|text|current|is|clicked|edit|toggled)", text)
    )
    shown = {
        "table",
        "tree",
        "detail",
        "status",
        "authority",
        "episode",
        "outcome",
        "reason",
        "routine",
        "clear",
    }
    assert shown <= used
    assert shown <= parts
