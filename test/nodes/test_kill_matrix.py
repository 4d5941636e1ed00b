"""The kill matrix in its short form: a few cells with real processes. The long form is ``make soak``."""

import pytest

pytest.importorskip("rclpy")

from benchmarks.soak.judge import verify
from benchmarks.soak.matrix import trial
from benchmarks.soak.points import POINTS
from benchmarks.soak.stage import AUTHORITY, CAPABILITY, DEVICE, Stage

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.timeout(300)]

CELLS = (("after intent", AUTHORITY), ("after send", CAPABILITY), ("after effect", DEVICE))


def test_whoever_dies_nothing_is_done_twice_and_nothing_is_claimed_that_is_not_so(tmp_path):
    points = {point.name: point for point in POINTS}
    with Stage(tmp_path / "stage", len(CELLS), factor=8.0) as stage:
        done = [
            trial(stage, points[name], victim, sample, seed=1)
            for sample, (name, victim) in zip(stage.samples, CELLS, strict=True)
        ]
        assert verify(stage.ledger) == []
    for each in done:
        assert each.verdict.faults == [], each
        assert each.hit, each
        assert each.verdict.ended in ("evidenced", "retried"), each
        assert each.verdict.heatings >= 1, each
