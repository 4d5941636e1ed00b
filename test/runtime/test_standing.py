"""Goals of clients that know no episode: one standing episode, its accounts, and how it is handed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rig import CONFIG, Rig

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.model import Attempt, Interaction, Mode
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.runtime.standing import PLANNED, Asked, Standing

ANYTHING = """
spec: adf_ea_ros/1
kind: task
id: anything
version: 1.0.0
standing: true
budgets: {physical: 9, observation: 5}
---
spec: adf_ea_ros/1
kind: task
id: theirs
version: 1.0.0
standing: true
planners: [/their_gate]
budgets: {physical: 9, observation: 5}
"""


class Bench(Rig):
    """The rig with a desk for goals."""

    length = 100

    def open(self) -> None:
        super().open()
        other = self.path.with_name("anything.yaml")
        other.write_text(ANYTHING)
        paths = [CONFIG / name for name in ("contracts", "providers", "tasks", "gates")]
        self.service.catalog = Catalog.load([*paths, other])
        self.standing = Standing(self.service, self.length)
        self.goals = 0

    def ask(
        self, capability: str = "heat_to", provider: str = "heater_a", task: str = "anything", goal: str = "",
        **arguments: object,
    ) -> Decision:  # fmt: skip
        """A client's goal; heat s1 to 80 where nothing else is said."""
        self.goals += 1
        given = {"sample": "s1"} | ({"target": 80} if capability == "heat_to" else {}) | arguments
        asked = Asked(task, "/gate", capability, provider, json.dumps(given), goal or f"{self.goals:04d}")
        return self.standing.admit(asked, self.now)

    def go(self, *more: str, **arguments: object) -> Attempt:
        decision = self.ask(*more, **arguments)
        assert decision.attempt is not None, f"{decision.reasons}: {decision.sentence}"
        return decision.attempt

    def do(self, **arguments: object) -> Attempt:
        """A heating that is verified in the end."""
        attempt = self.go(**arguments)
        self.pass_time(3)
        self.temperature = float(arguments.get("target", 80))  # type: ignore[arg-type]
        self.service.report(attempt.id, Interaction.SUCCEEDED, self.now)
        self.pass_time(4)
        assert attempt.id not in self.state.execution
        return attempt

    @property
    def state(self) -> State:
        (one,) = self.service.book.active().values()
        return one


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ledger.db")


def test_a_goal_that_is_sent_again_meets_its_own_attempt(bench: Bench) -> None:
    first = bench.go()
    assert first.mode is Mode.FIRST
    assert bench.ask().reasons == ("R6.no_qualified_negative",)
    bench.temperature = 80.0
    bench.pass_time(5)
    bench.service.report(first.id, Interaction.LOST, bench.now)
    bench.pass_time(25)  # what was seen on the way up has aged out
    assert bench.ask().reasons == ("R8.redundant",)
    assert bench.state.standing
    assert len(bench.state.attempts) == 1
    assert bench.service.claim(bench.state.episode, bench.now).reasons[0] == "R9.standing"


def test_a_state_that_was_left_and_is_wanted_again_is_a_repair(bench: Bench) -> None:
    bench.do()
    bench.do(target=40)
    bench.pass_time(20)
    assert bench.go().mode is Mode.REPAIR
    assert len(bench.state.proposal.nodes) == 1


def test_what_failed_for_good_blocks_its_own_goal_alone(bench: Bench) -> None:
    failed = bench.go()
    bench.pass_time(2)
    bench.service.report(failed.id, Interaction.CANCELED, bench.now)
    assert bench.ask(target=40).reasons == ("X6.fact_in_flight",)
    bench.pass_time(5)
    other = bench.go(target=40)
    assert set(bench.state.execution) == {failed.id, other.id}
    assert {node.operation.arguments for node in bench.state.proposal.nodes.values()} == {
        '{"sample":"s1","target":40.0}',
        '{"sample":"s1","target":80.0}',
    }
    assert bench.ask().reasons == ("X6.fact_in_flight",)  # a retry, were it not for the other one


def test_it_does_not_block_other_episodes_either(bench: Bench) -> None:
    failed = bench.go()
    bench.pass_time(2)
    bench.service.report(failed.id, Interaction.CANCELED, bench.now)
    episode = bench.begin()
    assert bench.refused(episode, "heat", "heater_b") == ("X6.fact_in_flight",)
    bench.pass_time(5)
    assert bench.run(episode, "heat", "heater_b").mode is Mode.FIRST


def test_each_goal_for_an_event_is_one_of_its_own_unless_one_is_in_doubt(bench: Bench) -> None:
    assert bench.ask("measure", "probe").reasons == ("R1.unsupported",)
    bench.do()
    first = bench.go("measure", "probe")
    assert bench.ask("measure", "probe").reasons == ("R6.no_qualified_negative",)
    bench.measure(first)
    second = bench.go("measure", "probe", goal="abc")
    assert (second.mode, second.key == first.key) == (Mode.FIRST, False)
    assert second.node == "measure_gabc"
    bench.measure(second)
    assert bench.ask("measure", "probe", goal="abc").reasons == ("R8.event_done",)
    assert bench.measured == 2


