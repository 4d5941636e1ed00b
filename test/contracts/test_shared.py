"""What contracts say of things that several authorities use."""

from __future__ import annotations

from pathlib import Path

from adf_ea_ros.authority.grounding import ground_operation
from adf_ea_ros.contracts.canonical import canonical, fingerprint
from adf_ea_ros.contracts.catalog import Catalog

CONFIG = Path(__file__).parents[2] / "config"


def catalog(tmp_path: Path, *, capability: str = "", provider: str = "") -> Catalog:
    """The demo's contracts, with lines added to a capability and to the provider of it."""
    files = []
    for path in (CONFIG / "contracts", CONFIG / "providers"):
        for file in sorted(path.glob("*.yaml")):
            more = {"measure": capability, "probe": provider}.get(file.stem, "")
            files.append(tmp_path / f"{path.name}_{file.name}")
            files[-1].write_text(f"{file.read_text()}{more}")
    return Catalog.load(files)


def test_nothing_is_shared_unless_it_says_so(tmp_path: Path) -> None:
    operation = ground_operation(catalog(tmp_path), "measure", {"sample": "s1"}, "once", 0)
    assert operation.shared == ()
    assert {binding.device for binding in operation.bindings} == {""}


def test_a_shared_capability_shares_what_it_changes_and_what_it_rests_on(tmp_path: Path) -> None:
    found = catalog(tmp_path, capability="shared: true\n", provider="shared_as: the_probe\n")
    operation = ground_operation(found, "measure", {"sample": "s1"}, "once", 0)
    conditions = [effect.condition for effect in operation.effects]
    conditions += [pre.condition for pre in operation.preconditions]
    assert operation.shared == tuple(sorted({condition.subject for condition in conditions})) == ("s1",)
    assert {binding.provider: binding.device for binding in operation.bindings} == {"probe": "the_probe"}


def test_fingerprints_of_contracts_that_share_nothing_are_as_they_were(tmp_path: Path) -> None:
    plain = catalog(tmp_path).capability("measure")
    shared = catalog(tmp_path, capability="shared: true\n").capability("measure")
    unshared = catalog(tmp_path, capability="shared: false\n").capability("measure")
    assert b'"shared' not in canonical(plain)
    assert b'"shared":true' in canonical(shared)
    assert fingerprint(plain) == fingerprint(unshared) != fingerprint(shared)
