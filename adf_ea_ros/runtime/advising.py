"""Advice by the authority itself: with the readbacks of this moment, and with what other episodes have open.

Nothing is committed: each request is tried on the state as it is, and the answer is thrown away.
"""

from __future__ import annotations

from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.recovery.advise import HORIZON, Advice, advise
from adf_ea_ros.runtime.book import latest
from adf_ea_ros.runtime.service import AuthorityService


def advise_now(service: AuthorityService, episode: str, now: Ns, horizon: int = HORIZON) -> Advice | None:
    """What to do next in an episode; empty: the one with the newest record. None where there is none.

    Raises:
        LedgerError: the ledger cannot be read, or does not know yet what its last append became.
    """
    service.book.settle()
    name = episode or latest(service.book.ledger)
    state = service.book.state(name) if name else None
    if state is None:
        return None
    if state.phase == "active" and now >= state.clock:
        state = _closed(service, _seen(service, state, now), now)

    def trial(request: rq.AnyRequest) -> Decision:
        if isinstance(request, rq.Dispatch):
            leases = service.leases_for(name, request.node, request.provider)
            request = replace(service.dispatch_of(name, request.node, request.provider, now), leases=leases)
        return decide(state, service.with_evidence(state, request, now), now)

    return advise(state, now, horizon=horizon, trial=trial)


def _seen(service: AuthorityService, state: State, now: Ns) -> State:
    """The state as it would be once the evidence of this moment was looked at."""
    state = decide(state, service.with_evidence(state, rq.Refresh(()), now), now).after
    for attempt in list(state.execution):
        state = decide(state, service.with_evidence(state, rq.Assess(attempt, ()), now), now).after
    return state


def _closed(service: AuthorityService, state: State, now: Ns) -> State:
    """The state without providers whose contract was revoked or has expired, though nobody asked yet (X3)."""
    known = {provider.id for provider in service.catalog.providers()}
    bound = {b.provider for node in state.proposal.nodes.values() for b in node.operation.bindings}
    for provider in sorted((bound & known) - set(state.unavailable)):
        obstacle = service.catalog.obstacle("provider", provider, now)
        if obstacle:
            state = decide(state, rq.SetAvailability(provider, obstacle), now).after
    return state
