"""Public feedback: what is owed, what is known, what would be accepted next (section 3.6).

For people and language models alike: plain sentences, no ledger internals. What would be accepted is found by
asking ``decide`` itself about each candidate, so that the advice cannot drift from the rules. Where only a
look at the world is missing (``outlook``), the advice says what that has to show; where an approval is
missing (rule X12), whose.
"""

from __future__ import annotations

import msgspec

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision, Work
from adf_ea_ros.authority.model import Node, ObligationKind
from adf_ea_ros.authority.outlook import MENDED, hopeful
from adf_ea_ros.authority.reasons import REASONS
from adf_ea_ros.authority.rules.coverage import covered
from adf_ea_ros.authority.rules.x10_lease import needed
from adf_ea_ros.authority.rules.x12_approval import approvers, awaited, terms
from adf_ea_ros.authority.shown import shown_certificates
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns

CANDIDATES = 20
"""How many steps are tried: enough for any frontier that a person would read."""


AWAITED = frozenset(code for code in REASONS if code.startswith("X12."))
"""Reasons that a person's approval takes away."""


class Feedback(msgspec.Struct, frozen=True):
    """Sentences under three heads, and the budgets that are left."""

    owed: tuple[str, ...]
    known: tuple[str, ...]
    next: tuple[str, ...]
    physical: int
    observation: int

    def __str__(self) -> str:
        return (
            f"Owed: {'; '.join(self.owed) or 'nothing'}.\n"
            f"Known: {'; '.join(self.known) or 'nothing'}.\n"
            f"Next: {'; '.join(self.next) or 'nothing would be accepted now'}.\n"
            f"Left: {self.physical} physical requests, {self.observation} observations."
        )


def feedback(state: State, now: Ns) -> Feedback:
    """What may be said in public about an episode at ``now``."""
    return Feedback(
        owed(state, now), known(state, now), acceptable(state, now), state.physical, state.observation
    )


def owed(state: State, now: Ns) -> tuple[str, ...]:
    """Goals without live support, unresolved attempts, lost states."""
    work = Work(state, now)
    lines = []
    for goal in state.goal:
        if goal.kind is ObligationKind.PRESERVE and goal.id in state.broken:
            lines.append(f"{goal.id} was broken and cannot be completed: {goal.condition}")
        elif not covered(work, goal):
            lines.append(f"{goal.id}: {goal.condition}")
    for unresolved in state.execution.values():
        attempt = state.attempts[unresolved.attempt]
        lines.append(
            f"the outcome of step {attempt.node} on {attempt.provider} "
            f"({attempt.interaction.value.lower()}, effect not shown)"
        )
    lines += [f"{lost.condition} was lost and is needed again" for lost in state.owed.values()]
    return tuple(lines)


def known(state: State, now: Ns) -> tuple[str, ...]:
    """What is proven and usable, one line for each fact; of many, what goals and plan need and the newest."""
    live = (certificate for certificate in shown_certificates(state) if state.live(certificate, now))
    return tuple(dict.fromkeys(str(certificate.condition) for certificate in live))


def acceptable(state: State, now: Ns) -> tuple[str, ...]:
    """The requests that would be granted now, by the evidence at hand or once fresh evidence adds to it.

    Where a request lacks nothing but a look at the world, it stands here with what that look has to show: the
    runtime takes one together with each request.
    """
    if state.phase != "active":
        return ()
    lines = [line for node in _candidates(state)[:CANDIDATES] if (line := _advice(state, node, now))]
    if not lines:
        ready = _trial(state, rq.Claim(), now)
        lines += [f"claim completion{ready[1]}"] if ready is not None else []
    return tuple(lines)


def _advice(state: State, node: Node, now: Ns) -> str:
    """The next request about a step; empty where none would be granted."""
    for absent in (False, True):
        trials = [
            (b.provider, _trial(state, rq.Dispatch(node.id, b.provider), now, absent=absent))
            for b in node.operation.bindings
        ]
        able = [(provider, *found) for provider, found in trials if found is not None]
        if able:
            names = " or ".join(provider for provider, _, _ in able)
            first, decision, remark = able[0]
            shared = needed(node.operation, first)
            remark += f", unless another authority holds {' or '.join(shared)}" if shared else ""
            assert decision.attempt is not None, "an authorized dispatch has an attempt"
            return f"run step {node.id} on {names} ({decision.attempt.mode.value.lower()}){remark}"
        if decide(state, rq.Observe(node.id), now).authorized:
            return f"observe step {node.id}"
    return ""


def _trial(
    state: State, request: rq.Dispatch | rq.Claim, now: Ns, *, absent: bool = False
) -> tuple[Decision, str] | None:
    """The grant of a request, and the approval and the fresh evidence that it takes; none where it would be
    refused all the same.
    """
    plain, given = decide(state, request, now), ""
    if isinstance(request, rq.Dispatch) and not AWAITED.isdisjoint(plain.reasons):
        node = state.proposal.nodes[request.node]
        given = f", once {approvers(terms(state, node))} approves it"
        state = awaited(state, node, now)
        plain = decide(state, request, now)
    if plain.authorized:
        return plain, given
    found = hopeful(state, request, now, absent=absent) if MENDED.issuperset(plain.reasons) else None
    if found is None:
        return None
    return found[0], f"{given}{' and' if given else ','} once fresh evidence shows {found[1]}"


def _candidates(state: State) -> list[Node]:
    """Steps that are in doubt or lost, then those that come next; what is verified and holds is left out."""
    lost = {state.certificates[owed.certificate].key for owed in state.owed.values()}
    urgent: list[Node] = []
    due: list[Node] = []
    for name in sorted(state.proposal.nodes):
        node = state.proposal.nodes[name]
        key = node.operation.key
        if key in lost or state.pending(key) is not None:
            urgent.append(node)
        elif state.established(key):
            if state.standing:  # each goal asks for its own states (X11)
                due.append(node)
        elif all(
            state.established(state.proposal.nodes[need].operation.key)
            for need in state.proposal.needs.get(name, ())
        ):
            due.append(node)
    return [*urgent, *due]
