"""A msg/Episode: what an episode owes, knows and has done, as far as the public may see it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from adf_ea_ros import msg
from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.feedback import feedback
from adf_ea_ros.authority.model import Approval, Certificate, EffectKind, Obligation, ObligationKind
from adf_ea_ros.authority.proposal import topological
from adf_ea_ros.authority.rules.coverage import covered
from adf_ea_ros.authority.rules.x12_approval import approvers, terms, void
from adf_ea_ros.authority.shown import SHOWN, certificate_names, shown_approvals, shown_facts, shown_keys
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.nodes.convert import attempt_msg, fact_msg, header_msg, step_msg, time_msg
from adf_ea_ros.nodes.support import SPOKEN, latched
from adf_ea_ros.runtime.public import Order, order

CALM = 0.03
"""Real seconds after a decision in which the next one, of the same goal, may come."""


LATEST = 20
"""How many views the topic keeps for late subscribers."""


class Episodes:
    """The latched topic ``~/episodes``: each episode that has changed, at most so many times a second.

    A view of a whole episode takes a few milliseconds, more than a decision does. So none is made while
    nobody listens; whoever comes gets the latest of them. And it waits for a moment in which no decision has
    just been made, but never longer than a second interval.
    """

    def __init__(self, node: Node, rate: float) -> None:
        """Publish with at most ``rate`` Hz."""
        self._node, self._interval = node, 1.0 / rate
        self._publisher = node.create_publisher(
            msg.Episode, "~/episodes", latched(LATEST), event_callbacks=SPOKEN
        )
        self._changed: dict[str, State] = {}
        self._decided = self._published = 0.0
        self._readers = 0

    def show(self, state: State) -> None:
        """A decision has just been made about this episode."""
        self._changed.pop(state.episode, None)
        self._changed[state.episode] = state
        self._decided = time.monotonic()

    def tell_latecomers(self, active: Mapping[str, State]) -> None:
        """Show every active episode again to a new subscriber: the latched messages may all be of one."""
        readers = self._publisher.get_subscription_count()
        if readers > self._readers:
            self._changed = {**active, **self._changed}
        self._readers = readers

    def pulse(self) -> None:
        """Publish if it is time. Call it about twenty times a second."""
        if not self._changed:
            return
        if not self._publisher.get_subscription_count():
            while len(self._changed) > LATEST:
                del self._changed[next(iter(self._changed))]
            return
        now = time.monotonic()
        since = now - self._published
        calm = now - self._decided >= CALM
        if since >= self._interval if calm else since >= 2 * self._interval:
            self.publish()

    def publish(self) -> None:
        """Publish what has changed, now."""
        changed, self._changed = self._changed, {}
        self._published = time.monotonic()
        stamp = int(self._node.get_clock().now().nanoseconds)
        for state in changed.values():
            self._publisher.publish(episode_msg(state, stamp))


def certificate_msg(state: State, certificate: Certificate, now: Ns) -> Any:
    """A msg/Certificate."""
    record = state.keys.get(certificate.key)
    operation = record.operation if record is not None else None
    return msg.Certificate(
        id=certificate.id,
        capability=operation.capability if operation is not None else "",
        effect=certificate.effect,
        attempt=certificate.attempt,
        event=certificate.kind is EffectKind.EVENT,
        condition=str(certificate.condition),
        granted=time_msg(certificate.granted),
        valid_until=time_msg(certificate.valid_until),
        live=state.live(certificate, now),
        revoked=certificate.revoked,
        lineage=list(certificate.lineage),
    )


APPROVAL_ENDS = {
    "X12.spent": msg.Approval.SPENT,
    "X12.withdrawn": msg.Approval.WITHDRAWN,
    "X12.expired": msg.Approval.EXPIRED,
}
"""Reasons why an approval lets nothing through, as states of a msg/Approval; any other one makes it void."""


def approval_msg(state: State, given: Approval, now: Ns) -> Any:
    """A msg/Approval."""
    why = void(state, given, now)
    ended = APPROVAL_ENDS.get(why[0].code, msg.Approval.VOID) if why else msg.Approval.VALID
    return msg.Approval(
        id=given.id,
        step=given.step,
        by=given.by,
        reason=given.reason,
        state=ended,
        text="; ".join(refusal.text for refusal in why),
        attempt=given.attempt,
        granted=time_msg(given.granted),
        valid_until=time_msg(given.valid_until),
    )


def approval_msgs(state: State, now: Ns) -> list[Any]:
    """The newest approvals, one of each step; then the steps that wait for their first (rule X12)."""
    waiting = [
        msg.Approval(step=node.id, text=f"{approvers(terms(state, node))} has to approve it")
        for _, node in sorted(state.proposal.nodes.items())
        if node.id not in state.approvals and not state.established(node.operation.key) and terms(state, node)
    ]
    return [*(approval_msg(state, given, now) for given in shown_approvals(state)), *waiting[:SHOWN]]


def _goal_msg(work: Work, goal: Obligation) -> Any:
    return msg.Obligation(
        kind=msg.Obligation.GOAL,
        id=goal.id,
        condition=f"{'preserve ' if goal.kind is ObligationKind.PRESERVE else ''}{goal.condition}",
        settled=covered(work, goal),
    )


def obligation_msgs(state: State, now: Ns) -> list[Any]:
    """Goals, unresolved attempts, lost states."""
    work = Work(state, now)
    found = [_goal_msg(work, goal) for goal in state.goal]
    for owed in state.execution.values():
        operation = work.operation_of(owed.key)
        effects = (
            [e.condition for e in operation.effects if e.id in owed.effects] if operation is not None else []
        )
        found.append(
            msg.Obligation(
                kind=msg.Obligation.EXECUTION, id=owed.attempt, condition=" and ".join(map(str, effects))
            )
        )
    found += [
        msg.Obligation(
            kind=msg.Obligation.STATE,
            id=lost.certificate,
            condition=str(lost.condition),
            needed_by=list(lost.needed_by),
        )
        for lost in state.owed.values()
    ]
    return found


def shown_attempts(state: State, keys: list[str], now: Ns) -> list[Order]:
    """The unresolved attempts, those still open at a provider, and the latest of these operations."""
    names = dict.fromkeys([*state.execution, *state.lingering])
    names |= dict.fromkeys(state.keys[key].latest for key in keys)
    return [order(state, state.attempts[name], now) for name in names if name]


def _steps(state: State) -> list[Any]:
    """The admitted proposal, each step behind those that it comes after."""
    nodes = state.proposal.nodes
    return [step_msg(nodes[name]) for name in topological(tuple(nodes[name] for name in sorted(nodes)))]


def episode_msg(state: State, now: Ns) -> Any:
    """A msg/Episode: the public view of an episode, of its newest operations where there are many."""
    advice = feedback(state, now)
    keys = shown_keys(state)
    names = certificate_names(state, [*(goal.key for goal in state.goal), *keys])
    return msg.Episode(
        header=header_msg(now),
        id=state.episode,
        task=state.task,
        planner=state.planner,
        phase=state.phase,
        generation=state.generation,
        revision=state.proposal.revision,
        decisions=state.decisions,
        steps=_steps(state),
        budget=msg.Budget(physical=state.physical, observation=state.observation, retry=-1),
        obligations=obligation_msgs(state, now),
        attempts=[attempt_msg(given) for given in shown_attempts(state, keys, now)],
        certificates=[certificate_msg(state, state.certificates[name], now) for name in names],
        facts=[fact_msg(found) for found in shown_facts(state)],
        approvals=approval_msgs(state, now),
        feedback=str(advice),
        halted=state.halted,
    )
