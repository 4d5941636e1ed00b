"""The controls: what each rule does, in which order, and what a handover says."""

from __future__ import annotations

import pytest
from tasks import ASK, DONE, LATER, NOT, UNKNOWN, frame, op

from adf_ea_ros.recovery.admit import actions
from adf_ea_ros.recovery.belief import initial, update
from adf_ea_ros.recovery.handoff import handoff
from adf_ea_ros.recovery.policies import POLICIES, Choice, greedy, rules, stop, verify
from adf_ea_ros.recovery.world import Frame


def said(f: Frame, choice: Choice) -> str:
    return choice.action.name(f.task) if choice.action is not None else choice.basis


def rule(f: Frame) -> str:
    return said(f, rules(f, initial(f)))


def test_what_is_complete_is_left_alone() -> None:
    f = frame(op("a", promises=ASK, alternatives=[DONE]))
    assert {said(f, policy(f, initial(f))) for policy in POLICIES.values()} == {"certified"}


def test_rules_undo_then_write_then_query_then_wait_then_hand_over() -> None:
    doubt = op("c", promises=ASK, alternatives=[DONE, NOT])
    late = op("d", alternatives=[LATER])
    old = op("a", goal=0, promises={"reversible": True}, alternatives=[DONE])
    free = op("b")
    assert rule(frame(late, doubt, free, old)) == "undo a"
    assert rule(frame(late, doubt, free)) == "write b"
    assert rule(frame(late, doubt)) == "query c"
    assert rule(frame(late)) == "wait 1"
    assert rule(frame(op("e", alternatives=[UNKNOWN]))) == "hand over"


def test_verify_asks_first() -> None:
    f = frame(op("c", promises=ASK, alternatives=[DONE, NOT]), op("b"))
    assert said(f, verify(f, initial(f))) == "query c"
    assert rule(f) == "write b"


def test_a_query_that_tells_nothing_apart_is_not_asked() -> None:
    assert rule(frame(op("a", promises={**ASK, "authoritative": False}, alternatives=[DONE, NOT]))) == (
        "hand over"
    )
    hidden = [{**DONE, "visible_after": 9}, NOT]
    f = frame(op("a", promises={**ASK, "visibility_delay": 9}, alternatives=hidden))
    assert rule(f) == "wait 1"  # it will tell once the effect would show


def test_a_repeat_under_a_valid_key_is_tried() -> None:
    doubt = [{"id": "x", "past": [{"commit_at": None}]}, NOT]
    f = frame(op("a", key="k", promises={"key_lifetime": 9}, alternatives=doubt))
    assert rule(f) == "write a"


def test_a_safe_sequence_is_gone_through_though_its_first_attempt_fails() -> None:
    writes = [{"ok": False, "reply": "failed"}, {}]
    f = frame(op("a", alternatives=[{"id": "x", "writes": writes}]))
    assert rule(f) == "write a"
    assert said(f, greedy(f, initial(f))) == "write a"
    hopeless = [{"ok": False, "reply": "failed"}]
    assert rule(frame(op("a", alternatives=[{"id": "x", "writes": hopeless}]))) == "hand over"


def test_no_wait_for_what_comes_after_the_deadline() -> None:
    assert rule(frame(op("a", alternatives=[LATER]), deadline=2)) == "hand over"


def test_the_shortest_wait() -> None:
    waits = [{"fee": 0, "duration": 5}, {"fee": 0, "duration": 2}]
    assert rule(frame(op("a", alternatives=[LATER]), waits=waits)) == "wait 2"


def test_nothing_is_left_to_choose() -> None:
    f = frame(op("a", alternatives=[UNKNOWN]), hand_over={"fee": 99})
    assert rules(f, initial(f)) == Choice(None, "rules")


def test_greedy_takes_the_step_that_gains_and_else_the_rules() -> None:
    f = frame(op("c", promises=ASK, alternatives=[DONE, NOT]), op("b"))
    choice = greedy(f, initial(f))
    assert (said(f, choice), choice.basis) == ("write b", "greedy")
    f = frame(op("c", promises=ASK, alternatives=[DONE, NOT]))
    choice = greedy(f, initial(f))  # the query completes half of the worlds
    assert (said(f, choice), choice.basis) == ("query c", "greedy")
    f = frame(op("a", alternatives=[LATER]))
    assert greedy(f, initial(f)).basis == "rules"


def test_among_equal_steps_greedy_takes_the_one_that_tells_more() -> None:
    told = [{"id": "p", "writes": [{"reply": "done"}]}, {"id": "q", "writes": [{"reply": "lost"}]}]
    silent = [{"id": "p", "writes": [{"reply": "lost"}]}, {"id": "q", "writes": [{"reply": "lost"}]}]
    f = frame(
        op("cheap", write={"fee": 1}, alternatives=silent), op("dear", write={"fee": 5}, alternatives=told)
    )
    assert said(f, greedy(f, initial(f))) == "write dear"


def test_rules_among_given_actions() -> None:
    f = frame(op("c", promises=ASK, alternatives=[DONE, NOT]), op("b"))
    given = [a for a in actions(f) if a.name(f.task) != "write b"]
    assert said(f, rules(f, initial(f), given)) == "query c"
    assert rules(f, initial(f), []).action is None


def test_stop_stops() -> None:
    f = frame(op("b"))
    assert stop(f, initial(f)) == Choice(None, "stop")


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_policy_is_a_function_of_what_is_public(name: str) -> None:
    f = frame(op("a", promises=ASK, alternatives=[DONE, LATER, NOT]), op("b", after=["a"]))
    assert POLICIES[name](f, initial(f)) == POLICIES[name](Frame(f.task), initial(f))


def test_a_handover_says_what_a_person_has_to_know() -> None:
    f = frame(
        op("a", key="ka", promises=ASK, alternatives=[DONE, NOT]),
        op("b", alternatives=[UNKNOWN]),
        op("c", alternatives=[DONE]),
        op("d", effect="replace"),
    )
    belief = initial(f)
    query = next(a for a in (rules(f, belief).action,) if a is not None)
    assert query.name(f.task) == "write d"
    belief = update(f, belief, query, f.step(belief.members[0][0], query, 0)[1])
    found = handoff(f, belief)
    assert ("a", "ka") in found.requests
    assert ("b", "b") in found.requests
    assert found.known == ("b: absent", "c: there", "d: there")
    assert found.open == (
        "a: absent or there",
        "b: a request may still take effect, and nobody knows when",
    )
    assert found.owed == ("a: there", "b: there")
    assert found.next == ("query a", "write d", "wait 1")
    assert dict(found.spent) == {"fees": 1, "actions": 1, "time": 1}


def test_what_is_there_and_will_not_stay_is_owed() -> None:
    undone = {"id": "undone", "past": [{"commit_at": 0}, {"commit_at": 4, "kind": "undo"}]}
    doubtful = {"id": "doubtful", "past": [{"commit_at": 0}, {"commit_at": None}]}
    f = frame(
        op("a", promises={"reversible": True}, alternatives=[undone]),
        op("b", effect="replace", alternatives=[doubtful]),
        op("c", alternatives=[DONE]),
    )
    assert handoff(f, initial(f)).owed == ("a: there", "b: there")


def test_a_handover_tells_what_is_still_to_come() -> None:
    f = frame(op("a", alternatives=[LATER]))
    found = handoff(f, initial(f))
    assert found.known == ("a: absent",)
    assert found.open == ("a: there once all is over",)
    assert found.owed == ("a: there",)
