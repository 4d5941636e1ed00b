"""Verified Tool Calls, Algorithm 1, with N = 1, from the description in sections 2.2, 4.1 and A.1.

One invocation has one idempotency key, used again for each of its attempts. A success is returned, a
definite refusal is returned as one, and an ambiguous answer is verified before anything is repeated: TRUE is
a success, FALSE permits another attempt as long as fewer than N were made, UNKNOWN is verified once more
after a pause and then returned as unknown. The simulator has no idempotency service, so the key prevents
nothing here.

Nothing is remembered from one invocation to the next, and a claim is accepted as it comes: the published
algorithm governs single calls.

Our description does not say whether an answer of success is verified too. That all observations of the
paper's run but three were the agent's own speaks against it. ``always`` is the other reading; the tables
show both.
"""

from __future__ import annotations

from studies.device import Sample
from studies.inputs import Action
from studies.methods.base import Method, Outcome
from studies.methods.requests import Request

RETRIES = 1
BACKOFF = 2.0
"""Seconds before a verification is repeated."""


class VerifiedToolCalls(Method):
    """Verify before retry."""

    name = "VTC"
    always = False

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:  # noqa: ARG002
        """One invocation with its bounded retries."""
        action, provider = self.action(request.step, request.provider)
        key = f"{self.run_name}/{self.number}"
        for attempt in range(RETRIES + 1):
            reply = self.device.call(action, provider, self.number if attempt == 0 else 0, key)
            if reply.response in {"error", "unavailable"}:
                return Outcome("dispatched", ("failed",))
            if reply.response == "ok" and not self.always:
                return Outcome("dispatched", ("success",))
            verdict = self._verify(action)
            if verdict is None:
                self.device.wait(BACKOFF)
                verdict = self._verify(action)
            if verdict is not False:
                return Outcome("dispatched", ("success" if verdict else "unknown",))
        return Outcome("dispatched", ("failed",))

    def _verify(self, action: Action) -> bool | None:
        """The postcondition: true, false, or not to be told."""
        records = self.device.observe([wanted.fact for wanted in action.sets], self.name)
        values = {record.path: record.value for record in _newest(records)}
        found = [values.get(wanted.fact.path) for wanted in action.sets]
        if any(value is None for value in found):
            return None
        return all(value == wanted.value for value, wanted in zip(found, action.sets, strict=True))


class ThoroughVtc(VerifiedToolCalls):
    """The other reading: success is verified as well."""

    name = "VTC (verifies success)"
    always = True


def _newest(records: tuple[Sample, ...]) -> list[Sample]:
    return sorted(records, key=lambda record: record.received)
