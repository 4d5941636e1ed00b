"""Drafts from W3C Web of Things Thing Descriptions 1.1: one for each action, on request for writable
properties too.

A Thing's own forms (HTTP, CoAP, MQTT) are not called from here: a ROS interface that bridges to it is named
by a
person. ``safe``, ``idempotent`` and ``synchronous`` are claims, and stay claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adf_ea_ros.contracts.onboarding.draft import Draft, DraftError, clean, safe_name
from adf_ea_ros.contracts.onboarding.jsonsource import load_json, mapping, parameters_of, words


def drafts_from_wot(
    data: bytes, what: str, names: tuple[str, ...] = (), *, properties: bool = False
) -> list[Draft]:
    """The drafts of a Thing Description's actions (only of those named, if any are).

    Raises:
        DraftError: not a Thing Description, a name is not in it, or it has nothing that acts.
    """
    thing = load_json(data, what)
    if not isinstance(thing, dict) or not ({"actions", "properties", "events", "@context"} & thing.keys()):
        raise DraftError(
            f"{what}: not a Thing Description: a JSON object with actions or properties is expected"
        )
    found: dict[str, tuple[str, Mapping[str, Any]]] = {
        str(name): ("action", mapping(action)) for name, action in mapping(thing.get("actions")).items()
    }
    if properties or names:
        for name, affordance in mapping(thing.get("properties")).items():
            if not mapping(affordance).get("readOnly", False):
                found.setdefault(str(name), ("property", mapping(affordance)))
    for name in names:
        if name not in found:
            raise DraftError(
                f"{what}: no action or writable property {name!r}; it has: {', '.join(found) or 'none'}"
            )
    chosen = {name: found[name] for name in names} if names else found
    if not chosen:
        also = (
            "and no writable properties"
            if properties
            else "(for its writable properties add --with-properties)"
        )
        raise DraftError(f"{what}: no actions {also}: nothing in it acts")
    ids: list[str] = []
    drafts = []
    for name, (kind, affordance) in chosen.items():
        ids.append(safe_name(name if kind == "action" else f"set_{name}", ids))
        drafts.append(_draft(thing, what, ids[-1], name, kind, affordance))
    return drafts


def _draft(
    thing: Mapping[str, Any], what: str, contract: str, name: str, kind: str, affordance: Mapping[str, Any]
) -> Draft:
    notes: list[str] = []
    schema = affordance.get("input") if kind == "action" else affordance
    parameters = parameters_of(schema, notes)
    notes += [f"form {clean(href)}: name the ROS interface that bridges to it" for href in _hrefs(affordance)]
    claims = [
        (claim, str(affordance[claim]).lower())
        for claim in ("safe", "idempotent", "synchronous")
        if isinstance(affordance.get(claim), bool)
    ]
    thing_name = words(thing, "title", "titles", "id") or what
    return Draft(
        id=contract,
        source=f"Thing Description {thing_name!r}, {kind} {name!r}",
        title=words(affordance, "title", "titles") or clean(name),
        description=words(affordance, "description", "descriptions"),
        parameters=parameters,
        claims=tuple(claims),
        readbacks=tuple(_readbacks(thing)),
        notes=tuple(notes),
    )


def _hrefs(affordance: Mapping[str, Any]) -> list[str]:
    forms = affordance.get("forms")
    forms = forms if isinstance(forms, list) else [forms]
    return [href for form in forms if isinstance(href := mapping(form).get("href"), str)]


def _readbacks(thing: Mapping[str, Any]) -> list[str]:
    """The Thing's readable properties: one of them may show the effect, on a topic that a bridge
    publishes."""
    found = []
    for name, affordance in mapping(thing.get("properties")).items():
        fields = mapping(affordance)
        if fields.get("writeOnly") is True:
            continue
        unit = words(fields, "unit")
        kind = fields.get("type") if isinstance(fields.get("type"), str) else "value"
        found.append(
            f"property {name} ({kind}{f', {unit}' if unit else ''}), if a bridge publishes it as a topic"
        )
    return found
