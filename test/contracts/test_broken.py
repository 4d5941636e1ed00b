"""Every file in broken/ says in its first lines what is wrong with it and where: exactly that is reported.

The files are read together with the shipped contracts, which some of them refer to.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adf_ea_ros.contracts.catalog import Catalog, check_catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import load_files, read_files

HERE = Path(__file__).parent
BROKEN = sorted((HERE / "broken").glob("*.yaml"))
CONFIG = HERE.parents[1] / "config"
SHIPPED = read_files([CONFIG / "contracts", CONFIG / "providers"])
_EXPECTED = re.compile(rb"^# expect (\d+): (.*)$", re.MULTILINE)


def expected(path: Path) -> list[tuple[int, str]]:
    """Line and part of the message of every fault that the file announces."""
    return [(int(line), part.decode()) for line, part in _EXPECTED.findall(path.read_bytes())]


def test_the_corpus_is_large_enough():
    assert len(BROKEN) >= 60
    assert all(expected(path) for path in BROKEN)


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_broken_file_is_told_what_and_where(path):
    faults = check_catalog(SHIPPED + read_files([path]))
    found = [(fault.line, f"{fault.path}: {fault.message}") for fault in faults]
    assert {fault.file for fault in faults} == {str(path)}
    for line, part in expected(path):
        assert any(at == line and part in message for at, message in found), (line, part, found)
    for at, message in found:
        assert any(at == line and part in message for line, part in expected(path)), (
            "not announced",
            at,
            message,
        )


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_no_broken_file_gets_into_a_catalog(path):
    with pytest.raises(ContractError) as caught:
        Catalog.of(SHIPPED + read_files([path]))
    assert all(re.match(rf"{re.escape(str(path))}:\d+: ", str(fault)) for fault in caught.value.faults)


def test_all_faults_of_all_files_are_reported_at_once():
    with pytest.raises(ContractError) as caught:
        load_files([p for p in BROKEN if not p.stem.startswith("cross_")])
    assert {fault.file for fault in caught.value.faults} == {
        str(p) for p in BROKEN if not p.stem.startswith("cross_")
    }


@pytest.mark.parametrize("path", [p for p in BROKEN if p.stem.startswith("cross_")], ids=lambda p: p.stem)
def test_order_of_files_does_not_matter(path):
    if "identity" in path.stem or "versions" in path.stem:
        return  # of two files that claim one identity, the one that is read second is at fault
    assert check_catalog(read_files([path]) + SHIPPED) == check_catalog(SHIPPED + read_files([path]))


def test_catalog_is_the_same_in_any_order():
    paths = sorted(
        p
        for kind in ("contracts", "providers", "templates", "tasks", "gates")
        for p in (CONFIG / kind).rglob("*.yaml")
    )
    assert Catalog.load(paths).fingerprints() == Catalog.load(reversed(paths)).fingerprints()


def test_shipped_contracts_are_right():
    assert Catalog.load([CONFIG]).fingerprints()
