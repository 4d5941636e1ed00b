"""What a recorder answers and what the archive holds, under each fault; and the report of the rig."""

import json

import pytest

from adf_ea_ros.sim.faults import SECOND, recorder_fault
from adf_ea_ros.sim.heater import Heater
from adf_ea_ros.sim.probe import Probe
from adf_ea_ros.sim.recorder import Archive, Recorder
from adf_ea_ros.sim.report import report
from adf_ea_ros.sim.world import World


def rig(fault=None, **options):
    world, archive = World(["s1"]), Archive()
    return world, archive, Recorder("recorder_a", world, archive, fault=fault, **options)


def test_it_writes_and_the_archive_holds_it():
    world, archive, recorder = rig()
    writing = recorder.begin("s1")
    assert not writing.done
    assert archive.entries == {}
    world.advance(SECOND)
    assert (writing.answered, writing.success) == (True, True)
    entry = archive.entries["s1"]
    assert (entry.id, entry.writer, entry.written) == (writing.record_id, "recorder_a", world.now)


def test_a_second_record_takes_the_place_of_the_first_under_another_name():
    world, archive, recorder = rig()
    names = set()
    for _ in range(2):
        writing = recorder.begin("s1")
        world.advance(SECOND)
        names.add(writing.record_id)
    assert len(names) == 2
    assert (archive.writes, archive.entries["s1"].id) == (2, writing.record_id)


def test_an_unknown_sample_is_answered():
    world, archive, recorder = rig()
    writing = recorder.begin("s9")
    assert (writing.answered, writing.success) == (True, False)
    assert "'s9'" in writing.message
    world.advance(SECOND)
    assert archive.writes == 0


def test_no_effect_answers_success_and_writes_nothing():
    world, archive, recorder = rig(recorder_fault("no_effect", uses=1))
    writing = recorder.begin("s1")
    world.advance(SECOND)
    assert (writing.answered, writing.success, archive.entries) == (True, True, {})
    assert recorder.begin("s1").record_id == ""
    world.advance(SECOND)
    assert archive.writes == 1


def test_a_lost_reply_writes_and_never_answers():
    world, archive, recorder = rig(recorder_fault("lost_reply"))
    writing = recorder.begin("s1")
    world.advance(SECOND)
    assert (writing.done, writing.answered) == (True, False)
    assert archive.writes == 1


def test_down_offers_nothing():
    _, _, recorder = rig(recorder_fault("down"))
    assert not recorder.offered


def test_a_negative_duration_is_refused():
    with pytest.raises(ValueError, match="cannot take"):
        rig(duration=-1)


def test_the_report_counts_what_happened():
    world, archive, recorder = rig()
    heaters = [Heater(name, world) for name in ("heater_a", "heater_b")]
    probe = Probe("probe", world)
    for heater in heaters:
        heater.begin(heater.request("s1", 80.0))
    probe.measure("s1")
    recorder.begin("s1")
    for _ in range(50):
        world.advance(SECOND // 5)
    counts = json.loads(report(world, heaters, probe, archive).to_json())
    assert counts["heatings"] == 2
    assert counts["heaters"]["heater_b"] == {"requests": 1, "accepted": 1, "heatings": {"s1": 1}}
    assert (counts["measurements"], counts["records"]) == (1, 1)
    assert counts["temperatures"] == {"s1": 80.0}
    assert counts["logical_ns"] == world.now
