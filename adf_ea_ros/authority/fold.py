"""fold(state, event) -> state: how each event changes S. Total over all events; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from immutables import Map
from msgspec.structs import replace

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.model import (
    ANSWERED,
    NOT_EXECUTED,
    OPEN,
    Approval,
    Attempt,
    EffectKind,
    ExecutionObligation,
    Interaction,
    Mode,
    Operation,
    StateObligation,
)
from adf_ea_ros.authority.proposal import build_proposal
from adf_ea_ros.authority.state import KeyRecord, State, effect_key, fact_key, fact_name, with_goal


def fold(state: State, event: ev.AnyEvent) -> State:
    """The state after ``event``."""
    return replace(_FOLDS[type(event)](state, event), version=state.version + 1)


def replay(events: Iterable[ev.AnyEvent], state: State | None = None) -> State:
    """The state after all ``events``, from ``state`` (a checkpoint) or from nothing."""
    state = state if state is not None else State()
    for event in events:
        state = fold(state, event)
    return state


def _started(state: State, event: ev.EpisodeStarted) -> State:
    started = replace(
        with_goal(state, event.obligations),
        episode=event.episode,
        task=event.task,
        phase="active",
        planner=event.planner,
        standing=event.standing,
        generation=event.generation,
        clock=event.time,
        capabilities=event.capabilities,
        occurrences=Map(event.occurrences),
        physical=event.physical,
        observation=event.observation,
        touched=Map(event.touched),
        broken=Map(event.broken),
    )
    for account in event.inherited:
        started = _inherited(started, account)
    return started


def _inherited(state: State, account: ev.Inheritance) -> State:
    record = KeyRecord(
        operation=account.operation, retries=account.retries, attempts=1, provider=account.provider
    )
    found = {fact_key(one.requirement, one.condition): one for one in account.findings}
    state = replace(
        state,
        keys=state.keys.set(account.key, record),
        touched=state.touched.update(dict(account.touched)),
        facts=state.facts.update(found),
    )
    for certificate in account.certificates:
        state = _certified(state, ev.Certified(certificate))
    return state


def _decided(state: State, event: ev.Decided) -> State:
    return replace(state, decisions=state.decisions + 1, clock=max(state.clock, event.time))


def _admitted(state: State, event: ev.ProposalAdmitted) -> State:
    return replace(state, proposal=build_proposal(event.nodes, event.revision, _author(state, event)))


def _author(state: State, event: ev.ProposalAdmitted) -> str:
    """Who planned it, where that is of interest: whoever did approves none of its steps (X12)."""
    keys = [node.operation.key for node in event.nodes]
    before = [state.keys[key].operation for key in keys if key in state.keys]
    operations = [*(node.operation for node in event.nodes), *before]
    return event.author if any(o is not None and o.approval is not None for o in operations) else ""


def _dispatched(state: State, event: ev.Dispatched) -> State:
    attempt = event.attempt
    operation = state.proposal.nodes[attempt.node].operation
    record = state.keys.get(attempt.key, KeyRecord())
    attempts, execution = state.attempts, state.execution
    retries = record.retries if record.attempts else operation.policy.retry_limit
    if attempt.mode is Mode.RETRY:
        # The obligation moves to the new attempt: it never leaves U_exec, it only changes its bearer.
        attempts = attempts.set(record.latest, replace(attempts[record.latest], superseded=True))
        execution = execution.delete(record.latest)
        retries -= 1
    touched = state.touched.mutate()
    for fact in operation.facts:
        touched[fact_name(fact)] = attempt.dispatched
    return replace(
        state,
        attempts=attempts.set(attempt.id, attempt),
        execution=execution.set(
            attempt.id, ExecutionObligation(attempt.id, attempt.key, tuple(e.id for e in operation.effects))
        ),
        keys=state.keys.set(
            attempt.key,
            replace(
                record, operation=operation, retries=retries, attempts=record.attempts + 1, latest=attempt.id
            ),
        ),
        touched=touched.finish(),
        physical=state.physical - 1,
        approvals=_used(state.approvals, attempt),
    )


def _used(approvals: Map[str, Approval], attempt: Attempt) -> Map[str, Approval]:
    """The approvals once an attempt has taken the one that it names."""
    given = approvals.get(attempt.node) if attempt.approval else None
    return approvals if given is None else approvals.set(given.step, replace(given, attempt=attempt.id))


def _reported(state: State, event: ev.Reported) -> State:
    attempt = state.attempts[event.attempt]
    ended = event.interaction in ANSWERED or event.interaction in NOT_EXECUTED
    changed = replace(
        attempt,
        interaction=event.interaction,
        settled=event.time if ended else attempt.settled,
        accepted=attempt.accepted or event.interaction is Interaction.ACCEPTED,
        doubtful=attempt.doubtful and event.interaction is Interaction.LOST,
    )
    state = _set_attempt(state, changed)
    if changed.over and attempt.id in state.lingering:
        return replace(state, lingering=state.lingering.delete(attempt.id))
    return state


def _assessed(state: State, event: ev.Assessed) -> State:
    attempt = state.attempts[event.attempt]
    latest = {fact_key(f.requirement, f.condition): f for f in (*attempt.findings, *event.findings)}
    spoke = (*attempt.supported, *(f.requirement for f in event.findings if f.support))
    changed = replace(attempt, findings=tuple(latest.values()), supported=tuple(dict.fromkeys(spoke)))
    return _set_attempt(state, changed)


def _facts_checked(state: State, event: ev.FactsChecked) -> State:
    facts = state.facts.mutate()
    for finding in event.findings:
        facts[fact_key(finding.requirement, finding.condition)] = finding
    return replace(state, facts=facts.finish())


def _certified(state: State, event: ev.Certified) -> State:
    certificate = event.certificate
    record = state.keys.get(certificate.key, KeyRecord())
    meaning = effect_key(certificate.kind, certificate.condition)
    record = replace(record, certificates=record.certificates.set(meaning, certificate.id))
    execution, lingering = state.execution, state.lingering
    owed = execution.get(certificate.attempt)
    if owed is not None:
        left = tuple(effect for effect in owed.effects if effect != certificate.effect)
        execution = execution.set(owed.attempt, replace(owed, effects=left))
        if not left:
            execution = execution.delete(owed.attempt)
            if not state.attempts[owed.attempt].over:
                lingering = lingering.set(owed.attempt, owed.key)
    operation = record.operation or _planned(state, certificate.key)
    if operation is not None and all(
        effect_key(e.kind, e.condition) in record.certificates for e in operation.effects
    ):
        record = replace(record, established=record.established or record.latest not in execution)
    by_fact, touched = state.by_fact, state.touched
    if certificate.kind is EffectKind.STATE:
        by_fact = _add(by_fact, certificate.condition.fact, certificate.id)
        # From this sample on the fact is known to be as certified: what was seen before is its past.
        name = fact_name(certificate.condition.fact)
        touched = touched.set(name, max(touched.get(name, -1), certificate.captured - 1))
    resting = state.resting
    for condition in certificate.rests_on:
        resting = _add(resting, condition.fact, certificate.id)
    return replace(
        state,
        certificates=state.certificates.set(certificate.id, certificate),
        keys=state.keys.set(certificate.key, record),
        execution=execution,
        lingering=lingering,
        by_fact=by_fact,
        touched=touched,
        resting=resting,
    )


def _planned(state: State, key: str) -> Operation | None:
    """The operation of a key that was never dispatched: certified by trusted initial evidence."""
    return next((n.operation for n in state.proposal.nodes.values() if n.operation.key == key), None)


def _revoked(state: State, event: ev.Revoked) -> State:
    certificate = state.certificates[event.certificate]
    resting = state.resting
    for condition in certificate.rests_on:
        resting = _remove(resting, condition.fact, certificate.id)
    return replace(
        state,
        certificates=state.certificates.set(certificate.id, replace(certificate, revoked=event.reason)),
        by_fact=_remove(state.by_fact, certificate.condition.fact, certificate.id),
        resting=resting,
    )


def _state_owed(state: State, event: ev.StateOwed) -> State:
    owed = StateObligation(event.condition, event.certificate, event.time, event.needed_by)
    return replace(state, owed=state.owed.set(str(event.condition), owed))


def _state_settled(state: State, event: ev.StateSettled) -> State:
    return replace(state, owed=state.owed.delete(str(event.condition)))


def _preservation_broken(state: State, event: ev.PreservationBroken) -> State:
    return replace(state, broken=state.broken.set(event.obligation, event.time))


def _observation_spent(state: State, event: ev.ObservationSpent) -> State:
    state = replace(state, observation=state.observation - 1)
    if not event.attempt:
        return state
    attempt = state.attempts[event.attempt]
    return _set_attempt(state, replace(attempt, observed=attempt.observed + 1))


def _cancel_requested(state: State, event: ev.CancelRequested) -> State:
    return _set_attempt(state, replace(state.attempts[event.attempt], cancel_requested=True))


def _restarted(state: State, event: ev.Restarted) -> State:
    attempts = state.attempts.mutate()
    for name in (*state.execution, *state.lingering):
        if attempts[name].interaction in OPEN:
            attempts[name] = replace(attempts[name], doubtful=True)
    return replace(state, generation=event.generation, attempts=attempts.finish())


def _availability(state: State, event: ev.AvailabilityChanged) -> State:
    if event.reason:
        revoked = state.revocations
        if state.approved and event.provider not in state.unavailable:
            revoked = revoked.set(event.provider, revoked.get(event.provider, 0) + 1)
        unavailable = state.unavailable.set(event.provider, event.reason)
        return replace(state, unavailable=unavailable, revocations=revoked)
    if event.provider in state.unavailable:
        return replace(state, unavailable=state.unavailable.delete(event.provider))
    return state


def _halted(state: State, event: ev.Halted) -> State:
    halts = state.halts + 1 if state.approved else 0
    return replace(state, halted=f"{event.by}: {event.reason}", halts=halts)


def _resumed(state: State, _: ev.Resumed) -> State:
    return replace(state, halted="")


def _approved(state: State, event: ev.Approved) -> State:
    given = event.approval
    return replace(state, approvals=state.approvals.set(given.step, given), approved=state.approved + 1)


def _withdrawn(state: State, event: ev.ApprovalWithdrawn) -> State:
    given = replace(state.approvals[event.step], withdrawn=f"{event.by}: {event.reason}".removesuffix(": "))
    return replace(state, approvals=state.approvals.set(given.step, given))


def _completed(state: State, _: ev.Completed) -> State:
    return replace(state, phase="completed")


def _stopped(state: State, _: ev.Stopped) -> State:
    return replace(state, phase="stopped")


def _set_attempt(state: State, attempt: Attempt) -> State:
    return replace(state, attempts=state.attempts.set(attempt.id, attempt))


Index = Map[str, tuple[str, ...]]


def _add(index: Index, fact: tuple[str, str], name: str) -> Index:
    key = fact_name(fact)
    return index.set(key, (*index.get(key, ()), name))


def _remove(index: Index, fact: tuple[str, str], name: str) -> Index:
    key = fact_name(fact)
    left = tuple(other for other in index.get(key, ()) if other != name)
    if left:
        return index.set(key, left)
    return index.delete(key) if key in index else index


_FOLDS: dict[type, Callable[[State, Any], State]] = {
    ev.EpisodeStarted: _started,
    ev.Decided: _decided,
    ev.ProposalAdmitted: _admitted,
    ev.Dispatched: _dispatched,
    ev.Reported: _reported,
    ev.Assessed: _assessed,
    ev.FactsChecked: _facts_checked,
    ev.Certified: _certified,
    ev.Revoked: _revoked,
    ev.StateOwed: _state_owed,
    ev.StateSettled: _state_settled,
    ev.PreservationBroken: _preservation_broken,
    ev.ObservationSpent: _observation_spent,
    ev.CancelRequested: _cancel_requested,
    ev.Restarted: _restarted,
    ev.AvailabilityChanged: _availability,
    ev.Halted: _halted,
    ev.Resumed: _resumed,
    ev.Approved: _approved,
    ev.ApprovalWithdrawn: _withdrawn,
    ev.Completed: _completed,
    ev.Stopped: _stopped,
}
