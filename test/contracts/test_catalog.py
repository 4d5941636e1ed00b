"""The catalog: versions, fingerprints, what may be bound."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from adf_ea_ros.contracts.canonical import canonical, fingerprint
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import read_text
from adf_ea_ros.contracts.model import Argument, ConditionTemplate

CONFIG = Path(__file__).parents[2] / "config"
HEATER = (CONFIG / "providers" / "heater_a.yaml").read_text()
S = 1_000_000_000


def catalog(*replacements: tuple[str, str], more: str = "") -> Catalog:
    """The shipped catalog with changes to heater_a, and more documents."""
    texts = [
        p.read_text()
        for p in sorted(
            p
            for kind in ("contracts", "providers", "tasks", "gates")
            for p in (CONFIG / kind).rglob("*.yaml")
        )
        if p.stem != "heater_a"
    ]
    heater = HEATER
    for old, new in replacements:
        assert old in heater
        heater = heater.replace(old, new)
    return Catalog.of(read_text("\n---\n".join([*texts, heater, *([more] if more else [])])))


def test_look_ups():
    c = catalog()
    assert c.capability("heat_to").effects["heated"].condition.bounds()
    assert c.provider("heater_a").tool.name == "/rig/heater_a/heat"
    assert c.route("probe/temperature").unit == "degC"
    assert c.task("heat_measure_record").budgets.physical == 6
    assert [p.id for p in c.providers_of("heat_to")] == ["heater_a", "heater_b"]
    assert c.providers_of("nothing") == ()
    assert [t.id for t in c.tasks()] == ["bench_heating", "heat_measure_record"]
    for look, word in (
        (lambda: c.capability("heatto"), "'heat_to'"),
        (lambda: c.provider("heater_c"), "heater_"),
        (lambda: c.task("heat"), "no task"),
        (lambda: c.route("probe/temperatur"), "temperature"),
    ):
        with pytest.raises(KeyError, match=word):
            look()


def test_expiry_is_a_matter_of_ros_time():
    c = catalog(("lifecycle: active", "lifecycle: active\nexpires: 100"))
    assert c.obstacle("provider", "heater_a", 100 * S - 1) == ""
    assert "expired at 100 s" in c.obstacle("provider", "heater_a", 100 * S)
    assert [p.id for p in c.bindable_providers("heat_to", 100 * S)] == ["heater_b"]


@pytest.mark.parametrize(
    ("lifecycle", "word"), [("draft", "a draft"), ("expired", "expired"), ("revoked", "revoked")]
)
def test_only_active_contracts_are_bound(lifecycle, word):
    c = catalog(("lifecycle: active", f"lifecycle: {lifecycle}"))
    assert word in c.obstacle("provider", "heater_a", 0)
    assert [p.id for p in c.bindable_providers("heat_to", 0)] == ["heater_b"]
    assert [p.id for p in c.providers_of("heat_to")] == ["heater_a", "heater_b"]


def test_revocation_gives_a_new_catalog_and_keeps_its_first_reason():
    before = catalog()
    after = before.revoke("provider", "heater_a", "smoke", 5 * S)
    again = after.revoke("provider", "heater_a", "still smoke", 6 * S)
    assert before.obstacle("provider", "heater_a", 9 * S) == ""
    assert "smoke" in after.obstacle("provider", "heater_a", 9 * S)
    assert [(r.id, r.reason, r.since) for r in again.revocations] == [("heater_a", "smoke", 5 * S)]
    assert [p.id for p in again.bindable_providers("heat_to", 0)] == ["heater_b"]
    assert "revoked" in after.revoke("capability", "heat_to", "wrong range", 0).obstacle(
        "capability", "heat_to", 0
    )
    with pytest.raises(KeyError):
        before.revoke("provider", "heater_z", "x", 0)
    with pytest.raises(ValueError, match="reason"):
        before.revoke("provider", "heater_a", " ", 0)


def test_the_active_version_is_in_force_else_the_newest():
    newer = HEATER.replace("version: 1.0.0", "version: 1.10.0").replace("deadline: 60 s", "deadline: 9 s")
    draft = newer.replace("lifecycle: active", "lifecycle: draft")
    assert catalog(more=draft).provider("heater_a").version == "1.0.0"
    c = catalog(("lifecycle: active", "lifecycle: expired"), more=newer)
    assert c.provider("heater_a").version == "1.10.0"
    assert len(c.fingerprints()) == len(catalog().fingerprints()) + 1
    older = draft.replace("version: 1.10.0", "version: 1.9.0")
    c = catalog(("lifecycle: active", "lifecycle: expired"), more=f"{draft}\n---\n{older}")
    assert c.provider("heater_a").version == "1.10.0"  # 10 is more than 9


def test_fingerprints_are_of_content_not_of_spelling():
    name = "provider/heater_a@1.0.0"
    first = catalog().fingerprints()[name]
    for old, new in (
        ("deadline: 60 s", "deadline: 1 min"),
        ("lifecycle: active", "lifecycle: expired"),
        ("# Demo rig", "# Another comment"),
        ("rebinding:\n  to: [heater_b]", 'rebinding: {"to": ["heater_b"]}'),
        ("    sample: sample\n    target: target\n", "    target: target\n    sample: sample\n"),
    ):
        assert catalog((old, new)).fingerprints()[name] == first, new
    for old, new in (
        ("deadline: 60 s", "deadline: 61 s"),
        ("query: true", "query: false"),
        ("/rig/heater_a/heat", "/rig/heater_a/warm"),
    ):
        assert catalog((old, new)).fingerprints()[name] != first, new


def test_drift_of_content_under_one_version():
    recorded = catalog().fingerprints()
    assert catalog().drift(recorded) == []
    assert catalog().drift({"provider/gone@1.0.0": "0"}) == []
    changed = catalog(("deadline: 60 s", "deadline: 61 s"))
    assert changed.drift(recorded) == [
        "provider/heater_a@1.0.0 has other content than when it was last used: give it a new version"
    ]
    assert (
        catalog(("version: 1.0.0", "version: 1.0.1"), ("deadline: 60 s", "deadline: 61 s")).drift(recorded)
        == []
    )


def test_of_refuses_faulty_sets():
    with pytest.raises(ContractError, match="no capability 'heat_to'"):
        Catalog.of(read_text(HEATER))


def test_ground_and_link():
    """What heat_to brings about for 80 degC is what measure asks for; for 90 degC it is not."""
    c = catalog()
    needed = c.capability("measure").invocation.requires["hot"].condition.ground({"sample": "s1"}, "s1")
    template = c.capability("heat_to").effects["heated"].condition
    assert template.ground({"sample": "s1", "target": 80.0}, "s1").implies(needed)
    assert not template.ground({"sample": "s1", "target": 90.0}, "s1").implies(needed)
    assert ConditionTemplate(subject="{a}/x", path="p/{b}", eq=Argument(argument="a")).ground(
        {"a": "1", "b": 2}, ""
    ).fact == ("1/x", "p/2")


def test_a_fingerprint_is_never_that_of_another_contract():
    """It is kept with the object; a copy with a change, or a new object in its place, has its own."""
    provider = catalog().provider("heater_a")
    first = fingerprint(provider)
    changed = provider.model_copy(update={"node": "/rig/other"})
    assert fingerprint(changed) == hashlib.sha256(canonical(changed)).hexdigest() != first
    for number in range(200):
        throwaway = provider.model_copy(update={"node": f"/rig/n{number}"})
        assert fingerprint(throwaway) == hashlib.sha256(canonical(throwaway)).hexdigest()


def test_a_provider_may_serve_some_arguments_only():
    only = "  accepts:\n    sample: [s1, s2]\n  provides: heat_to"
    c = catalog(("  provides: heat_to", only))
    assert [p.id for p in c.bindable_providers("heat_to", 0, {"sample": "s2", "target": 80.0})] == [
        "heater_a",
        "heater_b",
    ]
    assert [p.id for p in c.bindable_providers("heat_to", 0, {"sample": "s3", "target": 80.0})] == [
        "heater_b"
    ]
    assert len(c.bindable_providers("heat_to", 0)) == 2
    for wrong, word in (
        ("sample: [1]", "1 is not of type string"),
        ("smaple: [s1]", "did you mean 'sample'"),
        ("sample: []", "must not be empty"),
    ):
        with pytest.raises(ContractError, match=word):
            catalog(("  provides: heat_to", f"  accepts:\n    {wrong}\n  provides: heat_to"))


def test_the_page_on_contracts_in_python(monkeypatch, capsys):
    """Its piece of code, as it stands there."""
    root = CONFIG.parent
    page = (root / "doc" / "contracts.md").read_text(encoding="utf-8").partition("## In Python")[2]
    code = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(root)
    names: dict[str, object] = {"now": 5 * S, "recorded": Catalog.load(["config"]).fingerprints()}
    exec(compile(code, "doc/contracts.md", "exec"), names)
    assert names["arguments"] == {"sample": "s1", "target": 80}
    assert "smoke seen" in names["catalog"].obstacle("provider", "heater_a", 6 * S)
    assert "`heat_to`" in capsys.readouterr().out