def test_many_goals_in_doubt_do_not_make_the_plan_long(bench: Bench) -> None:
    attempts = []
    for n in range(8):
        attempts.append(bench.go(sample=f"x{n}"))
        bench.pass_time()
    assert len(bench.state.execution) == 8
    assert set(bench.state.proposal.nodes) == {attempt.node for attempt in attempts[-1 - PLANNED :]}
    assert bench.ask(sample="x0").reasons == ("R6.no_qualified_negative",)
    assert attempts[0].node in bench.state.proposal.nodes


def test_the_episode_is_found_again_after_a_crash(bench: Bench) -> None:
    first = bench.go()
    name = bench.state.episode
    bench.crash()
    assert bench.ask().reasons == ("R6.no_qualified_negative",)
    assert (bench.state.episode, bench.state.attempts[first.id].doubtful) == (name, True)


def test_what_cannot_be_asked_for(bench: Bench) -> None:
    ordinary = bench.ask(task="heat_measure_record")
    assert (ordinary.reasons, "not a standing task" in ordinary.sentence) == (("X5.task",), True)
    assert bench.ask(task="nothing").reasons == ("X5.task",)
    assert bench.ask(task="theirs").reasons == ("X5.planner",)
    wrong = bench.ask(target=300)
    assert wrong.reasons == ("R1.grounding",)
    assert "A.range" in wrong.sentence
    assert bench.ask("measure", "probe", "bench_heating").reasons == (
        "R1.capability_not_permitted",
        "R1.unsupported",
    )
    assert bench.ask(sample="s2", provider="probe").reasons == ("R2.not_bound",)


def test_a_long_episode_gives_way_when_nothing_is_open(bench: Bench) -> None:
    bench.standing = Standing(bench.service, length=2)
    bench.do()
    open_one = bench.go(sample="s2")  # nobody measures s2: it stays in doubt
    old = bench.state
    assert bench.ask(target=40).attempt is not None
    assert bench.state.episode == old.episode
    assert open_one.id in bench.state.execution


def test_budgets_and_what_was_established_are_handed_on(bench: Bench) -> None:
    bench.standing = Standing(bench.service, length=2)
    bench.do(target=40)
    bench.do()
    old = bench.state
    assert old.physical == 7
    assert bench.ask().reasons == ("R8.redundant",)
    assert bench.state.episode != old.episode
    assert (bench.state.physical, bench.state.observation) == (7, 5)
    ended = bench.service.book.state(old.episode)
    assert ended is not None
    assert ended.phase == "stopped"
    bench.do(target=60)  # what was lost meanwhile can be asked for again
    bench.pass_time(20)
    assert bench.go().mode is Mode.REPAIR
    assert bench.state.physical == 5
    state = bench.state
    bench.crash()
    assert set(bench.state.certificates) == set(state.certificates)


def test_nothing_is_handed_on_under_a_halt(bench: Bench) -> None:
    bench.standing = Standing(bench.service, length=1)
    bench.do()
    bench.service.halt("ann", "smoke", bench.now)
    old = bench.state.episode
    assert bench.ask(target=40).reasons == ("X8.halted",)
    assert bench.state.episode == old


def test_a_halted_robot_begins_nothing(bench: Bench) -> None:
    assert [decision.rules for decision in bench.service.halt("ann", "smoke: at the oven", bench.now)] == [
        ("X8",)
    ]
    refused = bench.ask()
    assert (refused.reasons, refused.sentence) == (("X8.halted",), "halted by ann: smoke: at the oven")
    bench.service.stop(bench.state.episode, "bob", "a way around", bench.now)
    assert bench.ask().reasons == ("X8.halted",)
    bench.crash()
    bench.service.stop(bench.state.episode, "bob", "another way around", bench.now)
    assert bench.ask().reasons == ("X8.halted",)
    bench.service.resume("ann", bench.now)
    assert bench.ask().authorized


def test_a_crash_while_it_is_handed_on_leaves_one_of_them(bench: Bench, monkeypatch) -> None:
    bench.standing = Standing(bench.service, length=1)
    bench.do()
    old = bench.state.episode
    with monkeypatch.context() as patch:
        patch.setattr(bench.service, "stop", lambda *_: None)
        bench.go(target=40)
    assert len(bench.service.book.active()) == 2
    bench.crash()
    assert bench.ask(target=40).reasons == ("R6.no_qualified_negative",)
    assert bench.state.episode != old


def test_a_spent_budget_is_renewed_by_an_operator_alone(bench: Bench) -> None:
    bench.standing = Standing(bench.service, length=1)
    for target in (30, 40, 50, 60, 70, 80, 90, 95, 99):
        bench.do(target=target)
    assert bench.ask(target=25).reasons == ("R1.budget",)
    bench.service.stop(bench.state.episode, "ann", "a new day", bench.now)
    assert bench.ask(target=25).authorized
