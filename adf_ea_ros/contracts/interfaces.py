"""ROS interfaces as far as contracts need them: which fields a type has, read from the installed definitions.

Needs no ROS to run: definitions are text files in ``share/<package>/<kind>/`` of every prefix on
AMENT_PREFIX_PATH.
Where only a generated Python class can be imported, its table of fields is used.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from adf_ea_ros.contracts.faults import has_no
from adf_ea_ros.contracts.units import UNITS

SECTIONS = {"msg": ("message",), "srv": ("request", "response"), "action": ("goal", "result", "feedback")}
_CLASSES = {"srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}
_FIELD = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z0-9_/]*)(?:<=\d+)?(?P<array>\[[<=\d]*\])?"
    r"\s+(?P<name>[a-z][a-z0-9_]*)(?P<default>\s.*)?"
)
_CONSTANT = re.compile(r"[a-z0-9]+\s+[A-Z][A-Z0-9_]*\s*=.*")
_TYPE = re.compile(r"([a-z][a-z0-9_]*)/(msg|srv|action)/([A-Z][A-Za-z0-9]*)")
_SEQUENCE = re.compile(r"sequence<([^,>]+)(?:,\s*\d+)?>|([^\[]+)\[\d*\]")
_KINDS = {"boolean": "boolean", "bool": "boolean", "string": "string", "wstring": "string"}
_KINDS |= dict.fromkeys(("float32", "float64", "float", "double", "long double"), "number")
_KINDS |= dict.fromkeys(
    ("byte", "octet", "char", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))), "integer"
)


class InterfaceError(Exception):
    """An interface that is not installed or not understood; the message says what to do."""


class InterfaceField(msgspec.Struct, frozen=True):
    """One field. ``type`` is a primitive, or ``package/msg/Name``."""

    name: str
    type: str
    array: bool = False
    comment: str = ""

    @property
    def kind(self) -> str:
        """The parameter type that fits: boolean, integer, number or string; empty for messages."""
        return _KINDS.get(self.type, "")

    @property
    def unit(self) -> str:
        """The unit that the comment begins with, if it does."""
        words = self.comment.replace(",", " ").replace(";", " ").split()
        return words[0] if words and words[0] in UNITS and words[0] != "1" else ""


class Interface(msgspec.Struct, frozen=True):
    """A type and its sections (``goal``, ``request``, ``message``, ...)."""

    type: str
    sections: dict[str, tuple[InterfaceField, ...]]
    digest: str = ""  # of the definition's text
    comment: str = ""  # the text above the first field


def split_type(type_name: str) -> tuple[str, str, str]:
    """Package, kind and name of ``package/kind/Name``.

    Raises:
        InterfaceError: another form.
    """
    match = _TYPE.fullmatch(type_name)
    if match is None:
        raise InterfaceError(
            f"{type_name!r} is not an interface type, such as nav2_msgs/action/NavigateToPose"
        )
    return match[1], match[2], match[3]


def brought_by(type_name: str) -> str:
    """The Debian package of a ROS distribution that brings a type, by the rule that names them."""
    return f"ros-$ROS_DISTRO-{split_type(type_name)[0].replace('_', '-')}"


def prefixes() -> list[Path]:
    """Where definitions are looked for."""
    named = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return [*named, Path(sys.prefix)]


def find_interface(type_name: str) -> Interface:
    """The definition of an installed type.

    Raises:
        InterfaceError: not installed, or not readable as an interface.
    """
    return _find(type_name, os.environ.get("AMENT_PREFIX_PATH", ""))


@lru_cache(maxsize=512)
def _find(type_name: str, _search_path: str) -> Interface:
    package, kind, name = split_type(type_name)
    for prefix in prefixes():
        path = prefix / "share" / package / kind / f"{name}.{kind}"
        if path.is_file():
            return read_interface(path, type_name)
    generated = _from_class(package, kind, name)
    if generated is not None:
        return generated
    raise InterfaceError(
        f"{type_name} is not installed here: {brought_by(type_name)} brings it, or source the workspace "
        "that has it "
        f"(AMENT_PREFIX_PATH is {os.environ.get('AMENT_PREFIX_PATH') or 'not set'})"
    )


def installed_types(kind: str) -> list[str]:
    """The full names of all installed types of a kind (msg, srv or action), for completion."""
    found = {
        f"{path.parts[-3]}/{kind}/{path.stem}"
        for prefix in prefixes()
        for path in (prefix / "share").glob(f"*/{kind}/*.{kind}")
    }
    return sorted(found)


def read_interface(path: Path, type_name: str = "") -> Interface:
    """The definition in a .msg, .srv or .action file; without ``type_name`` the path must say the package.

    Raises:
        InterfaceError: the file cannot be read or is no interface definition.
    """
    kind = path.suffix[1:]
    if kind not in SECTIONS:
        raise InterfaceError(f"{path}: an interface definition ends in .msg, .srv or .action")
    if not type_name:
        package = _package(path.resolve().parent.parent)
        type_name = f"{package}/{kind}/{path.stem}"
        split_type(type_name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InterfaceError(f"{path}: cannot be read: {error}") from error
    return parse_interface(type_name, text)


def parse_interface(type_name: str, text: str) -> Interface:
    """The definition in a text.

    Raises:
        InterfaceError: a line is neither field, constant nor comment, or sections are missing.
    """
    package, kind, _ = split_type(type_name)
    names = SECTIONS[kind]
    parts = re.split(r"^---.*$", text, flags=re.MULTILINE)
    if len(parts) != len(names):
        raise InterfaceError(f"{type_name}: {len(names)} sections are expected, found {len(parts)}")
    sections = {
        name: tuple(_fields(type_name, package, part)) for name, part in zip(names, parts, strict=True)
    }
    lead = []
    for line in text.splitlines():
        if not line.lstrip().startswith("#"):
            break
        lead.append(line.strip("# \t"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Interface(type_name, sections, digest, " ".join(lead).strip())


def _fields(type_name: str, package: str, text: str) -> Iterable[InterfaceField]:
    # a comment above the first field is about the section, not about the field
    above: list[str] | None = None
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        code = code.strip()
        if not code:
            if above is not None:
                above = [*above, comment.strip()] if comment.strip() else []
            continue
        if not _CONSTANT.fullmatch(code):
            match = _FIELD.fullmatch(code)
            if match is None:
                raise InterfaceError(f"{type_name}: not understood: {code[:60]!r}")
            said = comment.strip() or " ".join(above or [])
            yield InterfaceField(match["name"], _full(match["type"], package), bool(match["array"]), said)
        above = []


def _full(name: str, package: str) -> str:
    """The full name of a field's type."""
    if name in _KINDS or "/msg/" in name:
        return name
    if "/" in name:
        return name.replace("/", "/msg/", 1)
    if name in ("Header", "time", "duration"):  # older spellings
        return {"Header": "std_msgs/msg/Header"}.get(name, f"builtin_interfaces/msg/{name.capitalize()}")
    return f"{package}/msg/{name}"


