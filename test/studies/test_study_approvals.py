"""The approvals study: its judge, its variants, and that another store changes nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.runtime.service import AuthorityService
from studies.approvals.adjudicate import Entry, adjudicate
from studies.approvals.interleavings import PAIRS, before, beside, in_flight
from studies.approvals.study import Judged, everything, in_file, interleaved, run
from studies.approvals.variants import VARIANTS
from studies.approvals.worlds import WORLDS

ROOT = Path(__file__).parents[2]


@cache
def found() -> dict[str, list[Judged]]:
    return everything(lambda _: None)


def entry(kind: str, t: int = 0, **what: Any) -> Entry:
    return {"t": t, "kind": kind, "episode": "e", **what}


APPROVAL = entry("approval", by="ann", step="vent", what="vent/1 v1", until=600)
SENT = entry(
    "sent",
    5,
    attempt="e.1",
    step="vent",
    provider="valve_a",
    what="vent/1 v1",
    subject="v1.open",
    reserved=True,
)
EFFECT = entry("effect", 6, attempt="e.1", subject="v1.open")


def test_the_judge_lets_an_approved_effect_pass() -> None:
    verdict = adjudicate([APPROVAL, SENT, EFFECT, entry("completed", 9)])
    assert verdict == (1, (), True)
    assert adjudicate([{**SENT, "reserved": False}, EFFECT]).unsafe == ()
    assert adjudicate([SENT]).unsafe == ()  # it was sent, and nothing came of it
    lost, again = entry("lost", 7, subject="v1.open"), {**SENT, "attempt": "e.2", "t": 9}
    assert not adjudicate(
        [APPROVAL, SENT, EFFECT, lost, APPROVAL, again, {**EFFECT, "attempt": "e.2"}]
    ).unsafe


@pytest.mark.parametrize(
    ("log", "why"),
    [
        ([SENT], "nobody approved it"),
        ([{**APPROVAL, "step": "other"}, SENT], "nobody approved it"),
        ([{**APPROVAL, "episode": "d"}, SENT], "nobody approved it"),
        ([{**APPROVAL, "by": "planner"}, SENT], "planner may not approve it"),
        ([{**APPROVAL, "what": "vent/2 v1"}, SENT], "vent/2 v1 was approved"),
        ([{**APPROVAL, "until": 4}, SENT], "the approval was over"),
        ([APPROVAL, entry("withdrawal", step="vent"), SENT], "the approval had been withdrawn"),
        ([APPROVAL, entry("halt"), SENT], "a halt had come between"),
        ([APPROVAL, entry("revoked", provider="valve_a"), SENT], "valve_a had been revoked in between"),
        ([APPROVAL, {**SENT, "attempt": "e.0"}, SENT], "the approval was for an earlier attempt"),
    ],
)
def test_the_judge_says_why_an_effect_was_not_allowed(log: list[Entry], why: str) -> None:
    assert adjudicate([*log, EFFECT]).unsafe == (f"e.1: {why}",)


def test_the_judge_notices_an_effect_that_comes_twice() -> None:
    again = {**SENT, "attempt": "e.2"}
    log = [APPROVAL, SENT, EFFECT, APPROVAL, again, {**EFFECT, "attempt": "e.2"}]
    assert adjudicate(log).unsafe == ("e.2: it was so already",)
    unrelated = [entry("revoked", provider="valve_b"), entry("withdrawal", step="other")]
    assert not adjudicate([APPROVAL, *unrelated, SENT, EFFECT]).unsafe


def test_the_judge_imports_nothing_of_the_product() -> None:
    program = (
        "import sys, studies.approvals.adjudicate\n"
        "raise SystemExit(str([m for m in sys.modules if m.startswith('adf_ea_ros')] or 0) != '0')"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_the_first_variant_is_the_product_itself() -> None:
    assert VARIANTS["everything"] is AuthorityService


def test_a_refused_world_really_asked() -> None:
    """A world in which nothing was ever sent or refused would prove nothing."""
    for judged in found()["everything"]:
        kinds = {e["kind"] for e in judged.log}
        assert "sent" in kinds if judged.world.effects else "not sent" in kinds, judged.world.name


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "test" / "ledger"))
    try:
        from postgres_server import WHY_NOT, PostgresServer, find_programs
    finally:
        sys.path.pop(0)
    pytest.importorskip("psycopg")
    if find_programs() is None:
        pytest.skip(WHY_NOT)
    one = PostgresServer()
    yield one
    one.close()


@pytest.mark.slow
def test_on_postgresql_nothing_comes_out_otherwise(server: Any) -> None:
    def opener(folder: Path) -> SqlLedger:
        return open_ledger(f"{server.url}#{folder.name.lower()}", mark=folder / "mark")

    for name, service in VARIANTS.items():
        for world, there in zip(WORLDS, found()[name], strict=True):
            here = run(world, service, opener)
            assert (here.verdict.effects, len(here.verdict.unsafe), here.verdict.completed) == (
                there.verdict.effects,
                len(there.verdict.unsafe),
                there.verdict.completed,
            ), f"{world.name}, {name}"
    for pair in PAIRS:
        for change in filter(None, (pair.relevant, pair.unrelated)):
            for moment in (before, beside, in_flight):
                mine = interleaved(change, moment, opener)
                assert mine[0] == interleaved(change, moment, in_file)[0], pair.name
                assert not mine[1].unsafe
