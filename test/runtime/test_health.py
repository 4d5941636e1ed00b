"""What is told to whoever watches: unknown outcomes, stale evidence, budgets, the ledger, providers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rig import CONFIG, SECOND, Rig

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.errors import LedgerUnavailable
from adf_ea_ros.runtime.health import (
    Level,
    Readback,
    authority_line,
    episode_lines,
    ledger_line,
    lifetimes,
    provider_line,
    readback_line,
)


@pytest.fixture
def rig(tmp_path):
    return Rig(tmp_path / "ledger.db")


def told(rig):
    return list(episode_lines(rig.service.book, rig.now))


def only(rig):
    (line,) = told(rig)
    return line


def test_an_episode_that_waits_is_well(rig):
    episode = rig.begin()
    line = only(rig)
    assert (line.name, line.level, line.message) == (
        f"episode {episode}",
        Level.OK,
        "waiting for its planner",
    )
    assert (line.values["physical"], line.values["observation"]) == (6, 8)


def test_an_action_that_runs_is_no_trouble_and_an_unknown_outcome_is(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.service.report(attempt.id, Interaction.ACCEPTED, rig.now)
    line = only(rig)
    assert (line.level, line.message, line.values["unresolved"]) == (Level.OK, "under way", 1)
    rig.probe_works = False
    rig.heat(attempt, works=False)  # the answer is SUCCEEDED, and nothing shows it
    line = only(rig)
    assert (line.level, line.message) == (Level.WARN, f"outcome unknown: {attempt.id}")
    assert line.values["unknown"] == 1


def test_an_effect_that_is_shown_absent_is_told_as_that(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.heat(attempt, works=False)
    rig.pass_time(5)
    line = only(rig)
    assert (line.level, line.message) == (Level.WARN, f"shown to have had no effect: {attempt.id}")
    assert (line.values["absent"], line.values["unknown"]) == (1, 0)


def test_a_standing_task_waits_for_its_clients_and_many_troubles_are_counted(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    book = rig.service.book
    state = book.active()[episode]
    names = [f"{episode}.{number}" for number in range(1, 9)]
    lost = replace(attempt, interaction=Interaction.LOST)
    book._states[episode] = replace(
        state,
        attempts=state.attempts.update({name: replace(lost, id=name) for name in names}),
        execution=state.execution.update(dict.fromkeys(names, state.execution[attempt.id])),
    )
    line = only(rig)
    assert line.message == f"outcome unknown: {', '.join(names[:5])} and 3 more"
    book._states[episode] = replace(state, standing=True, execution=state.execution.delete(attempt.id))
    assert only(rig).message == "open for its clients"


def test_an_answer_that_is_overdue_is_an_unknown_outcome(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.now = attempt.deadline
    assert only(rig).level is Level.OK
    rig.now += 1
    assert only(rig).message == f"outcome unknown: {attempt.id}"


def test_what_was_under_way_at_a_restart_is_in_doubt(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.crash()
    line = only(rig)
    assert (line.level, line.values["doubtful"]) == (Level.WARN, 1)
    assert attempt.id in line.message


def test_a_stopped_episode_is_told_of_while_an_effect_may_still_come(rig):
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.service.stop(episode, "test", "enough", rig.now)
    line = only(rig)
    assert (line.name, line.level) == (f"episode {episode}", Level.WARN)
    assert line.message == f"stopped, and an effect may still come: {attempt.id}"
    rig.now = attempt.dispatched + attempt.promises.commit_bound
    assert told(rig) == []


def test_a_halt_and_a_spent_budget_are_told_together(rig):
    episode = rig.begin()
    rig.service.halt("ann", "smoke", rig.now)
    book = rig.service.book
    book._states[episode] = replace(book.active()[episode], physical=0)
    line = only(rig)
    assert (line.level, line.message) == (Level.WARN, "halted by ann: smoke; no physical budget left")
    book._states[episode] = replace(book.active()[episode], observation=0, halted="")
    assert only(rig).message == "no physical and no observation budget left"


def test_a_lost_state_is_told(rig):
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(4)
    assert only(rig).level is Level.OK
    rig.temperature = 20.0
    rig.pass_time(21)  # until no sample is left that says otherwise
    line = only(rig)
    assert line.level is Level.WARN
    assert line.message.startswith("state lost: ")
    assert "temperature" in line.message
    assert line.values["lost_states"] == 1


def test_a_decision_that_cannot_be_written_is_a_fault_of_the_ledger_until_one_can(rig, monkeypatch):
    episode = rig.begin()
    assert rig.service.book.fault == ""

    def full(*_, **__):
        raise LedgerUnavailable("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(rig.ledger, "append", full)
        assert rig.refused(episode, "heat", "heater_a") == ("X5.ledger",)
        assert "the disk is full" in rig.service.book.fault
    rig.run(episode, "heat", "heater_a")
    assert rig.service.book.fault == ""


@pytest.mark.parametrize(
    ("fault", "opened", "remedies", "level", "message"),
    [
        ("", True, (), Level.OK, "writable"),
        ("", False, (), Level.WARN, "not open"),
        ("", True, ("a checkpoint",), Level.WARN, "writable; got over: a checkpoint"),
        ("the disk is full", True, ("a checkpoint",), Level.ERROR, "the disk is full"),
        ("another writer", False, (), Level.ERROR, "another writer"),
    ],
)
def test_the_ledger(fault, opened, remedies, level, message):
    line = ledger_line("lab.db", fault, opened=opened, remedies=remedies)
    assert (line.level, line.message, line.values["ledger"]) == (level, message, "lab.db")


def test_the_authority():
    assert authority_line("", 3).level is Level.OK
    line = authority_line("it is not active", 0)
    assert (line.level, line.message) == (Level.WARN, "it is not active")


@pytest.mark.parametrize(
    ("reason", "level", "message"),
    [("", Level.OK, "available"), (None, Level.WARN, "not seen yet"), ("it smells", Level.WARN, "it smells")],
)
def test_a_provider(reason, level, message):
    line = provider_line("heater_a", "/rig/heater_a/heat", reason)
    assert (line.level, line.message) == (level, message)


NOW = 100 * SECOND
SEEN = Readback("probe/temperature", received=5, last=NOW - 5 * SECOND)


@pytest.mark.parametrize(
    ("state", "lifetime", "level", "said"),
    [
        (SEEN, 20 * SECOND, Level.OK, "fresh"),
        (SEEN, 5 * SECOND, Level.OK, "fresh"),
        (SEEN, 4 * SECOND, Level.STALE, "newest sample 5.0 s old: evidence must not be older than 4 s"),
        (SEEN, None, Level.OK, "newest sample 5.0 s old; no state rests on it"),
        (replace(SEEN, last=-1), 20 * SECOND, Level.WARN, "no usable sample yet"),
        (replace(SEEN, last=-1), None, Level.OK, "no sample yet; no state rests on it"),
        (replace(SEEN, last=NOW + SECOND), 20 * SECOND, Level.OK, "fresh"),
        (replace(SEEN, last=NOW + 3 * SECOND), 20 * SECOND, Level.WARN, "is 3.0 s in the future"),
        (replace(SEEN, foreign=2), 20 * SECOND, Level.WARN, "2 messages from others than the declared node"),
        (replace(SEEN, foreign=2, mismatch="never"), 20 * SECOND, Level.ERROR, "never"),
    ],
)
def test_a_readback(state, lifetime, level, said):
    line = readback_line(state, lifetime, NOW)
    assert line.level is level
    assert said in line.message
    assert line.name == "readback probe/temperature"


def test_refused_samples_are_counted_by_reason():
    line = readback_line(replace(SEEN, refused={"E.stale": 4}), None, NOW)
    assert line.values == {"received": 5, "age_ns": 5 * SECOND, "foreign": 0, "stale": 4}


def test_how_long_a_readback_proves_something_is_in_the_contracts():
    catalog = Catalog.load([CONFIG / "contracts", *(CONFIG / "providers").glob("*.yaml"), CONFIG / "tasks"])
    found = lifetimes(catalog)
    assert found == {
        "probe/temperature": 20 * SECOND,
        "probe/measurements": 600 * SECOND,  # an event, but a record requires it as a fact
        "archive/records": 5 * SECOND,
    }


def test_silence_of_a_readback_that_proves_events_alone_is_no_fault(tmp_path):
    text = (CONFIG / "providers" / "probe.yaml").read_text()
    (tmp_path / "probe.yaml").write_text(text)
    names = ("heat_to", "measure")
    catalog = Catalog.load([*(CONFIG / "contracts" / f"{name}.yaml" for name in names), tmp_path])
    assert lifetimes(catalog) == {"probe/temperature": 20 * SECOND}
