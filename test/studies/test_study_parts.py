"""The parts that the studies are made of: fault rules, interfaces, variants, populations, sizes."""

from __future__ import annotations

import json

import pytest

from studies.ablations.study import cases as ablated
from studies.comparison.run import EMPTY, FIELDS, boolean, conditions
from studies.composed.study import cases as composed
from studies.compositions.study import FILE, frozen
from studies.contrasts.pairs import ARMS, PAIRS
from studies.controls.interfaces import INTERFACES, React, Tools
from studies.controls.study import cases as controlled
from studies.device import Device, Log, Rule
from studies.household.population import FAMILIES_OF_TASKS, instance
from studies.inputs import SECOND, Fact, duration
from studies.lifecycle.cases import cases as lifecycle
from studies.methods import Outcome, Request
from studies.report.manifest import FROZEN, frozen_inputs
from studies.scaling.study import units
from studies.variants import variant

PROCESSED = Fact("branch_a", "processed")
JOB = {"job": "job_1"}


def device(*rules: Rule) -> Device:
    ready = {**EMPTY, Fact("branch_a", "prepared"): True}
    return Device(boolean(), Log(), initial=ready, rules=rules, fields=FIELDS)


def called(*rules: Rule) -> tuple[Device, list[tuple[object, ...]]]:
    made = device(*rules)
    action = boolean().action("process_a", JOB)
    reply = made.call(action, "process_a_unit", 1)
    return made, [(s.subject, s.path, s.source, s.value) for s in reply.records]


def test_a_call_sets_its_facts_and_the_monitor_reads_them_after_the_answer() -> None:
    made = device()
    reply = made.call(boolean().action("process_a", JOB), "process_a_unit", 1)
    assert made.state[PROCESSED] is True
    assert reply.response == "ok"
    assert [s.value for s in reply.records] == [True]
    assert all(s.stamp > reply.ended for s in reply.records)


@pytest.mark.parametrize(
    ("evidence", "records"),
    [
        ("missing", []),
        ("stale", [("branch_a", "processed", "monitor", True)]),
        ("replay", [("branch_a", "processed", "monitor", False)]),
        ("wrong_object", [("another_object", "processed", "monitor", True)]),
        ("wrong_source", [("branch_a", "processed", "process_a_unit", True)]),
        ("wrong_correlation", [("branch_a", "processed", "monitor", True)]),
    ],
)
def test_faulty_evidence_lasts_until_it_is_asked_for(
    evidence: str, records: list[tuple[object, ...]]
) -> None:
    made, found = called(Rule(call="process_a", evidence=evidence))
    assert found == records
    assert made.state[PROCESSED] is True
    made.take_news()
    made.wait(10)
    later = [s for s in made.take_news() if s.path == "processed" and s.subject == "branch_a"]
    sound = [
        s for s in later if s.source == "monitor" and s.fields == (("job", "job_1"),) and s.value is True
    ]
    assert not [s for s in sound if s.received - s.stamp < 3 * SECOND]
    assert [s.value for s in made.observe([PROCESSED], "test")] == [True]
    made.take_news()
    made.wait(2)
    assert [s.value for s in made.take_news() if s.subject == "branch_a" and s.path == "processed"] == [True]


def test_a_reading_that_comes_once() -> None:
    made, found = called(Rule(call="process_a", evidence="once"))
    assert len(found) == 1
    made.take_news()
    made.wait(10)
    assert not [s for s in made.take_news() if s.path == "processed" and s.subject == "branch_a"]


def test_what_a_unit_refuses_is_not_counted_and_meets_no_fault() -> None:
    made = Device(
        boolean(), Log(), initial=EMPTY, rules=[Rule(call="process_a", suppressed=True)], fields=FIELDS
    )
    action = boolean().action("process_a", JOB)
    assert made.call(action, "process_a_unit", 1).response == "error"
    made.call(boolean().action("prepare_a", JOB), "prepare_a_unit", 2)
    assert made.call(action, "process_a_unit", 3).response == "ok"
    assert made.state[PROCESSED] is False
    assert made.call(action, "process_a_unit", 4).response == "ok"
    assert made.state[PROCESSED] is True


def test_an_absent_unit_does_nothing_and_says_nothing() -> None:
    made = device(Rule(call="process_a", unavailable="process_a_unit"))
    action = boolean().action("process_a", JOB)
    made.call(action, "process_a_unit", 1)
    reply = made.call(action, "process_a_unit", 2)
    assert (reply.response, reply.records) == ("unavailable", ())


@pytest.mark.parametrize("fault", [{"response": "perhaps"}, {"evidence": "odd"}, {"call": "x", "often": 2}])
def test_a_rule_that_means_nothing_is_refused(fault: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Rule(**fault)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize(
    "request_", [Request("run", "open"), Request("observe", "open"), Request("claim"), Request("stop")]
)
def test_an_interface_reads_what_it_writes(interface: type[React | Tools], request_: Request) -> None:
    made = interface()
    assert made.read(made.write(request_)) == request_
    assert "dispatched" in made.feedback(Outcome("dispatched", ("R2.x",)))


@pytest.mark.parametrize(
    ("interface", "text"),
    [
        (React, "Thought: nothing"),
        (React, "Action: do[a]\nAction: do[b]\n"),
        (Tools, "{"),
        (Tools, "[]"),
        (Tools, "{}"),
    ],
)
def test_an_interface_refuses_what_it_does_not_understand(interface: type[React | Tools], text: str) -> None:
    with pytest.raises(ValueError, match=r"action|tool call"):
        interface().read(text)


def test_the_populations_have_the_papers_sizes() -> None:
    kinds = [case.kind for case in lifecycle()]
    assert len(kinds) == 49
    assert [kinds.count(k) for k in ("normal", "stale", "suppressed", "unavailable")] == [8, 4, 4, 7]
    assert len({case.instance.name for case in lifecycle()}) == 49
    assert [c.kind for c in composed()].count("suppressed") == 5
    assert len(composed()) == 16
    faulted = [case.kind for case in ablated()]
    assert [faulted.count(k) for k in ("suppressed", "stale", "unavailable")] == [15, 14, 14]
    assert len(controlled()) == 11
    assert len(units()) == 100
    assert len(PAIRS) * len(ARMS) * 2 == 72
    assert len(conditions(FILE)) == 6


@pytest.mark.parametrize("family", FAMILIES_OF_TASKS)
def test_instances_are_their_own(family: str) -> None:
    one, other = instance(1, family), instance(2, family)
    assert not set(one.initial) & set(other.initial)
    assert one.plan[-1].id in {step for step, _ in one.goals}


def test_contracts_are_as_they_were_frozen() -> None:
    assert frozen()


def test_inputs_are_as_they_were_frozen() -> None:
    """A change is made on purpose: python -m studies --freeze, and then --page."""
    assert json.loads(FROZEN.read_text()) == frozen_inputs()


def test_a_variant_changes_what_it_says_and_nothing_else() -> None:
    def edit(contracts: dict[str, dict[str, object]]) -> None:
        contracts["capability/open"]["title"] = "Another"

    changed, plain = variant("household", edit), variant("household", lambda _: None)
    assert changed.capabilities["open"]["title"] == "Another"
    assert {**changed.capabilities, "open": 0} == {**plain.capabilities, "open": 0}
    assert changed.providers == plain.providers


def test_durations() -> None:
    assert [duration(text) for text in ("20 s", "1.5 s", "10 min", "500 ms")] == [
        20 * SECOND, 3 * SECOND // 2, 600 * SECOND, SECOND // 2,
    ]  # fmt: skip
