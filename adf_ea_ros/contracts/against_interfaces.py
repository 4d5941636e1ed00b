"""Providers against the interfaces they name: do the fields exist, and do they take and give such values.

Only installed interfaces can be looked at. One that is not installed is no fault: the robot may have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adf_ea_ros.contracts.comparable import Comparable, kind_of
from adf_ea_ros.contracts.faults import Fault, Loc
from adf_ea_ros.contracts.interfaces import (
    Interface,
    InterfaceError,
    InterfaceField,
    brought_by,
    find_interface,
    resolve,
)
from adf_ea_ros.contracts.loader import Document
from adf_ea_ros.contracts.model import CapabilityContract, FieldOr, Gate, ProviderContract, Route, Tool
from adf_ea_ros.contracts.readings import Angle, Derivation, Distance, Number, Yaw

Found = Iterator[tuple[Loc, str]]
_SECTION = {"action": "goal", "service": "request", "topic": "message"}
_ANSWER = {"action": "result", "service": "response"}
_NUMERIC = ("integer", "number")


def check_interfaces(documents: Iterable[Document]) -> tuple[list[Fault], list[str]]:
    """Faults, and a note for each package of types that is not installed here."""
    documents = list(documents)
    capabilities = {
        d.contract.id: d.contract for d in documents if isinstance(d.contract, CapabilityContract)
    }
    tools = {d.contract.id: d.contract.tool for d in documents if isinstance(d.contract, ProviderContract)}
    faults: list[Fault] = []
    absent: set[str] = set()
    comparable = Comparable((d.contract for d in documents), lambda name: _installed(name, absent))
    for document in documents:
        provider = document.contract
        found: list[tuple[Loc, str]] = []
        tool = tools.get(provider.provider) if isinstance(provider, Gate) else None
        if isinstance(provider, Gate) and tool and (interface := _installed(tool.type, absent)) is not None:
            found += gate_fields(provider, tool, interface)
        found += comparable.check(provider)
        if not isinstance(provider, ProviderContract):
            faults += [document.fault(loc, message) for loc, message in found]
            continue
        if provider.tool is not None and (interface := _installed(provider.tool.type, absent)) is not None:
            found += _tool(provider.tool, interface, capabilities.get(provider.tool.provides))
        for name, route in provider.routes.items():
            if (interface := _installed(route.type, absent)) is not None:
                found += [(("routes", name, *loc), message) for loc, message in _route(route, interface)]
        faults += [document.fault(loc, message) for loc, message in found]
    return sorted(faults), _notes(absent)


def _installed(type_name: str, absent: set[str]) -> Interface | None:
    try:
        return find_interface(type_name)
    except InterfaceError:
        absent.add(type_name)
        return None


def _notes(absent: set[str]) -> list[str]:
    packages: dict[str, list[str]] = {}
    for type_name in sorted(absent):
        packages.setdefault(brought_by(type_name), []).append(type_name)
    return [
        f"fields not compared, not installed here ({package} brings it): {', '.join(names)}"
        for package, names in packages.items()
    ]


def _tool(tool: Tool, interface: Interface, capability: CapabilityContract | None) -> Found:
    section = _SECTION[tool.kind]
    for path, name in tool.arguments.items():
        parameter = capability.parameters.get(name) if capability is not None else None
        for message in _field(interface, section, path, parameter.type if parameter is not None else ""):
            yield ("tool", "arguments", path), message
    for path in tool.yaw:
        for message in _message_field(interface, section, path, "geometry_msgs/msg/Quaternion"):
            yield ("tool", "yaw", path), message
    for path, value in tool.constants.items():
        for message in _field(interface, section, path, kind_of(value)):
            yield ("tool", "constants", path), message
    if tool.promises.key_field:
        for message in _field(interface, section, tool.promises.key_field, "string"):
            yield ("tool", "promises", "key_field"), message


def gate_fields(gate: Gate, tool: Tool, interface: Interface) -> Found:
    """What is wrong with the fields that a gate names in the hardware's own type."""
    section = _SECTION[tool.kind]
    for name, path in gate.fields.items():
        for message in _field(interface, section, path, ""):
            yield ("fields", name), message
    for index, path in enumerate(gate.ignored):
        try:
            resolve(interface, section, path)
        except InterfaceError as error:
            yield ("ignored", index), str(error)
    answer = _ANSWER.get(tool.kind)
    if answer is None:
        return
    for part in ("verified", "refused"):
        for path, value in getattr(gate.reply, part).items():
            for message in _field(interface, answer, path, kind_of(value)):
                yield ("reply", part, path), message
    if gate.reply.text:
        for message in _field(interface, answer, gate.reply.text, "string"):
            yield ("reply", "text"), message
    own = {field.name: field for field in interface.sections[answer]}
    can_refuse = "success" in own and own["success"].kind == "boolean"
    if tool.kind == "service" and not gate.reply.refused and not can_refuse:
        yield (
            ("reply", "refused"),
            (
                f"{tool.type} has no boolean field 'success': say which fields of its response, with which "
                "values, mean that nothing was done or that it is not verified"
            ),
        )


