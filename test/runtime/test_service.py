"""The service around the rules: what it refuses by itself, a failing ledger, what it tells and to whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from rig import PLAN, Rig

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.events import Decided
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.authority.state import State
from adf_ea_ros.ledger.errors import LedgerUnavailable
from adf_ea_ros.runtime.book import OFFICE
from adf_ea_ros.runtime.service import goal_uuid


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "ledger.db")


def test_unknown_names_are_refused_and_recorded(rig: Rig) -> None:
    service, now = rig.service, rig.now
    assert service.start_episode("no_such_task", "test", now)[1].reasons == ("X5.task",)
    assert service.claim("nowhere", now).reasons == ("X5.unknown_episode",)
    assert service.report("nowhere.1", Interaction.SUCCEEDED, now).reasons == ("X5.unknown_attempt",)
    assert service.reconcile("", Answer.RUNNING, Interaction.LOST, now).reasons == ("X5.unknown_episode",)
    kept = [e.reasons for e in service.book.events(OFFICE) if isinstance(e, Decided)]
    assert len(kept) == 4


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Step("x", "fly", {}), "G.capability"),
        (Step("x", "heat_to", "{not json"), "A.json"),
        (Step("x", "heat_to", {"sample": "s1", "target": 300}), "A.range"),
        (Step("x", "heat_to", {"sample": "s1"}), "A.missing"),
        (Step("x", "heat_to", {"sample": "s1", "target": True}), "A.type"),
        (Step("x", "heat_to", '{"sample": "s1", "target": NaN}'), "A.nan"),
    ],
)
def test_a_step_without_meaning_is_refused_with_its_code(rig: Rig, step: Step, code: str) -> None:
    episode, _ = rig.service.start_episode("heat_measure_record", "test", rig.now)
    decision = rig.service.revise(episode, [step], "test", rig.now)
    assert decision.reasons == ("R1.grounding",)
    assert code in decision.sentence


def test_an_episode_name_is_used_once(rig: Rig) -> None:
    assert rig.service.start_episode("heat_measure_record", "test", rig.now, "one")[0] == "one"
    assert rig.service.start_episode("heat_measure_record", "test", rig.now, "one")[0] == ""
    rig.service.stop("one", "test", "enough", rig.now)
    assert rig.service.start_episode("heat_measure_record", "test", rig.now, "one")[0] == ""


def test_a_decision_that_cannot_be_written_is_void(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Decision] = []
    rig.service.listeners.append(lambda episode, decision, state: heard.append(decision))
    episode = rig.begin()
    heard.clear()
    before = rig.service.book.active()[episode]

    def full(*args: object, **more: object) -> None:
        raise LedgerUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(rig.ledger, "append", full)
        decision = rig.service.dispatch(episode, "heat", "heater_a", rig.now)
    assert decision.reasons == ("X5.ledger",)
    assert decision.attempt is None
    assert not heard
    assert rig.service.book.active()[episode] == before
    assert rig.service.dispatch(episode, "heat", "heater_a", rig.now).authorized


def test_a_commit_in_doubt_is_settled_before_anything_else(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The append took place but nobody heard: its dispatch is in flight for all that the ledger knows."""
    episode = rig.begin()
    append = rig.ledger.append

    def unheard(*args: object, **more: object) -> None:
        append(*args, **more)  # type: ignore[arg-type]
        raise LedgerUnavailable("the connection broke in mid-commit", in_doubt=True)

    with monkeypatch.context() as patch:
        patch.setattr(rig.ledger, "append", unheard)
        assert rig.service.dispatch(episode, "heat", "heater_a", rig.now).reasons == ("X5.ledger",)
    decision = rig.service.dispatch(episode, "heat", "heater_a", rig.now)
    assert decision.reasons == ("R6.no_qualified_negative",)
    assert rig.service.book.active()[episode].physical == 5


def test_listeners_hear_only_what_is_durable(rig: Rig) -> None:
    def check(episode: str, decision: Decision, state: State) -> None:
        head = rig.ledger.head(episode)
        assert head is not None
        assert head.version == state.version

    rig.service.listeners.append(check)
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(6)


def test_deadline_makes_an_answer_lost(rig: Rig) -> None:
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.pass_time(61)
    assert rig.service.book.active()[episode].attempts[attempt.id].interaction is Interaction.LOST


def test_a_revoked_provider_stops_at_once(rig: Rig) -> None:
    episode = rig.begin()
    rig.service.catalog = rig.service.catalog.revoke("provider", "heater_a", "recalled", rig.now)
    assert rig.refused(episode, "heat", "heater_a") == ("R2.provider_unavailable",)
    rig.run(episode, "heat", "heater_b")


def test_unchanged_evidence_writes_nothing(rig: Rig) -> None:
    """A ledger is no log of readings: a hundred equal samples later it has not grown."""
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(30)
    head = rig.ledger.head(episode)
    rig.pass_time(100)
    assert rig.ledger.head(episode) == head


def test_goal_ids_follow_from_attempt_ids() -> None:
    assert goal_uuid("e.1") == goal_uuid("e.1") != goal_uuid("e.2")


def test_residual_plans_survive_a_crash(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    rig.crash()
    assert rig.service.revise(episode, PLAN, "test", rig.now).authorized
    rig.pass_time(5)
    rig.run(episode, "measure", "probe")


def test_a_new_episode_is_no_way_around_an_open_outcome(rig: Rig) -> None:
    first = rig.begin()
    attempt = rig.run(first, "heat", "heater_a")
    second = rig.begin()
    assert rig.refused(second, "heat", "heater_b") == ("X6.fact_in_flight",)
    rig.service.stop(first, "test", "try anew", rig.now)
    assert rig.refused(second, "heat", "heater_b") == ("X6.fact_in_flight",)
    rig.crash()
    assert rig.refused(second, "heat", "heater_b") == ("X6.fact_in_flight",)
    rig.pass_time(31)  # the provider's commit bound: the first attempt can no longer take effect
    assert attempt.could_take_effect(rig.now) is False
    rig.run(second, "heat", "heater_b")


def test_a_clock_reset_leaves_no_evidence_from_before(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    rig.service.clock_reset(rig.now - 60 * 1_000_000_000)
    rig.pass_time(1)
    assert "R2.precondition_unknown" in rig.refused(episode, "measure", "probe")


def test_providers_on_one_node_are_no_independent_witnesses(rig: Rig) -> None:
    """The heater's own node publishing as another provider would be the actuator vouching for itself."""
    assert rig.service._aliases["probe"] == ()
    catalog = rig.service.catalog
    twin = catalog.provider("probe").model_copy(update={"id": "twin", "tool": None, "evidence": {}})
    service = type(rig.service)(type(catalog)([*catalog.providers(), twin]), rig.service.book)
    assert service._aliases["twin"] == ("probe",)


def test_a_readback_that_speaks_only_on_change_may_come_before_the_answer(rig: Rig) -> None:
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    rig.measure(rig.run(episode, "measure", "probe"))
    rig.pass_time(6)  # the archive's earlier word, that there is no record, grows old
    attempt = rig.run(episode, "record", "recorder_a")
    rig.now += 100_000_000
    rig.publish("archive/records", "record/exists", True)
    rig.now += 100_000_000
    rig.service.report(attempt.id, Interaction.SUCCEEDED, rig.now)
    assert rig.service.book.active()[episode].pending(attempt.key) is None
