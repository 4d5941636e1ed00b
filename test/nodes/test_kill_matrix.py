"""The kill matrix in its short form: a few cells with real processes. The long form is ``make soak``."""

import pytest

pytest.importorskip("rclpy")

from benchmarks.soak.judge import verify
from benchmarks.soak.matrix import trial
from benchmarks.soak.points import POINTS
from benchmarks.soak.stage import AUTHORITY, CAPABILITY, DEVICE, Stage

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.timeout(300)]

CELLS = (("after intent", AUTHORITY), ("after send", CAPABILITY), ("after effect", DEVICE))


TRIES = 6
"""How often a cell is tried until the kill fell at its point, which a busy machine may miss."""


def test_whoever_dies_nothing_is_done_twice_and_nothing_is_claimed_that_is_not_so(tmp_path):
    points = {point.name: point for point in POINTS}
    with Stage(tmp_path / "stage", TRIES * len(CELLS), factor=8.0) as stage:
        samples = iter(stage.samples)
        for name, victim in CELLS:
            for seed in range(TRIES):  # each with other moments
                done = trial(stage, points[name], victim, next(samples), seed)
                assert done.verdict.faults == [], done
                if done.hit:
                    break
            assert done.hit, done
            assert done.verdict.ended in ("evidenced", "retried"), done
            assert done.verdict.heatings >= 1, done
        assert verify(stage.ledger) == []
