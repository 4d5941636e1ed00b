"""What the studies found in the product, and what was mended for it."""

from __future__ import annotations

from adf_ea_ros.authority.feedback import acceptable
from studies.comparison.run import EMPTY, Condition, boolean, execute
from studies.contrasts.pairs import CHAIN, DONE, FIELDS, JOB, _all, _at, _only
from studies.contrasts.study import PlainAdf
from studies.device import Rule
from studies.methods import stream
from studies.methods.adf import Adf
from studies.variants import variant


def test_an_event_that_was_seen_is_not_absent_once_its_trace_is_gone() -> None:
    """The finishing happened, and a reading after the dispatch showed it; then its trace is taken away."""
    event = _all(
        _only("a_chain"),
        _at("capability/finish_a:effects.finished.kind", "event"),
        _at("task/a_chain:obligations.a_finished.kind", "event"),
    )
    gone = Rule(call="finish_a", sets={"branch_a.finished": False})
    asked = stream([*DONE, {"run": "finish_a"}], JOB)
    condition = Condition("event_repeated", "", "a_chain", (), asked, (gone,), EMPTY, FIELDS)
    run = execute(condition, PlainAdf, variant("boolean", event))
    happened = [e for e in run.events if e["kind"] == "effect" and e["cause"].startswith("call ")]
    assert [e["fact"] for e in happened].count("branch_a.finished") == 1


def test_the_advice_names_the_retry_that_would_be_granted() -> None:
    """With preconditions that stay fresh for less time than an attempt takes, which is the usual case."""

    class Advised(PlainAdf):
        advice: tuple[str, ...] = ()

        def finish(self) -> None:
            Advised.advice = acceptable(self.state, self.device.now)
            super().finish()

    missing = (Rule(call="process_a", suppressed=True),)
    asked = stream([*CHAIN, {"run": "prepare_a"}, {"run": "process_a"}], JOB)
    condition = Condition("advice", "", "a_chain", (), asked, missing, EMPTY, FIELDS)
    execute(condition, Advised, boolean())
    retried = execute(condition._replace(name="advice_taken"), Adf, boolean())
    assert [e["by"] for e in retried.events if e["kind"] == "request"][-1] == "hook"
    assert Advised.advice == (
        "run step process_a on process_a_unit (retry), once fresh evidence shows branch_a.prepared == True",
    )
