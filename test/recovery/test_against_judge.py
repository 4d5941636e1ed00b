"""The model, its check and its search against a judge that was written apart and shares no code."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tasks import Raw, tasks

from adf_ea_ros.recovery.admit import actions, admissible, certified, permitted
from adf_ea_ros.recovery.belief import Contradiction, assignments, branches, initial, update
from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.model import Action, ActionKind
from adf_ea_ros.recovery.policies import POLICIES
from adf_ea_ros.recovery.search import Planner
from adf_ea_ros.recovery.world import Frame, Observation, begin
from studies.recovery.adjudicate import judge, play, settled, within_numbers
from studies.recovery.adjudicate import support as all_assignments
from studies.recovery.reference import root

MANY = settings(
    max_examples=int(os.environ.get("RECOVERY_EXAMPLES", "150")),  # RECOVERY_EXAMPLES=3000: for longer
    derandomize="RECOVERY_EXAMPLES" not in os.environ,  # a landing must not hang on a draw of the day
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def plain(frame: Frame, action: Action) -> Raw:
    """An action as the judge reads it."""
    if action.kind is ActionKind.WAIT:
        return {"kind": "wait", "which": action.subject}
    if action.kind is ActionKind.HAND_OVER:
        return {"kind": "hand_over"}
    return {"kind": action.kind.value, "operation": frame.operations[action.subject].id}


def seen(observation: Observation) -> Raw:
    return observation._asdict()


@MANY
@given(tasks(), st.data())
def test_a_world_goes_as_the_judge_plays_it(raw: Raw, data: st.DataObject) -> None:
    """Observations, amounts and violations, whatever is done, also what no check would permit."""
    frame = Frame(load(raw))
    listed = assignments(frame)
    assert listed == all_assignments(raw)
    chosen, _ = data.draw(st.sampled_from(listed))
    world, now, done = begin(frame, chosen), 0, []
    for _ in range(data.draw(st.integers(0, 5))):
        action = data.draw(st.sampled_from(actions(frame)))
        world, observation = frame.step(world, action, now)
        now = observation.time
        done.append(plain(frame, action))
        judged = play(raw, chosen, done)
        assert judged.observations[-1] == seen(observation)
        assert judged.amounts == [t.amount for t in world.things]
        assert frame.stable(world) == play(raw, chosen, done).lasting()
    judged, last = settled(play(raw, chosen, done)), frame.settled(world)
    kinds = ("unauthorized", "duplicate", "dependency", "compensation")
    assert tuple(judged.breaches[kind] for kind in kinds) == last.breaches
    assert judged.amounts == [t.amount for t in last.things]


@MANY
@given(tasks(), st.sampled_from(sorted(POLICIES)), st.data())
def test_every_policy_keeps_what_it_promises(raw: Raw, name: str, data: st.DataObject) -> None:
    """The real world stays in the support, nothing is violated that would not be anyway, limits are kept,
    and a completion that is claimed is one.
    """
    frame = Frame(load(raw))
    chosen, _ = data.draw(st.sampled_from(assignments(frame)))
    world, belief = begin(frame, chosen), initial(frame)
    done, observations = [], []
    for _ in range(12):
        choice = POLICIES[name](frame, belief)
        if choice.action is None:
            break
        assert admissible(frame, belief, choice.action)
        world, observation = frame.step(world, choice.action, belief.time)
        belief = update(frame, belief, choice.action, observation)
        assert world in {member for member, _ in belief.members}
        done.append(plain(frame, choice.action))
        observations.append(seen(observation))
        if belief.handed_over:
            break
    judged = judge(raw, chosen, done, observations)
    assert judged.replayed
    assert not judged.introduced
    assert (judged.fees, judged.actions, judged.time) == (belief.fees, belief.actions, belief.time)
    assert judged.fees <= raw["fees"]
    assert judged.time <= raw["deadline"]
    assert within_numbers(raw, done)
    assert judged.certified == certified(frame, belief)
    if judged.certified:
        assert judged.safe_completion
        assert judged.goal


@settings(MANY, max_examples=MANY.max_examples // 3)
@given(tasks(most=2), st.integers(1, 2))
def test_values_are_those_of_the_exhaustive_reference(raw: Raw, horizon: int) -> None:
    frame = Frame(load(raw))
    belief = initial(frame)
    found = Planner(frame, 10**6).run(belief, horizon)
    expected = root(raw, all_assignments(raw), horizon)
    if not expected:
        assert not found.layers
        return
    layer = found.layers[horizon - 1]
    values = {
        " ".join(str(part) for part in plain(frame, action).values()): tuple(
            Fraction(part, belief.mass) for part in vector
        )
        for action, vector in layer.values
    }
    assert values == expected
    assert values[" ".join(str(p) for p in plain(frame, layer.best[0]).values())] == max(expected.values())


@MANY
@given(tasks(), st.data())
def test_branches_split_the_support_and_lose_nothing(raw: Raw, data: st.DataObject) -> None:
    frame = Frame(load(raw))
    belief = initial(frame)
    for _ in range(3):
        allowed = permitted(frame, belief)
        if not allowed:
            return
        action = data.draw(st.sampled_from(allowed))
        found = branches(frame, belief, action)
        assert sum(b.factor * b.belief.mass for b in found) == belief.mass
        assert len({b.observation for b in found}) == len(found)
        belief = data.draw(st.sampled_from(found)).belief


@MANY
@given(tasks(), st.data())
def test_time_alone_settles_nothing_new(raw: Raw, data: st.DataObject) -> None:
    """Why the check need not look at queries and waits."""
    frame = Frame(load(raw))
    for world, _ in initial(frame).members:
        later = frame.advance(world, data.draw(st.integers(0, 9)))
        one, other = frame.settled(world), frame.settled(later)
        assert one.breaches == other.breaches
        assert [t.amount for t in one.things] == [t.amount for t in other.things]


@MANY
@given(tasks(), st.data())
def test_an_observation_that_nothing_predicts_is_a_contradiction(raw: Raw, data: st.DataObject) -> None:
    frame = Frame(load(raw))
    belief = initial(frame)
    action = data.draw(st.sampled_from(actions(frame)))
    observation = branches(frame, belief, action)[0].observation
    changed = observation._replace(
        **data.draw(st.sampled_from([{"time": -1}, {"status": "?"}, {"request": "?"}, {"amount": 77}]))
    )
    with pytest.raises(Contradiction):
        update(frame, belief, action, changed)
