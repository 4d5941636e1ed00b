"""Public feedback: what is owed, known and acceptable, in sentences that can be acted on."""

from __future__ import annotations

from kit import OPEN_IT, PLACED, RING, Case

from adf_ea_ros.authority.feedback import feedback
from adf_ea_ros.authority.model import Interaction, Node


def test_before_anything() -> None:
    case = Case(PLACED)
    said = feedback(case.state, case.now)
    assert said.owed == ("placed: cup.inside == True",)
    assert said.known == ()
    assert said.next == ("run step open on arm or spare (first)",)
    assert (said.physical, said.observation) == (5, 5)


def test_after_an_answer_that_proves_nothing() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"))
    said = feedback(case.state, case.now)
    assert "the outcome of step open on arm (succeeded, effect not shown)" in said.owed
    assert said.next == ("observe step open",)


def test_after_qualified_negative_evidence() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"), Interaction.ABORTED)
    case.wait(1).assess("open", False)
    assert feedback(case.state, case.now).next == ("run step open on arm or spare (retry)",)


def test_after_a_loss() -> None:
    case = Case(PLACED)
    case.do("open")
    case.wait(1).refresh(open=False)
    said = feedback(case.state, case.now)
    assert "cabinet.open == True was lost and is needed again" in said.owed
    assert said.next == ("run step open on arm or spare (repair)",)


def test_at_the_end() -> None:
    case = Case(PLACED)
    case.do("open")
    case.do("put", open=True)
    case.refresh(inside=True)
    said = feedback(case.state, case.now)
    assert said.next == ("claim completion",)
    assert "cup.inside == True" in said.known
    assert case.claim(inside=True).authorized
    assert feedback(case.state, case.now).next == ()


def test_what_is_advised_is_what_would_be_granted() -> None:
    """The advice comes from ``decide`` itself: every piece of it, taken, is granted."""
    plan = (Node("open", OPEN_IT), Node("ring", RING))
    case = Case(PLACED, plan=plan)
    for line in feedback(case.state, case.now).next:
        _, _, step, _, provider, *_ = line.split()
        assert Case(PLACED, plan=plan).dispatch(step, provider).authorized


def test_it_reads_as_sentences_and_names_no_internals() -> None:
    case = Case(PLACED)
    case.answer(case.run("open"))
    text = str(feedback(case.state, case.now))
    assert text.startswith("Owed: placed: cup.inside == True; the outcome of step open")
    assert "Left: 4 physical requests, 5 observations." in text
    assert case.state.attempts["e.1"].key not in text
