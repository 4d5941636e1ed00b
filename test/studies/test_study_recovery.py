"""The judge of the recovery study notices what is not as it was, and knows nothing of what it judges."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adf_ea_ros.recovery.policies import POLICIES
from studies.recovery.adjudicate import Raw, judge, play
from studies.recovery.audit import mis_specified, small_tasks
from studies.recovery.collect import Episode, Template, run, templates
from studies.report.manifest import ROOT

BY_NAME = {template.name: template for template in templates()}


def episode(name: str, which: int = 0) -> tuple[Template, tuple[int, ...], Episode]:
    template = BY_NAME[name]
    chosen = template.assignments[which]
    return template, chosen, run(template, chosen, POLICIES["search"])


def test_it_imports_nothing_of_the_product() -> None:
    program = (
        "import sys, studies.recovery.adjudicate, studies.recovery.reference\n"
        "sys.exit(any(name.startswith('adf_ea_ros') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_every_kind_of_task_is_there_with_every_assignment() -> None:
    assert len(BY_NAME) == 21
    assert sum(len(t.assignments) for t in BY_NAME.values()) == 43
    assert len(BY_NAME["one_power_cut"].assignments) == 2  # a joint support, not four combinations


def test_a_completion_that_is_none() -> None:
    """The goal is met in the world, and the public history leaves another one possible."""
    task = BY_NAME["absent_query"]
    found = judge(task.raw, (0,), [], [])
    assert found.goal
    assert not found.certified
    assert not found.safe_completion


def test_an_observation_that_was_changed() -> None:
    template, chosen, done = episode("expired_key")
    assert done.judged is not None
    assert done.judged.safe_completion
    forged: list[Raw] = [{**seen, "amount": 1 - seen["amount"]} for seen in done.observations]
    found = judge(template.raw, chosen, done.actions, forged)
    assert not found.replayed
    assert not found.safe_completion


def test_an_action_that_was_left_out_or_added() -> None:
    template, chosen, done = episode("dependent_records", 1)
    assert done.judged is not None
    fewer = judge(template.raw, chosen, done.actions[:-1], done.observations[:-1])
    assert not fewer.certified
    assert fewer.fees < done.judged.fees
    twice = [*done.actions, done.actions[-1]]
    more = judge(template.raw, chosen, twice, play(template.raw, chosen, twice).observations)
    assert more.introduced
    assert not more.certified


def test_an_effect_after_the_deadline_is_not_lost() -> None:
    template = BY_NAME["after_the_deadline"]
    actions: list[Raw] = [{"kind": "write", "operation": "close"}, {"kind": "write", "operation": "lamp_off"}]
    late = judge(template.raw, (0, 0), actions, play(template.raw, (0, 0), actions).observations)
    assert late.goal  # at the deadline it looks well
    assert (late.violations, late.introduced) == (1, 1)
    assert not late.certified


def test_limits_are_part_of_a_completion() -> None:
    template, chosen, done = episode("dependent_records")
    for name, value in (("fees", 2), ("deadline", 2), ("actions", 2)):
        tight = {**template.raw, name: value}
        assert not judge(tight, chosen, done.actions, done.observations).certified


def test_a_handover_is_no_completion() -> None:
    template = BY_NAME["already_there"]
    over: list[Raw] = [{"kind": "hand_over"}]
    assert judge(template.raw, (0,), [], []).certified
    assert not judge(template.raw, (0,), over, play(template.raw, (0,), over).observations).certified


def test_a_violation_from_before_is_not_laid_at_recovery() -> None:
    _, _, done = episode("duplicate_dose", 1)
    assert done.judged is not None
    assert (done.judged.violations, done.judged.introduced) == (1, 0)
    assert done.end == "hand_over"


def test_a_model_without_the_real_outcome() -> None:
    assert "no alternative of the model explains 'done'" in mis_specified()


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"stop"}))
def test_what_the_policies_differ_in(name: str) -> None:
    """The two tasks that were written to tell them apart do."""

    def fees(task: str) -> int:
        template = BY_NAME[task]
        found = [run(template, chosen, POLICIES[name]).judged for chosen in template.assignments]
        return sum(one.fees for one in found if one is not None)

    assert fees("one_power_cut") == {"search": 7, "greedy": 7, "rules": 15, "verify": 15}[name]
    assert fees("dependent_records") == {"search": 10, "greedy": 12, "rules": 12, "verify": 10}[name]


def test_the_small_tasks_differ() -> None:
    assert len({repr(raw) for raw in small_tasks()}) == 23
