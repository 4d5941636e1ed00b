"""Every reason code that a decision may carry, with its meaning. Tools and planners may match on them.

A code starts with the rule that speaks. ``doc/rules.md`` and the tests list the same codes; a test holds it.
"""

from __future__ import annotations

import msgspec

REASONS: dict[str, str] = {
    # Rule 1: revision and admission
    "R1.grounding": "a step has no meaning in the catalog: unknown capability, bad argument, no contract",
    "R1.duplicate_node": "two steps have the same id",
    "R1.unknown_dependency": "a step comes after one that the proposal does not hold",
    "R1.cycle": "the steps' order has a cycle",
    "R1.capability_not_permitted": "the task does not permit this capability",
    "R1.occurrence": "the task declares no such occurrence of the operation",
    "R1.order": "a step needs a state that another step sets, but does not come after it",
    "R1.unsupported": "a precondition is neither true now nor set by an earlier step",
    "R1.budget": "the proposal has more steps to dispatch than the physical budget allows",
    "R1.no_provider": "no eligible provider can realize a step",
    "R1.preserved": "a step's effect would break a fact that the task preserves",
    # Rule 2: dispatch, and Adm(o, S)
    "R2.unknown_node": "the admitted proposal has no such step",
    "R2.not_bound": "the step has no binding to this provider",
    "R2.provider_unavailable": "the provider is not eligible now",
    "R2.contract_expired": "the provider's contract has expired",
    "R2.dependency": "an earlier step is not verified by live evidence",
    "R2.obligation_order": "the task orders another obligation before this one",
    "R2.precondition_false": "a precondition is false now",
    "R2.precondition_unknown": "current evidence does not decide a precondition",
    "R2.budget": "the physical budget is spent",
    # Rule 3: evidence and interaction records
    "R3.invalid_interaction": "a report cannot lead to that interaction from the recorded one",
    "R3.recorded": "the interaction was recorded; it is no evidence of an effect",
    "R3.not_proven": "the evidence does not establish every effect",
    "R3.integrity": "the evidence contradicts itself or its route, and grants nothing",
    # Rule 4: promotion
    "R4.promoted": "qualified evidence established every effect",
    # Rule 5: observation
    "R5.not_permitted": "the contract does not permit observation for this interruption",
    "R5.budget": "the observation budget is spent",
    "R5.limit": "the contract's observation limit for this operation is reached",
    "R5.nothing_to_observe": "nothing about this step is unresolved",
    # Rule 6: retry
    "R6.no_qualified_negative": "an attempt is unresolved and nothing qualified shows its effect absent",
    "R6.partial_effect": "replay is safe only where every effect is absent; not every one is shown to be",
    "R6.replay_never": "the contract never permits a replay",
    "R6.not_permitted": "the contract does not permit a retry after an absent effect",
    "R6.rebind_not_permitted": "the contract does not permit this other provider",
    "R6.could_take_effect": "an earlier attempt could still take effect",
    "R6.negative_too_early": "the negative evidence is from a time when the effect could still appear",
    "R6.retry_budget": "the retry budget of this operation is spent",
    # Rule 7: repair
    "R7.unknown_now": "current evidence does not decide the state that a repair would restore",
    "R7.event_effect": "the operation also causes an event, which a repair must not repeat",
    "R7.not_permitted": "the contract does not permit a repair of a lost state",
    "R7.rebind_not_permitted": "the contract does not permit this other provider for a repair",
    "R7.could_take_effect": "an earlier attempt could still take effect",
    # Rule 8: redundancy
    "R8.redundant": "the effect is established and still holds",
    "R8.initially_true": "trusted initial evidence already establishes the effect",
    "R8.not_needed": "the state was lost, but nothing that comes next needs it",
    "R8.event_done": "the event has happened; a repetition needs an occurrence of its own",
    # Rule 9: invalidation, stopping, completion
    "R9.uncovered": "an obligation has no live certificate of its own kind",
    "R9.unresolved": "the outcome of an attempt is unresolved",
    "R9.state_owed": "a required state lost its support",
    "R9.in_flight": "an interaction that is still open could undo the result",
    "R9.preservation_broken": "a fact that had to be preserved was seen to be otherwise",
    "R9.standing": "a standing task is never complete",
    # X: not in the paper
    "X1.stale_generation": "the request was made under an earlier start of the authority",
    "X1.restarted": "the authority restarted; attempts in flight are in doubt until reconciled",
    "X2.not_doubtful": "the attempt is not in doubt",
    "X2.reconciled": "the provider's answer settled the interaction; the effect still needs evidence",
    "X2.cannot_tell": "the provider cannot tell; only observation can decide",
    "X5.not_active": "the episode is not active",
    "X5.task": "the task cannot be taken up",
    "X5.planner": "the task does not name this planner",
    "X5.unknown_episode": "no such episode",
    "X5.ledger": "the decision could not be written, so it is void",
    "X5.not_ready": "the authority is not active",
    "X5.overload": "more is asked for than the authority takes on; nothing was decided or recorded",
    "X5.bad_request": "the request cannot be read",
    "X5.unknown_attempt": "no such attempt",
    "X5.unlisted": "no rule permits this request",
    "X6.fact_in_flight": "another operation that may change the same fact is in flight",
    "X7.clock_back": "time is behind the latest decision; nothing can be judged until it has passed it",
    "X8.halted": "the robot is halted; a new authorization must lift it",
    "X9.not_attestable": "the contract does not accept an operator's word for this",
    "X10.held": "another authority holds what this would use; its attempt must be settled, or released",
    "X12.missing": "the contract asks for a person's approval, and the step has none",
    "X12.spent": "the approval was used by an attempt; a retry or a repair needs one of its own",
    "X12.withdrawn": "the approval was withdrawn",
    "X12.expired": "the approval is older than it may be",
    "X12.changed": "the step is no longer what was approved",
    "X12.attempt": "the approval is for another attempt of this operation",
    "X12.provider": "the provider was not eligible, without interruption, since the approval",
    "X12.halted": "a halt came after the approval",
    "X12.own_step": "whoever planned a step may not approve it",
    "X12.approver": "the contract names others who may approve this",
    "X12.unnamed": "an approval, or its withdrawal, needs the name of who answers for it",
    "X12.not_needed": "no contract asks for an approval of this step",
    "X12.under_way": "the latest attempt is under way; what comes after it can be approved once it has ended",
}


class Refusal(msgspec.Struct, frozen=True):
    """Why a predicate does not hold: a stable code and a sentence with the particulars."""

    code: str
    text: str


def refuse(code: str, text: str = "") -> Refusal:
    """A refusal under a known code; its general meaning where no particulars are given."""
    return Refusal(code, text or REASONS[code])
