"""ToolGate's Algorithm 1 (section 3.2 and appendix E of its paper), from the description in section A.1.

It keeps a typed symbolic state, checks the precondition of a candidate tool on it, invokes the tool, checks
the postcondition on what came back, and only then commits the effects to the state. A tool that fails either
check is put into the set of failed tools; when retrieval offers no candidate outside that set, the run ends
in FAIL.

Here a request names one tool, so retrieval offers exactly that one: a failed check leaves no candidate. The
postcondition is bound to the value in the record that came back with the call. There is no policy on where a
record came from, when it was taken or what it belongs to, no account of earlier calls, no budget, and no
completion gate: the published algorithm has none of these.

Our description leaves one point open: whether the run ends as soon as the singleton candidate has failed, or
at the next request for it. ``patient`` is the second reading; the tables show both.
"""

from __future__ import annotations

from studies.device import Reply
from studies.inputs import Action, Fact, Value
from studies.methods.base import Method, Outcome, Setting
from studies.methods.requests import Request


class ToolGate(Method):
    """Precondition, invocation, postcondition, commit."""

    name = "ToolGate"
    patient = False

    def __init__(self, setting: Setting) -> None:
        """The symbolic state begins as the declared initial state."""
        super().__init__(setting)
        self.symbolic: dict[Fact, Value] = dict(self.device.state)
        self.failed: set[tuple[str, str]] = set()

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:  # noqa: ARG002
        """One pass of the algorithm."""
        action, provider = self.action(request.step, request.provider)
        tool = (action.capability, str(action.arguments))
        if tool in self.failed:
            return self._fail("no candidate")
        if any(self.symbolic.get(need.fact) != need.value for need in action.needs):
            return self._excluded(tool, "precondition", "rejected")
        reply = self.device.call(action, provider, self.number)
        if not _holds(action, reply):
            return self._excluded(tool, "postcondition", "dispatched")
        self.symbolic.update({wanted.fact: wanted.value for wanted in action.sets})
        return Outcome("dispatched", ("committed",))

    def _excluded(self, tool: tuple[str, str], why: str, what: str) -> Outcome:
        self.failed.add(tool)
        if self.patient:
            return Outcome(what, (why,))
        self.end = "failed"
        return Outcome(what, (why, "FAIL"))

    def _fail(self, why: str) -> Outcome:
        self.end = "failed"
        return Outcome("rejected", (why, "FAIL"))


class PatientToolGate(ToolGate):
    """The other reading: a failed tool is excluded, and the run ends when it is asked for again."""

    name = "ToolGate (patient)"
    patient = True


def _holds(action: Action, reply: Reply) -> bool:
    """The postcondition on the values that came back. What did not come back holds nothing."""
    values = {record.path: record.value for record in reply.records}
    return all(values.get(wanted.fact.path) == wanted.value for wanted in action.sets)