def _from_class(package: str, kind: str, name: str) -> Interface | None:
    try:
        found = getattr(importlib.import_module(f"{package}.{kind}"), name)
        parts = [found] if kind == "msg" else [getattr(found, part) for part in _CLASSES[kind]]
        tables = [part.get_fields_and_field_types() for part in parts]
    except (ImportError, AttributeError):
        return None
    sections = {
        section: tuple(_from_table(field, spelled, package) for field, spelled in table.items())
        for section, table in zip(SECTIONS[kind], tables, strict=True)
    }
    return Interface(f"{package}/{kind}/{name}", sections)


def _from_table(name: str, spelled: str, package: str) -> InterfaceField:
    match = _SEQUENCE.fullmatch(spelled)
    inner = (match[1] or match[2]) if match else spelled
    return InterfaceField(name, _full(re.sub(r"<\d+>$", "", inner), package), match is not None)


def type_hashes(type_name: str) -> dict[str, str]:
    """The hashes (RIHS01) of an installed type and of the types that it is made of, by full name."""
    package, kind, name = split_type(type_name)
    for prefix in prefixes():
        path = prefix / "share" / package / kind / f"{name}.json"
        if path.is_file():
            try:
                entries = json.loads(path.read_text(encoding="utf-8"))["type_hashes"]
                return {entry["type_name"]: entry["hash_string"] for entry in entries}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InterfaceError(f"{path}: not a type description: {error}") from error
    return {}


def resolve(interface: Interface, section: str, path: str) -> InterfaceField:
    """The field at a path such as ``pose.pose.position.x`` of a section, through nested messages.

    Raises:
        InterfaceError: no such field, a list without an index or the reverse, or a nested type is not
        installed.
    """
    fields: Sequence[InterfaceField] = interface.sections[section]
    owner = f"{interface.type} ({section})"
    parts = re.findall(r"([a-z][a-z0-9_]*)(\[[^\]]*\])?(?:\.|$)", path)
    found: InterfaceField | None = None
    for index, (name, bracket) in enumerate(parts):
        by_name = {field.name: field for field in fields}
        if name not in by_name:
            raise InterfaceError(has_no(owner, "field", name, by_name))
        found = by_name[name]
        if bool(bracket) != found.array and (bracket or index < len(parts) - 1):
            raise InterfaceError(f"{name!r} of {owner} is {'not ' if bracket else ''}a list")
        if index < len(parts) - 1:
            if found.kind:
                raise InterfaceError(f"{name!r} of {owner} is a {found.type}: it has no fields")
            nested = find_interface(found.type)
            fields, owner = nested.sections["message"], nested.type
        elif bracket:
            found = InterfaceField(found.name, found.type, False, found.comment)
    if found is None:
        raise InterfaceError(f"{path!r} is not a field path")
    return found


def _package(folder: Path) -> str:
    """The ROS package in ``folder``: as its package.xml says, which need not be what the folder is called."""
    try:
        found = re.search(r"<name>\s*(\w+)\s*</name>", (folder / "package.xml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        found = None
    return found[1] if found is not None else folder.name
