"""Drafts from tools of the Model Context Protocol: names and arguments; its hints are claims, and stay
claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adf_ea_ros.contracts.onboarding.draft import Draft, DraftError, clean, safe_name
from adf_ea_ros.contracts.onboarding.jsonsource import load_json, mapping, parameters_of, words

_HINTS = {
    "readOnlyHint": "read_only",
    "idempotentHint": "idempotent",
    "destructiveHint": "destructive",
    "openWorldHint": "open_world",
}


def drafts_from_mcp(data: bytes, what: str, names: tuple[str, ...] = ()) -> list[Draft]:
    """The drafts of a tool, of a list of tools or of an answer to ``tools/list`` (only of those named, if any
    are).

    Raises:
        DraftError: no tool in it, or a name that is not there.
    """
    content = load_json(data, what)
    for key in ("result", "tools"):
        content = content[key] if isinstance(content, dict) and key in content else content
    listed = content if isinstance(content, list) else [content]
    tools = {t["name"]: t for t in map(mapping, listed) if isinstance(t.get("name"), str) and t["name"]}
    for name in names:
        if name not in tools:
            raise DraftError(f"{what}: no tool {name!r}; it has: {', '.join(map(clean, tools)) or 'none'}")
    chosen = {name: tools[name] for name in names} if names else tools
    if not chosen:
        raise DraftError(f"{what}: no tool: a JSON object with name and inputSchema is expected")
    ids: list[str] = []
    drafts = []
    for name, tool in chosen.items():
        ids.append(safe_name(name, ids))
        drafts.append(_draft(ids[-1], name, tool))
    return drafts


def _draft(contract: str, name: str, tool: Mapping[str, Any]) -> Draft:
    notes: list[str] = []
    hints = mapping(tool.get("annotations"))
    claims = [
        (claim, str(hints[hint]).lower())
        for hint, claim in _HINTS.items()
        if isinstance(hints.get(hint), bool)
    ]
    parameters = parameters_of(tool.get("inputSchema"), notes)
    if isinstance(tool.get("outputSchema"), dict):
        notes.append("the output: it is the tool's own word, and no evidence of an effect")
    return Draft(
        id=contract,
        source=f"MCP tool {clean(name)!r}",
        title=words(tool, "title") or words(hints, "title") or clean(name),
        description=words(tool, "description"),
        parameters=parameters,
        claims=tuple(claims),
        notes=tuple(notes),
    )
