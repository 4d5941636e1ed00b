"""Replay of a fixed proposal: the plan, its steps in order, the claim. Both arms get the same requests and
faults.
"""

from __future__ import annotations

from studies.comparison.run import Condition, Run, execute
from studies.device import Rule
from studies.household.population import Instance
from studies.inputs import Library
from studies.methods import Adf, Direct, Method, Outcome, Request
from studies.methods.adf import Options


class ReplayDirect(Direct):
    """Forwards the proposal, and ends where a unit says that it did nothing."""

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:
        """Send it."""
        outcome = super().run(request, following)
        if outcome.codes[0] in {"error", "unavailable"}:
            self.end = "stopped"
        return outcome


class ReplayAdf(Adf):
    """Asks the authority, observes once where an outcome stays unresolved, and ends where it is refused."""

    options = Options(retry=False, reacquire=True)

    def propose(self, request: Request) -> Outcome:
        """A proposal that is not admitted is not tried."""
        return self._or_end(super().propose(request))

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:
        """A step that is refused ends the replay."""
        return self._or_end(super().run(request, following))

    def claim(self) -> Outcome:
        """A claim that is refused ends it too."""
        return self._or_end(super().claim())

    def _or_end(self, outcome: Outcome) -> Outcome:
        if outcome.what in {"rejected", "refused"}:
            self.end = "refused"
        return outcome

    def finish(self) -> None:
        """Stop in form."""
        if self.end == "refused":
            self.end = ""
        super().finish()


class WithoutReacquisition(ReplayAdf):
    """An ablation: nothing is observed again."""

    name = "no reacquisition"
    options = Options(retry=False, reacquire=False)


class WithoutContinuation(ReplayAdf):
    """An ablation: nobody tells the authority that a provider has gone, so it authorizes successors on it."""

    name = "no continuation authorization"
    options = Options(retry=False, reacquire=True, informed=False)


ARMS: dict[str, type[Method]] = {"Direct": ReplayDirect, "ADF-EA": ReplayAdf}


def condition(
    one: Instance, faults: tuple[Rule, ...] = (), *, name: str = "", gone: tuple[str, ...] = ()
) -> Condition:
    """The requests of an instance's plan."""
    requests = (
        Request("propose", steps=one.plan),
        *(Request("run", step) for step in one.steps),
        Request("claim"),
    )
    return Condition(
        name or one.name, one.family, one.name, (), requests, faults, one.initial, fields={}, gone=gone
    )


def replay(what: Condition, arm: type[Method], contracts: Library) -> Run:
    """One arm's replay."""
    return execute(what, arm, contracts)
