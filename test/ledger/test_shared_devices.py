"""Two authorities and one heater, in one database: the service decides on who holds it (rule X10)."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest
from processes import in_doomed_process

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.fleet import Fleet
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.runtime import health
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService

pytestmark = pytest.mark.postgres
TEST = Path(__file__).parents[1]
_number = itertools.count()


def load_rig():
    """The rig of the runtime's tests."""
    spec = importlib.util.spec_from_file_location("shared_rig", TEST / "runtime" / "rig.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["shared_rig"] = module
    spec.loader.exec_module(module)
    return module


rig_module = load_rig()


class Robot(rig_module.Rig):
    """A robot of the fleet with the usual devices; heater_a is the one that all of them use."""

    def __init__(self, place, name):
        self.place, self.name = place, f"/{place.fleet}/{name}"
        super().__init__(place.folder / name)

    def open(self):
        self.ledger = open_ledger(self.place.server.url, mark=self.path, authority=self.name)
        generation = self.ledger.open_writer(self.name, time=self.now)
        self.service = AuthorityService(self.place.catalog, Book(self.ledger, generation))
        self.service.recover(self.now)

    @property
    def remedies(self):
        return self.service.book.remedies


class Place:
    """A fleet of its own: its heater's name is no other test's."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.fleet = f"place{next(_number)}"
        self.heater = f"{self.fleet}_heater"
        config = folder / "config"
        config.mkdir()
        for path in (rig_module.CONFIG).rglob("*.yaml"):
            if path.parent.name in ("contracts", "providers", "tasks"):
                text = path.read_text()
                shared = f"shared_as: {self.heater}\n" if path.name == "heater_a.yaml" else ""
                (config / f"{path.parent.name}_{path.name}").write_text(text + shared)
        self.catalog = Catalog.load([config])
        self.robots = []

    def robot(self, name):
        self.robots.append(Robot(self, name))
        return self.robots[-1]

    def release(self):
        with Fleet(self.server.url) as fleet:
            return fleet.release(self.heater, "ann", "looked at it")


@pytest.fixture
def place(postgres_server, tmp_path):
    made = Place(postgres_server, tmp_path)
    yield made
    for robot in made.robots:
        robot.ledger.close()


@pytest.fixture
def one(place):
    return place.robot("one")


@pytest.fixture
def two(place):
    return place.robot("two")


def test_one_heats_and_the_other_waits_for_proof_and_answer(one, two, place):
    first, second = one.begin(), two.begin()
    attempt = one.run(first, "heat", "heater_a")
    refused = two.service.dispatch(second, "heat", "heater_a", two.now)
    assert refused.reasons == ("X10.held",)
    assert f"{place.heater} is held by {one.name} for {attempt.id} since 20" in refused.sentence
    [line] = health.lease_lines(one.service.book)
    assert (line.message, dict(line.values)) == (f"held: {place.heater}", {place.heater: attempt.id})
    one.heat(attempt)
    assert two.refused(second, "heat", "heater_a") == ("X10.held",)  # answered, but not proven
    one.pass_time(5)
    assert not list(health.lease_lines(one.service.book))
    two.run(second, "heat", "heater_a")
    assert one.refused(first, "heat", "heater_a") == ("R8.redundant",)


def test_what_is_not_shared_asks_nobody(one, two, monkeypatch):
    first, second = one.begin(), two.begin()
    one.run(first, "heat", "heater_a")
    monkeypatch.setattr(two.ledger, "leases", None)
    two.run(second, "heat", "heater_b")


def test_who_comes_second_in_a_race_decides_again(one, two, place, monkeypatch):
    first, second = one.begin(), two.begin()
    looks = []

    def look(subjects):
        looks.append(subjects)
        if len(looks) > 1:
            return ledger_look(subjects)
        one.run(first, "heat", "heater_a")  # in between: seen free here, taken there
        return []

    ledger_look = two.ledger.leases
    monkeypatch.setattr(two.ledger, "leases", look)
    before = two.service.book.state(second)
    assert two.refused(second, "heat", "heater_a") == ("X10.held",)
    assert looks == [(place.heater,)] * 2
    after = two.service.book.state(second)
    assert (after.physical, after.execution) == (before.physical, before.execution)
    assert after.decisions == before.decisions + 1  # the decision that came too late left nothing

    monkeypatch.setattr(two.ledger, "leases", lambda _: [])  # a store that lies grants nothing
    assert two.refused(second, "heat", "heater_a") == ("X5.ledger",)
    assert two.service.book.state(second).decisions == after.decisions


def test_the_death_of_the_holder_frees_nothing_and_its_restart_does(place, two):
    second = two.begin()

    def die():
        robot = Robot(place, "one")
        robot.run(robot.begin(), "heat", "heater_a")

    in_doomed_process(die)
    two.pass_time(1000)
    assert two.refused(second, "heat", "heater_a") == ("X10.held",)
    one = place.robot("one")
    assert one.remedies == []
    assert two.refused(second, "heat", "heater_a") == ("X10.held",)
    [(_, attempt)] = one.service.open_attempts("heater_a")
    one.service.reconcile(attempt.id, Answer.NEVER_ACCEPTED, Interaction.LOST, one.now)
    two.run(second, "heat", "heater_a")


def test_a_stopped_episode_holds_what_may_still_come(one, two, place):
    first, second = one.begin(), two.begin()
    attempt = one.run(first, "heat", "heater_a")
    one.service.report(attempt.id, Interaction.LOST, one.now)
    one.service.stop(first, "ann", "enough", one.now)
    one.pass_time(1000)
    one.crash()
    assert two.refused(second, "heat", "heater_a") == ("X10.held",)
    # An answer comes late, and it is the end: the heater promises that.
    one.service.report(attempt.id, Interaction.ABORTED, one.now)
    two.run(second, "heat", "heater_a")


def test_a_released_lease_is_told_to_its_holder_and_not_given_back_twice(one, two, place):
    first, second = one.begin(), two.begin()
    attempt = one.run(first, "heat", "heater_a")
    assert place.release().attempt == attempt.id
    theirs = two.run(second, "heat", "heater_a")
    one.crash()
    [remedy] = one.remedies
    assert remedy.startswith(
        f"{place.heater}: attempt {attempt.id} is open, but holds it no more: ann released"
    )
    one.heat(attempt)
    one.pass_time(5)
    [lease] = two.ledger.own_leases()
    assert lease.attempt == theirs.id


def test_a_lease_of_which_the_ledger_knows_nothing_is_told(one, place):
    from adf_ea_ros.ledger.store import Exchange

    state = one.service.book.state(one.begin())
    one.ledger.append(
        state.episode, state.version, [("Resumed", b'{"type":"Resumed","by":"x"}')], time=one.now,
        generation=one.ledger.generation, exchange=Exchange("e.9", (place.heater,)),
    )  # fmt: skip
    one.crash()
    [remedy] = one.remedies
    assert f"{place.heater}: held for e.9, of which nothing is open here" in remedy
    assert place.release()


def test_two_episodes_of_one_authority_share_the_lease(one, two, place):
    first, other, second = one.begin(), one.begin(), two.begin()
    attempt = one.run(first, "heat", "heater_a")
    # Another episode, the same fact: X6 refuses it. The lease itself is in nobody's way at home.
    assert one.refused(other, "heat", "heater_a") == ("X6.fact_in_flight",)
    one.service.report(attempt.id, Interaction.REJECTED, one.now)
    two.service.report(two.run(second, "heat", "heater_a").id, Interaction.REJECTED, two.now)
    assert one.ledger.own_leases() == two.ledger.own_leases() == []
