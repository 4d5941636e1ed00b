"""decide(state, request, now) -> Decision: the one place where anything is allowed or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decision import Decision, Outcome, Work, conclude, denied, granted
from adf_ea_ros.authority.reasons import refuse
from adf_ea_ros.authority.rules import (
    r1_admission,
    r3_evidence,
    r5_observe,
    r9_completion,
    recovery,
    x12_giving,
    x_rules,
)
from adf_ea_ros.authority.rules.invalidation import absorb
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns


def decide(state: State, request: rq.AnyRequest, now: Ns) -> Decision:
    """What the authority says to ``request`` at ``now``, with the events that make it so.

    Pure: equal arguments give equal decisions. Time, identifiers and findings are values. Total: a request
    that no rule lists is denied, and nothing raises for anything that a planner or a provider can send.
    """
    work = Work(state, now)
    kind = type(request).__name__
    return conclude(work, kind, _subject(request), _outcome(work, request))


def _outcome(work: Work, request: rq.AnyRequest) -> Outcome:
    rule = _RULES.get(type(request))
    if rule is None:
        return denied(refuse("X5.unlisted", f"no rule permits {type(request).__name__}"))
    if work.state.phase != "active" and not isinstance(request, _ALWAYS):
        return denied(refuse("X5.not_active", f"the episode is {work.state.phase or 'not started'}"))
    if work.now < work.state.clock and isinstance(request, _TIMED):
        return denied(refuse("X7.clock_back"))
    return rule(work, request)


def _refresh(work: Work, request: rq.Refresh) -> Outcome:
    absorb(work, request.view)
    return granted("R9", f"{len(request.view)} current facts checked")


def _subject(request: rq.AnyRequest) -> str:
    for name in ("node", "attempt", "provider", "by", "author"):
        value = getattr(request, name, "")
        if value:
            return str(value)
    return ""


_TIMED = (rq.Revise, rq.Dispatch, rq.Assess, rq.Refresh, rq.Observe, rq.Claim, rq.Attest, rq.Approve)
"""Requests that judge evidence, or begin a time: none of them while the clock is behind (X7)."""

_ALWAYS = (rq.Begin, rq.Report, rq.Reconcile, rq.Restart)
"""What may come outside an active episode: its beginning, and late answers; never new authority."""

_RULES: dict[type, Callable[[Work, Any], Outcome]] = {
    rq.Begin: x_rules.begin,
    rq.Revise: r1_admission.revise,
    rq.Dispatch: recovery.dispatch,
    rq.Report: r3_evidence.report,
    rq.Assess: r3_evidence.assess,
    rq.Refresh: _refresh,
    rq.Observe: r5_observe.observe,
    rq.Claim: r9_completion.claim,
    rq.Stop: r9_completion.stop,
    rq.Restart: x_rules.restart,
    rq.Reconcile: x_rules.reconcile,
    rq.SetAvailability: x_rules.set_availability,
    rq.Halt: x_rules.halt,
    rq.Resume: x_rules.resume,
    rq.Attest: x_rules.attest,
    rq.Approve: x12_giving.approve,
    rq.Withdraw: x12_giving.withdraw,
}
