"""The JSON Schema: it takes every shipped file, and of the broken ones rejects those that a schema can
reject.

The first line of each broken file says which it is. A schema sees no references, no units of other fields and
no
sums, so files that are wrong in those ways pass it.
"""

from __future__ import annotations

import json
from pathlib import Path

import fastjsonschema
import pytest

from adf_ea_ros.contracts.schema import FILE_NAME, header_line, json_schema
from adf_ea_ros.contracts.yamlsource import parse_documents

HERE = Path(__file__).parent
CONFIG = HERE.parents[1] / "config"
SHIPPED = sorted(
    p
    for kind in ("contracts", "providers", "templates", "tasks", "gates", "examples")
    for p in (CONFIG / kind).rglob("*.yaml")
)
BROKEN = [p for p in sorted((HERE / "broken").glob("*.yaml")) if p.read_bytes().startswith(b"# schema: ")]
VALIDATE = fastjsonschema.compile(json_schema(), use_default=False)


def accepted(path: Path) -> bool:
    try:
        for raw in parse_documents(path.read_text(), lambda *_: None):
            VALIDATE(raw.data)
    except fastjsonschema.JsonSchemaException:
        return False
    return True


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_takes_every_shipped_file(path):
    assert accepted(path)


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_rejects_what_a_schema_can(path):
    assert accepted(path) == path.read_text().startswith("# schema: accepts")


def test_rejects_a_good_part_of_the_corpus():
    assert sum(p.read_text().startswith("# schema: rejects") for p in BROKEN) >= 40
    # What is wrong in form alone is the schema's business; only these need more than one field to see.
    missed = [p.stem for p in BROKEN if p.stem.startswith("form_") and accepted(p)]
    assert missed == ["form_blank", "form_duration_too_long"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_every_shipped_file_names_the_schema(path):
    first = path.read_text().splitlines()[0]
    location = first.partition("$schema=")[2]
    assert first == header_line(location)
    assert (path.parent / location).resolve() == CONFIG / FILE_NAME


def test_the_shipped_schema_is_the_one_of_the_models():
    assert json.loads((CONFIG / FILE_NAME).read_text()) == json_schema(), "run: adf-ea schema -o config"


def test_editors_see_meaning_units_and_no_nulls():
    schema = json_schema()
    assert '"null"' not in json.dumps(schema)
    promises = schema["$defs"]["Promises"]["properties"]
    assert promises["result_timeout"]["default"] == "10 s"
    assert "finished goal id" in promises["result_timeout"]["description"]
    assert "default" in schema["$defs"]["Parameter"]["properties"]  # a field of that name, not the keyword
    assert "retry" not in schema["$defs"]["Interruption"]["properties"]["outcome_unknown"]["items"]["enum"]
