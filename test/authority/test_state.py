"""Checkpoints: a state that was saved and loaded decides like the one that was saved."""

from __future__ import annotations

import gc

import msgspec
from kit import ALL, OPEN_IT, RING, SHUT, SHUT_IT, Case, fact_goal, goal, operation, refused

from adf_ea_ros.authority.model import Interaction, Node, ObligationKind, Policy, Replay
from adf_ea_ros.authority.state import decode_state, encode_state

INDEXES = ("goal_by_id", "goals_by_key", "preserved")


def loaded(case: Case) -> Case:
    """The case after a restart from a checkpoint, written by a version that knew no indexes of G."""
    plain = msgspec.msgpack.decode(encode_state(case.state))
    for name in INDEXES:
        assert not plain.pop(name), "what follows from G is not saved"
    case.state = decode_state(msgspec.msgpack.encode(plain))
    return case


def test_a_checkpoint_is_the_whole_state() -> None:
    case = Case(goal("opened", OPEN_IT), plan=(Node("open", OPEN_IT),))
    case.do("open")
    assert decode_state(encode_state(case.state)) == case.state


def test_the_order_of_the_task_outlives_a_restart() -> None:
    rung = goal("rung", RING, ObligationKind.EVENT, after=("opened",))
    case = Case(goal("opened", OPEN_IT), rung, plan=(Node("open", OPEN_IT), Node("ring", RING)))
    refused(loaded(case).dispatch("ring"), "R2.obligation_order")


def test_preservation_outlives_a_restart() -> None:
    case = Case(fact_goal("stay", SHUT, ObligationKind.PRESERVE), plan=(Node("shut", SHUT_IT),))
    assert loaded(case).revise(Node("open", OPEN_IT)).reasons == ("R1.preserved",)
    case.refresh(open=True)
    assert "stay" in case.state.broken


def test_the_collector_need_not_look_at_what_an_episode_has_been_through() -> None:
    """A full collection holds up whatever is under way: it must not take longer as history grows."""
    endless = operation("ring", RING.effects[0], policy=Policy(ALL, 1000, Replay.WHEN_ABSENT))
    case = Case(goal("rung", endless, ObligationKind.EVENT), plan=(Node("ring", endless),), physical=1000)

    def fail(times: int) -> None:
        for _ in range(times):
            attempt = case.dispatch("ring", attempt=False).attempt
            case.answer(attempt, Interaction.ABORTED)
            case.wait(1)

    def tracked() -> int:
        case.history.clear()  # the test's own
        gc.collect()
        return len(gc.get_objects())

    fail(10)
    before = tracked()
    fail(500)
    assert len(case.state.attempts) == 510
    assert tracked() - before < 500, "less than one object for each attempt: inner nodes of the maps"
