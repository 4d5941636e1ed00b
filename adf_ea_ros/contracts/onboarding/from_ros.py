"""Drafts from ROS interfaces: arguments from the goal's fields, units from their comments."""

from __future__ import annotations

from collections.abc import Iterator

from adf_ea_ros.contracts.blanks import blank
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.interfaces import (
    Interface,
    InterfaceError,
    InterfaceField,
    find_interface,
    type_hashes,
)
from adf_ea_ros.contracts.onboarding.draft import Draft, DraftParameter, DraftTool, safe_name

_SECTION = {"action": "goal", "srv": "request", "msg": "message"}
_TOOL_KIND = {"action": "action", "srv": "service", "msg": "topic"}
_HEADINGS = {f"{section} definition" for section in ("goal", "request")}
_DEPTH = 5
_LENGTH_UNIT = {"geometry_msgs/msg/Point", "geometry_msgs/msg/Vector3"}
_LEFT_ALONE = {"builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration"}


def draft_from_ros(interface: Interface, name: str, capability: str = "") -> Draft:
    """A draft for the interface that is served under ``name`` (fully qualified)."""
    kind = interface.type.split("/")[1]
    notes: list[str] = []
    constants: dict[str, Value] = {}
    leaves = list(_leaves(interface.sections[_SECTION[kind]], "", interface.type, notes, constants, _DEPTH))
    names = _short_names([path for path, _, _ in leaves])
    parameters = [
        DraftParameter(
            names[path],
            "number" if field.type == _QUATERNION else field.kind,
            path,
            "" if field.comment == field.unit else field.comment,
            "rad" if field.type == _QUATERNION else field.unit or unit,
            heading=field.type == _QUATERNION,
        )
        for path, field, unit in leaves
    ]
    readbacks = [
        f"not the {section}'s {', '.join(f.name for f in fields)}: those are the server's own word"
        for section, fields in interface.sections.items()
        if section in ("result", "response") and fields
    ]
    tool = DraftTool(
        _TOOL_KIND[kind],
        name,
        interface.type,
        # The graph shows no hash of a service: pinning one would mean that it can never be confirmed.
        "" if kind == "srv" else type_hashes(interface.type).get(interface.type, ""),
        tuple(constants.items()),
    )
    digest = f", sha256 {interface.digest}" if interface.digest else ""
    return Draft(
        id=capability or safe_name(name.rsplit("/", 1)[-1]),
        source=f"ROS interface {interface.type}{digest}",
        title=interface.type.rsplit("/", 1)[-1],
        description="" if interface.comment.lower() in _HEADINGS else interface.comment,
        parameters=tuple(parameters),
        tool=tool,
        readbacks=tuple(readbacks),
        notes=tuple(notes),
    )


_QUATERNION = "geometry_msgs/msg/Quaternion"


def _leaves(
    fields: tuple[InterfaceField, ...],
    prefix: str,
    owner: str,
    notes: list[str],
    constants: dict[str, Value],
    depth: int,
) -> Iterator[tuple[str, InterfaceField, str]]:
    """Path, field and unit of every single value below ``fields``; what cannot be an argument becomes a
    note."""
    unit = "m" if owner == "geometry_msgs/msg/Point" else ""
    for field in fields:
        path = prefix + field.name
        if field.array:
            notes.append(
                f"{path} ({field.type}[]): a list is no argument; set elements as constants if needed"
            )
        elif field.kind or field.type == _QUATERNION:
            yield path, field, unit
        elif field.type == "std_msgs/msg/Header":
            constants[f"{path}.frame_id"] = blank("the frame in which the goal is meant, such as map")
        elif field.type in _LEFT_ALONE:
            notes.append(f"{path} ({field.type}): left at zero")
        elif depth == 0:
            notes.append(f"{path} ({field.type}): nested too deeply")
        else:
            try:
                nested = find_interface(field.type)
            except InterfaceError as error:
                notes.append(f"{path}: {error}")
                continue
            yield from _leaves(
                nested.sections["message"], f"{path}.", field.type, notes, constants, depth - 1
            )


def _short_names(paths: list[str]) -> dict[str, str]:
    """For each path the shortest ending that is unique: ``pose.position.x`` becomes ``x`` where no other x
    is."""
    names: dict[str, str] = {}
    for path in paths:
        parts = path.split(".")
        endings = ["_".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        others = [other for other in paths if other != path]
        unique = next(
            (e for n, e in enumerate(endings, 1) if all("_".join(o.split(".")[-n:]) != e for o in others)),
            endings[-1],
        )
        names[path] = safe_name("yaw" if unique == "orientation" else unique, names.values())
    return names
