"""JSON Schema of contract files, for editors: completion, the allowed values, and a first check while typing.

A schema sees one document at a time and no references, so ``adf-ea check`` stays the judge.
"""

from __future__ import annotations

import inspect
import io
import tokenize
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter

from adf_ea_ros.contracts import model
from adf_ea_ros.contracts.checks import PERMITTED
from adf_ea_ros.contracts.model import AnyContract
from adf_ea_ros.contracts.units import DURATION_PATTERN, UNITS, format_duration

FILE_NAME = "contracts.schema.json"
_MAPS = ("properties", "patternProperties", "$defs")  # keywords whose keys are names, not keywords


def header_line(location: str) -> str:
    """The comment by which the YAML language server (in VS Code: the YAML extension) finds the schema."""
    return f"# yaml-language-server: $schema={location}"


def json_schema() -> dict[str, Any]:
    """The schema of one document of a contract file."""
    documents: TypeAdapter[Any] = TypeAdapter(Annotated[AnyContract, Field(discriminator="kind")])
    schema = documents.json_schema()
    definitions: dict[str, Any] = schema["$defs"]
    for name, definition in definitions.items():
        kind = getattr(model, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            for field, comment in _comments(kind).items():
                if field in definition.get("properties", {}):
                    definition["properties"][field]["description"] = comment
    _tell_what_checks_know(definitions)
    simplified: dict[str, Any] = _simplify(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A capability, provider, task or gate file of adf_ea_ros",
        **simplified,
    }


def _tell_what_checks_know(definitions: dict[str, Any]) -> None:
    """Rules of ``checks.py`` that a schema can express, so that an editor offers only what will pass."""
    definitions["ConditionTemplate"]["anyOf"] = [
        {"required": [op]} for op in ("eq", "lt", "lte", "gt", "gte")
    ]
    definitions["FieldOr"]["oneOf"] = [{"required": ["field"]}, {"required": ["const"]}]
    definitions["ObligationSpec"]["oneOf"] = [{"required": ["effect"]}, {"required": ["condition"]}]
    definitions["Unit"] = {"anyOf": [{"enum": ["", *UNITS]}, {"type": "string", "pattern": "^x-."}]}
    for name in ("ConditionTemplate", "Parameter", "Route"):
        definitions[name]["properties"]["unit"] = {"$ref": "#/$defs/Unit"}
    for cause, permitted in PERMITTED.items():
        property_ = definitions["Interruption"]["properties"][cause]
        property_["items"] = {"enum": sorted(disposition.value for disposition in permitted)}
        property_["uniqueItems"] = True
    definitions["Route"]["properties"]["type"]["pattern"] = r"^[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*$"
    definitions["Extensions"] = {
        "type": "object",
        "propertyNames": {"pattern": r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9_-]*)+$"},
    }
    for name in ("CapabilityContract", "ProviderContract", "Task", "Gate"):
        definitions[name]["properties"]["extensions"] = {"$ref": "#/$defs/Extensions"}


def _simplify(node: Any) -> Any:
    """Without nulls (a file says nothing by leaving a line out) and without the titles that repeat names."""
    if isinstance(node, list):
        return [_simplify(inner) for inner in node if inner != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _simplify(inner) for name, inner in value.items()} if key in _MAPS else _simplify(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    alternatives = kept.get("anyOf")
    if isinstance(alternatives, list) and len(alternatives) == 1:
        del kept["anyOf"]
        kept = {**alternatives[0], **kept}
    if "patternProperties" in kept and kept.get("type") == "object":
        kept["additionalProperties"] = False
    default = kept.get("default")
    if isinstance(default, dict):
        del kept["default"]  # spelled with durations in nanoseconds, which no file may do
    elif kept.get("pattern") == DURATION_PATTERN and isinstance(default, int):
        kept["default"] = format_duration(default)
    return kept


def _comments(kind: type[BaseModel]) -> dict[str, str]:
    """The comment beside each field in the source of the models: said once, read by people and by editors."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not issubclass(base, BaseModel) or base is BaseModel:
            continue
        source = inspect.getsource(base)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            name = token.line.partition(":")[0].strip()
            if token.type == tokenize.COMMENT and name in kind.model_fields:
                found[name] = token.string.lstrip("# ").strip()
    return found
