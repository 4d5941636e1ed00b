"""Advice in every state that the test machines of the authority come to, honest ones and others.

Every dispatch, observation and claim that is advised is one that ``decide`` grants, and every dispatch that
it grants of a step in the model is advised; advice is total and deterministic; nothing makes it raise.
"""

from __future__ import annotations

import os
import random
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parents[1] / "authority"))

import test_machine_rules as machines
from fuzz import requests
from kit import OPEN_IT, PUT_IT, RING, SHUT_IT

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.outlook import hopeful
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.recovery.advise import Kind, advise
from adf_ea_ros.recovery.picture import picture
from studies.exploration import models
from studies.exploration.canonical import name
from studies.exploration.moves import opening, steps


def check(state: State, now: Ns) -> set[Kind]:
    """All that has to hold of advice in a state; what was advised."""
    advice = advise(state, now, budget=10)
    assert advice == advise(state, now, budget=10)
    assert bool(advice.error) == (state.phase != "active")
    if advice.error:
        assert not advice.pieces
        return set()
    assert sum(piece.action is Kind.HAND_OVER for piece in advice.pieces) == 1
    advised = {(p.step, p.provider) for p in advice.pieces if p.action is Kind.DISPATCH}
    assert advised == _granted(state, now)
    for piece in advice.pieces:
        assert piece.sentence
        assert 0 <= piece.completion <= 1
        assert 0 <= piece.progress <= 1
        assert piece.cost >= 0
        if piece.action is Kind.DISPATCH:
            said = decide(state, rq.Dispatch(piece.step, piece.provider), now)
            assert said.authorized, said.sentence
            assert said.attempt is not None
        elif piece.action is Kind.CLAIM:
            assert decide(state, rq.Claim(), now).authorized
        elif piece.action is Kind.WAIT:
            assert piece.wait > 0
        elif piece.action is Kind.OBSERVE and not decide(state, rq.Observe(piece.step), now).authorized:
            assert "spends no observation" in piece.sentence
            assert _would_help(state, piece.step, now)
    return {piece.action for piece in advice.pieces}


def _granted(state: State, now: Ns) -> set[tuple[str, str]]:
    """Every dispatch of a modelled step that would be granted."""
    tried = (
        (name, b.provider)
        for name in picture(state, now).steps
        if name
        for b in state.proposal.nodes[name].operation.bindings
    )
    return {one for one in tried if decide(state, rq.Dispatch(*one), now).attempt is not None}


def _would_help(state: State, step: str, now: Ns) -> bool:
    """A look that is advised would bring a grant."""
    if not step:
        return hopeful(state, rq.Claim(), now) is not None
    bindings = state.proposal.nodes[step].operation.bindings
    return any(hopeful(state, rq.Dispatch(step, b.provider), now) is not None for b in bindings)


class Advised(machines.Authority):
    """The machine of the rules, asked for advice in every state."""

    @invariant()
    def advice_holds(self) -> None:
        if hasattr(self, "model"):
            check(self.state, self.place.world.now)
            check(self.state, self.state.clock - 1)  # a clock that went back


SETTINGS = settings(
    machines.SETTINGS, max_examples=int(os.environ.get("MACHINE_EXAMPLES", "30")), stateful_step_count=25
)


def test_advice_in_the_states_of_the_machine() -> None:
    run_state_machine_as_test(Advised, settings=SETTINGS)


PLACES = 120
"""Of each model, so many are looked at; deep and wide in turn."""


NAMES = [model.name for model in models.quick()]


@cache
def walked(number: int) -> frozenset[Kind]:
    """What was advised in the places that a small model was followed to."""
    model = models.quick()[number]
    dice = random.Random(1)
    ahead, known, advised = [opening(model)], set(), set()
    while ahead and len(known) < PLACES:
        place = ahead.pop(-1 if dice.random() < 0.7 else dice.randrange(len(ahead)))
        if name(place) in known:
            continue
        known.add(name(place))
        advised |= check(place.state, place.world.now)
        ahead += [step.place for step in steps(model, place) if not step.nothing]
    assert len(known) == PLACES
    return frozenset(advised)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_advice_in_the_places_of_small_models(number: int) -> None:
    assert Kind.HAND_OVER in walked(number)


def test_each_kind_of_advice_was_given() -> None:
    """Claims of completion among them: none of the checks was for nothing."""
    assert set().union(*(walked(number) for number in range(len(NAMES)))) == set(Kind)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_advice_in_states_that_nobody_honest_comes_to(data: st.DataObject) -> None:
    """Whatever requests an episode has seen: names, times and findings of any kind."""
    state = State()
    any_request = requests((OPEN_IT, PUT_IT, SHUT_IT, RING))
    for _ in range(data.draw(st.integers(0, 8))):
        now = data.draw(st.integers(-5, 150))
        state = decide(state, data.draw(any_request), now).after
        check(state, data.draw(st.sampled_from([now, now + 1, 2**62, -5])))