def _route(route: Route, interface: Interface) -> Found:
    yield from _source(interface, route.subject, ("subject",))
    if route.derive is None:
        yield from _source(interface, route.value, ("value",))
    elif route.value.field:
        yield from _derived(interface, route.derive, route.value.field, ("value", "field"))
        if to_field := getattr(route.derive, "to_field", ""):
            yield from _derived(interface, route.derive, to_field, ("derive", "to_field"))
    if route.stamp:
        for message in _message_field(interface, "message", route.stamp, "builtin_interfaces/msg/Time"):
            yield ("stamp",), message
    others = {("correlation", key): path for key, path in route.correlation.items()}
    if route.producer:
        others["producer",] = route.producer  # type: ignore[index]
    for loc, path in others.items():
        for message in _field(interface, "message", path, ""):
            yield loc, message


def _derived(interface: Interface, derive: Derivation, path: str, at: Loc) -> Found:
    """Whether a derivation can make its number of a field."""
    try:
        field = resolve(interface, "message", path)
        inner = () if field.kind else find_interface(field.type).sections["message"]
    except InterfaceError as error:
        yield at, str(error)
        return
    numbers = {each.name for each in inner if each.kind in _NUMERIC and not each.array}
    if isinstance(derive, Number):
        wanted, fits = "a number", field.kind in _NUMERIC and not field.array
    elif isinstance(derive, Angle | Yaw):
        wanted, fits = (
            "a rotation: it has no x, y, z and w",
            numbers >= {"x", "y", "z", "w"} and not field.array,
        )
    else:
        flat = isinstance(derive, Distance) and derive.to is not None and len(derive.to) == 2
        wanted = "a position in the plane" if flat else "a vector"
        fits = numbers >= {"x", "y"} if not field.array else field.kind in _NUMERIC
        if (
            isinstance(derive, Distance)
            and len(derive.to or ()) == 3
            and not field.array
            and "z" not in numbers
        ):
            wanted, fits = "a position in space: it has no x, y and z", False
    if not fits:
        yield at, f"{path!r} of {interface.type} is {_type_of(field)}, which is not {wanted}"


def _type_of(field: InterfaceField) -> str:
    return field.type + "[]" * field.array


def _source(interface: Interface, source: FieldOr, at: Loc) -> Found:
    if not source.field:
        return
    try:
        field = resolve(interface, "message", source.field)
    except InterfaceError as error:
        yield (*at, "field"), str(error)
        return
    if message := _not_a_value(field):
        yield (*at, "field"), message


def _field(interface: Interface, section: str, path: str, kind: str) -> Iterator[str]:
    """What is wrong with a field that takes or gives a value of a kind; any kind where it is empty."""
    try:
        field = resolve(interface, section, path)
    except InterfaceError as error:
        yield str(error)
        return
    if message := _not_a_value(field):
        yield message
    elif kind and field.kind != kind and not (kind == "integer" and field.kind == "number"):
        yield f"{path!r} of {interface.type} is {field.type}, which takes no {kind}"


def _message_field(interface: Interface, section: str, path: str, wanted: str) -> Iterator[str]:
    try:
        field = resolve(interface, section, path)
    except InterfaceError as error:
        yield str(error)
        return
    if field.type != wanted or field.array:
        yield f"{path!r} of {interface.type} is {_type_of(field)}, not {wanted}"


def _not_a_value(field: InterfaceField) -> str:
    if field.array:
        return f"{field.name!r} is a list of {field.type}: name one element, such as {field.name}[0]"
    if not field.kind:
        return f"{field.name!r} is a {field.type}, not a single value: name a field of it"
    return ""
