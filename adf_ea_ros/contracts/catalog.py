"""The catalog: every contract that was loaded, which version of each is in force, and whether it may be
bound.

A catalog is a value. ``revoke`` gives a new one, so a decision that was made under one catalog can be told
from a
decision under the next. Time is passed in: expiry is a matter of ROS time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from adf_ea_ros.contracts.canonical import fingerprint
from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.contracts.crosscheck import check_references, precedence
from adf_ea_ros.contracts.faults import ContractError, Fault, suggestion
from adf_ea_ros.contracts.loader import Document, Loaded, load_files, read_files
from adf_ea_ros.contracts.model import (
    AnyContract,
    CapabilityContract,
    Contract,
    Gate,
    Lifecycle,
    ProviderContract,
    Route,
    Task,
)

Key = tuple[str, str]
"""Kind ("capability", "provider", "task", "gate") and id."""


class Revocation(msgspec.Struct, frozen=True):
    """That a contract may no longer be bound, since when and why. Never taken back: a new version is
    loaded."""

    kind: str
    id: str
    reason: str
    since: Ns


class Catalog:
    """Contracts by kind and id. Build it with ``load`` or ``of``; both refuse faulty sets as a whole."""

    __slots__ = ("_contracts", "_current", "_providers", "_revocations")

    def __init__(
        self, contracts: Iterable[AnyContract], revocations: Mapping[Key, Revocation] | None = None
    ) -> None:
        self._contracts = tuple(contracts)
        self._revocations: dict[Key, Revocation] = dict(revocations or {})
        self._current: dict[Key, AnyContract] = {}
        for contract in sorted(self._contracts, key=precedence):
            self._current[contract.kind, contract.id] = contract
        self._providers: dict[str, list[ProviderContract]] = {}
        for current in self._current.values():
            if isinstance(current, ProviderContract) and current.tool is not None:
                self._providers.setdefault(current.tool.provides, []).append(current)

    @classmethod
    def load(cls, paths: Iterable[str | Path]) -> Catalog:
        """The catalog of these files and folders.

        Raises:
            ContractError: with every fault of every file and every reference.
        """
        loaded = read_files(paths)
        faults = check_catalog(loaded)
        if faults:
            raise ContractError(faults)
        return cls(loaded.contracts)

    @classmethod
    def of(cls, loaded: Loaded) -> Catalog:
        """The catalog of what was loaded already. Raises ContractError as ``load`` does."""
        faults = check_catalog(loaded)
        if faults:
            raise ContractError(faults)
        return cls(loaded.contracts)

    # ------------------------------------------------------------------------------------------------- look
    # up

    def capability(self, name: str) -> CapabilityContract:
        """The version in force of a capability. Raises KeyError, with the nearest name, if there is none."""
        found = self._get("capability", name)
        assert isinstance(found, CapabilityContract)
        return found

    def provider(self, name: str) -> ProviderContract:
        """The version in force of a provider. Raises KeyError as ``capability`` does."""
        found = self._get("provider", name)
        assert isinstance(found, ProviderContract)
        return found

    def task(self, name: str) -> Task:
        """The newest version of a task. Raises KeyError as ``capability`` does."""
        found = self._get("task", name)
        assert isinstance(found, Task)
        return found

    def route(self, ref: str) -> Route:
        """The route ``provider/route``. Raises KeyError as ``capability`` does."""
        owner, _, name = ref.partition("/")
        routes = self.provider(owner).routes
        if name not in routes:
            raise KeyError(f"provider {owner!r} has no route {name!r}{suggestion(name, routes)}")
        return routes[name]

    def providers_of(self, capability: str) -> tuple[ProviderContract, ...]:
        """Every provider of a capability in the order of ids, whether it may be bound or not."""
        return tuple(sorted(self._providers.get(capability, []), key=lambda p: p.id))

    def bindable_providers(
        self, capability: str, now: Ns, arguments: dict[str, Value] | None = None
    ) -> tuple[ProviderContract, ...]:
        """The providers of a capability that may be bound at ``now``; of an operation, for its arguments."""
        return tuple(
            p
            for p in self.providers_of(capability)
            if not self.obstacle("provider", p.id, now)
            and (arguments is None or p.tool is None or p.tool.serves(arguments))
        )

    def capabilities(self) -> tuple[CapabilityContract, ...]:
        """Every capability in force, in the order of ids."""
        return tuple(c for c in self._ordered() if isinstance(c, CapabilityContract))

    def providers(self) -> tuple[ProviderContract, ...]:
        """Every provider in force, in the order of ids."""
        return tuple(c for c in self._ordered() if isinstance(c, ProviderContract))

    def tasks(self) -> tuple[Task, ...]:
        """Every task, in the order of ids."""
        return tuple(c for c in self._ordered() if isinstance(c, Task))

    def gates(self) -> tuple[Gate, ...]:
        """Every drop-in gate, in the order of ids."""
        return tuple(c for c in self._ordered() if isinstance(c, Gate))

    def _ordered(self) -> list[AnyContract]:
        return [self._current[key] for key in sorted(self._current)]

    def _get(self, kind: str, name: str) -> AnyContract:
        try:
            return self._current[kind, name]
        except KeyError:
            known = [known for known_kind, known in self._current if known_kind == kind]
            raise KeyError(f"no {kind} {name!r} is loaded{suggestion(name, known)}") from None

    # ------------------------------------------------------------------------------------- may it be bound
    # now?

    def obstacle(self, kind: str, name: str, now: Ns) -> str:
        """Why a contract may not be bound at ``now`` (in a sentence), or nothing. Raises KeyError if
        unknown."""
        contract = self._get(kind, name)
        revocation = self._revocations.get((kind, name))
        if revocation is not None:
            return f"{kind} {name} was revoked: {revocation.reason}"
        lifecycle = getattr(contract, "lifecycle", Lifecycle.ACTIVE)
        if lifecycle is not Lifecycle.ACTIVE:
            return (
                f"{kind} {name} is {'a draft' if lifecycle is Lifecycle.DRAFT else lifecycle.value}, "
                "not active"
            )
        expires = getattr(contract, "expires", None)
        if expires is not None and now >= expires * 1_000_000_000:
            return f"{kind} {name} expired at {expires} s of ROS time"
        return ""

    def revoke(self, kind: str, name: str, reason: str, now: Ns) -> Catalog:
        """A catalog in which this contract is revoked. A first reason stays. Raises KeyError if unknown."""
        self._get(kind, name)
        if not reason.strip():
            raise ValueError("a revocation needs a reason")
        revocations = {(kind, name): Revocation(kind, name, reason, now), **self._revocations}
        return Catalog(self._contracts, revocations)

    @property
    def revocations(self) -> tuple[Revocation, ...]:
        """What was revoked at run time, in the order of kinds and ids."""
        return tuple(self._revocations[key] for key in sorted(self._revocations))

    # --------------------------------------------------------------------------------------------
    # fingerprints

    def fingerprints(self) -> dict[str, str]:
        """Fingerprint of every contract, also of versions not in force, by ``kind/id@version``."""
        return {identity(c): fingerprint(c) for c in self._contracts}

    def drift(self, recorded: Mapping[str, str]) -> list[str]:
        """Sentences about contracts whose content is not what was ``recorded`` under the same version."""
        present = self.fingerprints()
        return [
            f"{name} has other content than when it was last used: give it a new version"
            for name in sorted(recorded)
            if name in present and present[name] != recorded[name]
        ]


def identity(contract: Contract) -> str:
    """The exact identity of a contract: ``kind/id@version``."""
    return f"{getattr(contract, 'kind', '')}/{contract.id}@{contract.version}"


def check_catalog(loaded: Loaded) -> list[Fault]:
    """Every fault of a set of files: of each by itself, of references, of identities."""
    return sorted(
        [*loaded.faults, *check_references(loaded.documents, loaded.broken), *_identities(loaded.documents)]
    )


def _identities(documents: Iterable[Document]) -> list[Fault]:
    """Duplicate identities, two versions in force, and versions that are about something else."""
    faults: list[Fault] = []
    exact: dict[str, Document] = {}
    first: dict[Key, Document] = {}
    active: dict[Key, Document] = {}
    for document in documents:
        contract = document.contract
        key = (contract.kind, contract.id)
        name = identity(contract)
        if name in exact:
            faults.append(document.fault(("id",), f"{name} is already in {exact[name].file}"))
            continue
        exact[name] = document
        lifecycle = getattr(contract, "lifecycle", Lifecycle.ACTIVE)
        if lifecycle is Lifecycle.ACTIVE:
            if key in active:
                other = active[key]
                faults.append(
                    document.fault(
                        ("version",),
                        f"two active versions of {contract.kind} {contract.id}: "
                        f"{other.contract.version} in {other.file} is the other",
                    )
                )
            active.setdefault(key, document)
        if key in first and (what := _drift(first[key].contract, contract)):
            other = first[key]
            faults.append(
                document.fault(
                    ("version",),
                    f"{what} differs from version {other.contract.version} in {other.file}: another "
                    f"{what} is another {contract.kind}, with an id of its own",
                )
            )
        first.setdefault(key, document)
    return faults


def _drift(one: AnyContract, other: AnyContract) -> str:
    """Which identifying part differs between two versions of one id, or nothing."""
    if isinstance(one, CapabilityContract) and isinstance(other, CapabilityContract):
        return "subject" if one.subject != other.subject else ""
    if isinstance(one, ProviderContract) and isinstance(other, ProviderContract):
        if one.node != other.node:
            return "node"
        return (
            "capability" if (one.tool and one.tool.provides) != (other.tool and other.tool.provides) else ""
        )
    return ""


__all__ = ["Catalog", "ContractError", "Revocation", "check_catalog", "identity", "load_files"]
