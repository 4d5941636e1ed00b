"""Whether a policy file lets anybody around the authority: by name, by pattern, or by a shared process."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fnmatch import fnmatchcase

import msgspec

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.runtime.policy import SECTIONS, Right, Who, exclusive

_INCLUDE = "{http://www.w3.org/2001/XInclude}include"


class NoPolicy(ValueError):
    """The text is not a policy that can be read; the message says why."""


class Leak(msgspec.Struct, frozen=True, order=True):
    """A node that has a right which is another's alone."""

    enclave: str
    node: str
    verb: str
    name: str
    owner: str
    pattern: str = ""  # as the file spells it, where that is not the name itself
    shared: bool = False  # it has the right because it shares a process with the owner

    def __str__(self) -> str:
        """As one line."""
        why = f" (by {self.pattern!r})" if self.pattern else ""
        why += " (it shares a process with the owner)" if self.shared else ""
        return f"enclave {self.enclave}: {self.node} may {self.verb} {self.name}{why}; {self.owner} should"


def leaks(text: str, catalog: Catalog, who: Who) -> list[Leak]:
    """Everything in the policy that lets somebody around these contracts.

    What is enforced is the enclave's: every node of a process has the rights of all of them. Authority and
    capability node may share one. Where one list of an enclave denies what another allows, it is denied.

    Raises:
        NoPolicy: not XML, no policy, or one that is spread over several files.
    """
    found: set[Leak] = set()
    owners = exclusive(catalog, who)
    ours = {who.authority, who.capability}
    for enclave, profiles in _enclaves(text):
        denied = [entry for entries in profiles.values() for allow, entry in entries if not allow]
        for right, owned_by in owners.items():
            if any(_covers(entry, right) for entry in denied):
                continue
            may = owned_by | (ours if owned_by & ours else set())
            givers = {
                node: entry
                for node, entries in profiles.items()
                for allow, entry in entries
                if allow and _covers(entry, right)
            }
            for node in profiles if givers else ():
                if node not in may:
                    entry = givers.get(node, right)
                    pattern = entry[1] if entry[1] != right[1] else ""
                    owner = f"only {' or '.join(sorted(owned_by))}" if owned_by else "nobody"
                    found.add(Leak(enclave, node, *right, owner, pattern, node not in givers))
    return sorted(found)


def _covers(entry: Right, right: Right) -> bool:
    """Whether an entry gives (or denies) a right. Patterns are those of the middleware: *, ?, [...]."""
    return entry[0] == right[0] and fnmatchcase(right[1], entry[1])


def _enclaves(text: str) -> Iterator[tuple[str, dict[str, list[tuple[bool, Right]]]]]:
    """Each enclave: its path and, by node, its entries: whether it allows (else denies), and what."""
    try:
        root = ET.fromstring(text)  # noqa: S314 - a file that the user names, and entities are not expanded to files
    except ET.ParseError as error:
        raise NoPolicy(f"no XML: {error}") from None
    if root.tag != "policy":
        raise NoPolicy(f"the root element is {root.tag}, not policy")
    if any(element.tag == _INCLUDE for element in root.iter()):
        raise NoPolicy("it includes other files, which are not read here; try: xmllint --xinclude FILE")
    for enclave in root.iter("enclave"):
        profiles: dict[str, list[tuple[bool, Right]]] = {}
        for profile in enclave.iter("profile"):
            namespace = profile.get("ns", "/").rstrip("/")
            node = f"{namespace}/{profile.get('node', '')}"
            entries = profiles.setdefault(node, [])
            for section in profile:
                for verb, (_, element) in SECTIONS.items():
                    for each in section.iter(element) if section.get(verb) else ():
                        name = _full(each.text or "", namespace, node)
                        entries.append((section.get(verb) == "ALLOW", (verb, name)))
        yield enclave.get("path", ""), profiles


def _full(name: str, namespace: str, node: str) -> str:
    name = name.strip()
    if name.startswith("/"):
        return name
    return node + name[1:] if name.startswith("~") else f"{namespace}/{name}"
