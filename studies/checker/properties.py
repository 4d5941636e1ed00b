"""What the checker holds a history to. Each violation names one of these."""

from __future__ import annotations

from typing import NamedTuple

PROPERTIES: dict[str, str] = {
    "C0": "assumption A2: a satisfied or qualified negative finding is true of the world at its capture",
    "C1": "Theorem 1: at completion every state obligation is true, every event has happened, and "
    "nothing that was to be preserved was ever otherwise",
    "C2": "completion: every obligation covered by a live certificate of its own kind, U_exec and "
    "U_state empty, no attempt that could still undo the result, no standing task",
    "C3": "Theorem 2: a dispatch is exactly one of first (key never attempted), retry (outcome "
    "unresolved), repair (established, nothing unresolved), and is labelled and ruled as such",
    "C4": "retry: correlated, current, unopposed negative evidence from when the effect could no longer "
    "appear, for every effect (when_absent) or some effect (idempotent); replay, policy, "
    "rebinding and allowance permit it",
    "C5": "retry, physically: no earlier attempt of the key acts after it, and no event happens a "
    "second time unless its replay is idempotent",
    "C6": "repair: nothing but states, all linked conditions of a next action known, one of them "
    "negative now; policy and rebinding permit it; no attempt of the key could still take effect",
    "C7": "repair, physically: a linked condition is false, and no earlier attempt of the key acts after it",
    "C8": "a dispatch is of an admitted step, to an eligible provider that it is bound to, in an active "
    "episode that is not halted, under the current generation, with its provider's promises",
    "C9": "a dispatch has current evidence for every precondition, and each is true",
    "C10": "a dispatch has live support for the steps and the obligations before it",
    "C11": "no other unresolved or possibly acting operation shares a fact with a dispatch, or would "
    "undo its needs",
    "C12": "allowances only fall, by what was spent: one physical unit for each dispatch, one retry for "
    "each retry, one observation for each observation; none below zero; a retry allowance is "
    "granted once for each key",
    "C13": "a certificate settles only an effect that the latest attempt of its key still owes; nothing "
    "else takes an obligation out of U_exec, except a retry that takes it over",
    "C14": "a certificate rests on one current satisfied finding for each requirement, with a nonempty "
    "basis, captured after the attempt's dispatch (or after the fact was last touched)",
    "C15": "what a certificate says was true of the world at its capture; an event was its own attempt's",
    "C16": "answers, reconciliations, restarts, halts and revocations carry no evidence: nothing but "
    "their own record",
    "C17": "what was seen to be false supports nothing after the same decision, nor does what rested on it",
    "C18": "a lost state that a goal or a step ahead needs is owed, until verified again or needed by no "
    "step ahead",
    "C19": "generations rise, decisions are numbered without gaps, attempts and certificates have fresh ids",
    "C20": "a refusal authorizes nothing; each authorization stems from a granted request of its kind; "
    "one dispatch for each decision; nothing is authorized outside an active episode",
    "C21": "an observation is spent only where an outcome is unresolved or an established state is not known",
    "C22": "a preserved fact that is seen to be otherwise is broken for good",
    "C23": "a step whose effects the task trusts initially is not dispatched while they are shown to hold",
    "C24": "approval: a dispatch that a contract reserves to a person used one of exactly this (step, key, "
    "contract, arguments, number of the attempt), the newest of its step, by nobody who planned it; not used "
    "before, not withdrawn, not over; no halt since, and no revocation of the provider; no other dispatch "
    "used any",
    "C25": "an approval is given where a contract asks for one, by whom it names, outside a halt, for what "
    "the next dispatch would be, while no attempt of it is under way; it is taken back only while unused",
    "C26": "an heir goes on for one standing episode of its task that is active and not halted, with nothing "
    "unresolved or owed and nothing that could still act; it starts with the budgets that were left, and "
    "with the account of each established state whose certificates all stand, and no other: operation, "
    "provider, certificates and retries as they were; what was touched last, found last and broken is known "
    "to it; before it dispatches anything the other ended in its favour",
}
"""Id: what must hold."""


class Violation(NamedTuple):
    """One breach."""

    property: str
    text: str

    def __str__(self) -> str:
        return f"{self.property}: {self.text}"
