"""No text makes the loader raise anything but its own error, or take long."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adf_ea_ros.contracts.catalog import Catalog, check_catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import load_files, read_text
from adf_ea_ros.contracts.yamlsource import MAX_BYTES, parse_documents

CONFIG = Path(__file__).parents[2] / "config"
SHIPPED = [
    p.read_text()
    for kind in ("contracts", "providers", "templates", "tasks", "gates")
    for p in sorted((CONFIG / kind).rglob("*.yaml"))
]
LINES = sorted({line for text in SHIPPED for line in text.splitlines()})
SPICE = [
    "&a",
    "*a",
    "<<",
    "!!x",
    "!y",
    "---",
    "...",
    "? ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "\t",
    "\0",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%YAML 1.1",
    "%TAG ! tag:x,2000:",
]
VALUES = [
    "",
    "~",
    "yes",
    "1e999",
    ".nan",
    "-.inf",
    "0x1f",
    "1:30",
    "9" * 5000,
    "2026-01-01",
    "??",
    "{}",
    "[]",
    "\U0001f916",
    "true",
    "20 s",
    "-1 s",
]


@settings(deadline=None)
@given(st.text(max_size=300))
@example("%TAG ! tag:x,2000:\n---\na: 1")
@example("? " * 200)
@example("- " * 5000)
@example("&a " * 50 + "x")
@example("a: !<tag:yaml.org,2002:binary> ====")
@example("\ufeff\ufeffa: 1")
@example('a: "\\ud800"')
@example("'" + "x" * 100_000)
@example("a: " + "9" * 10_000)
@example("a:\n" * 3000)
@example("kind: {a: b}\nid: []")
@example("kind: task\n1: 2\n? {}\n: x")
def test_any_text(text):
    check_catalog(read_text(text))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_contracts(data):
    """Shipped files with lines swapped, dropped, doubled and values replaced: far into the checks."""
    lines = data.draw(st.sampled_from(SHIPPED)).splitlines()
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, max(0, len(lines) - 1)))
        kind = data.draw(st.sampled_from(["drop", "double", "swap", "value", "spice", "indent"]))
        if not lines:
            break
        if kind == "drop":
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "swap":
            lines[at] = data.draw(st.sampled_from(LINES))
        elif kind == "value":
            key = lines[at].partition(":")[0]
            lines[at] = f"{key}: {data.draw(st.sampled_from(VALUES))}"
        elif kind == "spice":
            cut = data.draw(st.integers(0, len(lines[at])))
            lines[at] = lines[at][:cut] + data.draw(st.sampled_from(SPICE)) + lines[at][cut:]
        else:
            lines[at] = "  " + lines[at]
    loaded = read_text("\n".join(lines))
    for fault in check_catalog(loaded):
        assert 0 <= fault.line <= len(lines) + 1
        assert fault.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "kind", "x", "argument"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SHIPPED), st.data())
def test_any_value_in_any_place(text, data):
    """A value of any shape in the place of any value of a shipped file."""
    documents = [raw.data for raw in parse_documents(text, lambda *_: None)]
    holder, key = documents, data.draw(st.integers(0, len(documents) - 1))
    while isinstance(holder[key], dict) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        key = data.draw(st.sampled_from(sorted(holder)))
    holder[key] = data.draw(JSON)
    for fault in check_catalog(read_text("\n---\n".join(map(json.dumps, documents)))):
        assert fault.message


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(ContractError):  # no two hundred bytes are a contract
        load_files([path])


def test_deep_nesting_is_refused_without_recursion():
    for opening in ("[", "{a: ", "- ", "? "):
        loaded = read_text("a: " + opening * 400_000 if opening in "[{a: " else opening * 400_000)
        assert loaded.faults


def test_files_that_are_no_files(tmp_path):
    for path in (tmp_path / "absent.yaml", tmp_path, "\0", "x" * 5000):
        with pytest.raises(ContractError) as caught:
            load_files([path])
        assert caught.value.faults[0].line == 0
    link = tmp_path / "loop.yaml"
    link.symlink_to(link)
    with pytest.raises(ContractError, match=r"loop\.yaml:0: cannot be read"):
        load_files([link])


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"a: 1\n" * (MAX_BYTES // 5 + 1))
    with pytest.raises(ContractError, match="no contract is that long"):
        load_files([path])


def test_many_small_values_are_refused():
    assert "values in one file" in str(read_text("[" + "1," * 60_000 + "]").faults[0])


def test_utf8_with_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SHIPPED[0].encode())
    assert load_files([path]).contracts == read_text(SHIPPED[0]).contracts
    path.write_bytes(SHIPPED[0].encode("utf-16"))
    with pytest.raises(ContractError, match="not UTF-8"):
        load_files([path])


def test_several_documents_in_one_file():
    together = read_text("\n---\n".join(SHIPPED))
    assert not together.faults
    assert len(Catalog.of(together).fingerprints()) == sum(text.count("\nid: ") for text in SHIPPED)
    # A fault in one of them is told at the line of the file, not of the document.
    second = read_text(SHIPPED[0] + "---\nkind: nothing\n")
    assert [f.line for f in second.faults] == [SHIPPED[0].count("\n") + 2]


def test_without_the_c_parser(monkeypatch):
    import yaml

    from adf_ea_ros.contracts import yamlsource

    fast = [read_text(text).contracts for text in SHIPPED]
    monkeypatch.setattr(yamlsource, "_LOADER", yaml.SafeLoader)
    assert [read_text(text).contracts for text in SHIPPED] == fast
    assert read_text("a: [").faults
    assert read_text("a: \0").faults
    assert read_text("[" * 100_000).faults


def test_node_parameters_in_a_folder_are_no_contracts(tmp_path):
    parameters = tmp_path / "params.yaml"
    parameters.write_text("/**:\n  ros__parameters:\n    use_sim_time: true\n")
    (tmp_path / "x.yaml").write_text(SHIPPED[0])
    assert len(load_files([tmp_path]).documents) == 1
    with pytest.raises(ContractError, match="kind: is missing"):
        load_files([parameters])
