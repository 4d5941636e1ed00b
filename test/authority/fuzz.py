"""Requests that nobody honest would make: arbitrary names, times, conditions and findings, in every kind
of request.
"""

from __future__ import annotations

from hypothesis import strategies as st

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import Interaction, Node, Operation
from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.evidence.types import Finding, Verdict

NAMES = st.sampled_from(
    ["", "n0", "n1", "n2", "e.1", "e.2", "p", "q", "r", "e", "op", "x" * 300, "\x1f", "goal:g0"]
)
TEXTS = NAMES | st.text(max_size=8)
TIMES = st.integers(-2, 130) | st.integers(-(2**62), 2**62)
VALUES = st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=True) | st.text(max_size=4)
FACTS = st.sampled_from([("f0", "on"), ("f1", "on"), ("f2", "on"), ("", "")])
CONDITIONS = st.builds(
    lambda fact, clauses: Condition(*fact, tuple(clauses)),
    FACTS,
    st.lists(st.builds(Clause, st.sampled_from(Operator), VALUES), min_size=1, max_size=2),
)
KNOWN = st.builds(lambda fact, value: Condition(*fact, (Clause(Operator.EQ, value),)), FACTS, st.booleans())
FINDINGS = st.lists(
    st.builds(
        Finding,
        requirement=st.sampled_from(["n0.done.seen0", "n1.done.seen0", "c1.n0", "task.g0", "junk"]),
        condition=CONDITIONS | KNOWN,
        verdict=st.sampled_from(Verdict),
        horizon=TIMES,
        negative=st.booleans(),
        captured=TIMES,
        valid_until=TIMES,
        basis=st.sampled_from([(), ("o1",)]),
        integrity=st.sampled_from(["", "E.identity"]),
        support=st.integers(0, 3),
        against=st.integers(0, 3),
    ),
    max_size=4,
).map(tuple)


def requests(operations: tuple[Operation, ...]) -> st.SearchStrategy[rq.AnyRequest]:
    """Any request; steps are made of ``operations``, in any order, with any dependencies."""
    nodes = st.lists(
        st.builds(Node, NAMES, st.sampled_from(operations), st.lists(NAMES, max_size=3).map(tuple)),
        max_size=4,
    ).map(tuple)
    starts = st.builds(
        EpisodeStarted,
        episode=TEXTS,
        task=TEXTS,
        fingerprint=TEXTS,
        time=TIMES,
        obligations=st.just(()),
        physical=st.integers(0, 3),
        observation=st.integers(0, 3),
    )
    faults = st.lists(st.tuples(TEXTS, TEXTS), max_size=1).map(tuple)
    return st.one_of(
        st.builds(rq.Begin, starts, st.lists(TEXTS, max_size=2).map(tuple), faults),
        st.builds(rq.Revise, nodes, faults, TEXTS, FINDINGS),
        st.builds(
            rq.Dispatch,
            node=TEXTS,
            provider=TEXTS,
            generation=st.integers(-1, 5),
            view=FINDINGS,
            assessed=FINDINGS,
        ),
        st.builds(rq.Report, TEXTS, st.sampled_from(Interaction), TEXTS),
        st.builds(rq.Assess, TEXTS, FINDINGS, FINDINGS),
        st.builds(rq.Refresh, FINDINGS),
        st.builds(rq.Observe, TEXTS, FINDINGS, FINDINGS),
        st.builds(rq.Claim, FINDINGS),
        st.builds(rq.Stop, TEXTS, TEXTS, TEXTS),
        st.builds(rq.Restart, st.integers(-1, 9)),
        st.builds(rq.Reconcile, TEXTS, st.sampled_from(rq.Answer), st.sampled_from(Interaction), TEXTS),
        st.builds(rq.SetAvailability, TEXTS, TEXTS, st.booleans()),
        st.builds(rq.Halt, TEXTS, TEXTS),
        st.builds(rq.Resume, TEXTS),
        st.builds(rq.Approve, TEXTS, TEXTS, TEXTS, TIMES),
        st.builds(rq.Withdraw, TEXTS, TEXTS, TEXTS),
        st.builds(rq.Attest, TEXTS, TEXTS, CONDITIONS | KNOWN, st.booleans(), TEXTS),
    )
