"""The judge of the kill matrix finds fault where there is some: it is given worlds that did not happen."""

import pytest
from rig import SAMPLE, SECOND, Rig

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.sim.report import HeaterCounts, Report
from benchmarks.soak.judge import judge, phase


class Seen:
    """The ledger as it is, and a rig that counted something else."""

    def __init__(self, rig, heatings, temperature=80.0):
        self.rig, self.count, self.temperature = rig, heatings, temperature

    def events(self, episode):
        return list(self.rig.service.book.events(episode))

    def heatings(self, _):
        return self.count

    def report(self):
        counts = {"heater_a": HeaterCounts(1, 1, {SAMPLE: self.count})}
        return Report(self.count, counts, 0, 0, {SAMPLE: self.temperature}, 0)


@pytest.fixture
def heated(tmp_path):
    rig = Rig(tmp_path / "ledger.db")
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(5)
    return rig, episode


def test_a_run_that_went_well_has_no_faults(heated):
    rig, episode = heated
    verdict = judge(Seen(rig, 1), episode, SAMPLE)
    assert (verdict.ended, verdict.faults, verdict.dispatches) == ("evidenced", [], 1)


@pytest.mark.parametrize(("heatings", "fault"), [(2, "2 executions"), (0, "never happened")])
def test_it_goes_by_the_rigs_own_count(heated, heatings, fault):
    rig, episode = heated
    verdict = judge(Seen(rig, heatings), episode, SAMPLE)
    assert any(fault in each for each in verdict.faults)


def test_an_open_attempt_is_unknown_and_no_fault(tmp_path):
    rig = Rig(tmp_path / "ledger.db")
    episode = rig.begin()
    attempt = rig.run(episode, "heat", "heater_a")
    rig.crash()
    rig.service.report(attempt.id, Interaction.LOST, rig.now, "gone")
    assert rig.now >= SECOND
    for heatings in (0, 1):
        verdict = judge(Seen(rig, heatings), episode, SAMPLE)
        assert (verdict.ended, verdict.faults) == ("unknown", [])
    assert judge(Seen(rig, 2), episode, SAMPLE).faults


def test_the_phases_of_an_attempt(tmp_path):
    rig = Rig(tmp_path / "ledger.db")
    episode = rig.begin()

    def now(heatings):
        return phase(list(rig.service.book.events(episode)), heatings)

    assert now(0) == "no intent"
    attempt = rig.run(episode, "heat", "heater_a")
    assert (now(0), now(1)) == ("intent", "effect")
    rig.service.report(attempt.id, Interaction.ACCEPTED, rig.now)
    assert (now(0), now(1)) == ("accepted", "effect")
    rig.service.report(attempt.id, Interaction.SUCCEEDED, rig.now)
    assert now(1) == "answered"
    rig.temperature = 80.0
    rig.pass_time(5)
    assert now(1) == "certified"
