"""ADF-EA: the product's own authority service, with its contracts, its evidence and its SQLite ledger.

This is a client of the product like any other: what it may send it asks, what came back it reports, what was
seen it passes on. It decides nothing. The only thing that it adds is the hook of section A.1: where the
runtime says that an attempt may be repeated, and the stream does not ask for that next, the hook asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from adf_ea_ros.authority import questions
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Attempt, Interaction, Mode
from adf_ea_ros.authority.requests import Dispatch
from adf_ea_ros.authority.state import State
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.types import Finding, Observation
from adf_ea_ros.runtime.service import AuthorityService
from studies.device import Sample
from studies.inputs import Fact
from studies.methods.base import Method, Outcome, Setting
from studies.methods.desk import service_for
from studies.methods.requests import Request

ANSWERS = {
    "ok": Interaction.SUCCEEDED,
    "error": Interaction.ABORTED,
    "timeout": Interaction.LOST,
    "unavailable": Interaction.REJECTED,
}


class Options(NamedTuple):
    """Parts of the loop around the authority that a study can leave out."""

    retry: bool = True  # the hook for retries that the runtime declares
    reacquire: bool = False  # ask for an observation where an outcome stays unresolved
    informed: bool = True  # False: the authority does not hear that a provider has gone (an ablation)


class Counting(dict[str, RouteBuffer]):
    """Buffers that count how often they are asked: the authority's reads of the observed state."""

    reads = 0

    def get(self, key: str, default: RouteBuffer | None = None) -> RouteBuffer | None:  # type: ignore[override]
        """As dict.get."""
        self.reads += 1
        return super().get(key, default)


class Adf(Method):
    """Asks the authority."""

    name = "ADF-EA"
    options = Options()

    def __init__(self, setting: Setting) -> None:
        """Begin an episode under a service of its own."""
        super().__init__(setting)
        self.service = self.connect(setting)
        self.buffers = Counting(self.service.buffers)
        self.service.buffers = self.buffers
        self.decisions: list[Decision] = []
        self.service.listeners.append(self._heard)
        self._take(self.device.take_news())
        self.episode, begun = self.service.start_episode(
            setting.task.name, "study", self.device.now, setting.name
        )
        if not begun.authorized:
            raise ValueError(begun.sentence)

    def connect(self, setting: Setting) -> AuthorityService:
        """The authority of this run."""
        return service_for(setting.library.folder, setting.name)

    def _heard(self, _episode: str, decision: Decision, _state: State) -> None:
        self.decisions.append(decision)

    @property
    def state(self) -> State:
        """What the authority holds of the episode."""
        found = self.service.book.state(self.episode)
        assert found is not None
        return found

    def propose(self, request: Request) -> Outcome:
        """Rule 1."""
        self._news()
        steps = [Step(s.id, s.capability, dict(s.arguments), s.after, s.occurrence) for s in request.steps]
        return _outcome(self.service.revise(self.episode, steps, "study", self.device.now), "admitted")

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:
        """Rules 2, 6, 7 and 8."""
        self._news()
        outcome = self._dispatch(request.step, self._provider(request), self.number)
        self._reacquire(request.step)
        self._hook(request.step, following)
        return outcome

    def observe(self, request: Request) -> Outcome:
        """Rule 5; the monitor is asked where the authority permits it."""
        self._news()
        return self._observe(request.step, "agent", self.number)

    def claim(self) -> Outcome:
        """Rule 9."""
        self._news()
        decision = self.service.claim(self.episode, self.device.now)
        if decision.authorized:
            self.end = "completed"
        return _outcome(decision, "accepted", "refused")

    def stop(self) -> Outcome:
        """The agent gives up; what is open stays on record."""
        self.service.stop(self.episode, "study", "the agent stops", self.device.now)
        return super().stop()

    def finish(self) -> None:
        """The stream is over; so is the episode."""
        self.device.log.add("reads", count=self.buffers.reads)
        if not self.end:
            self.service.stop(self.episode, "study", "the stream is over", self.device.now)
            self.end = "stopped"

    # -- inside ----------------------------------------------------------------------------------------

    def _provider(self, request: Request) -> str:
        planned = self.plan.get(request.step)
        if request.provider or planned is None:
            return request.provider
        return planned.provider or next(iter(self.library.providers_of(planned.capability)), "")

    def _dispatch(self, step: str, provider: str, number: int) -> Outcome:
        decision = self.service.dispatch(self.episode, step, provider, self.device.now)
        if decision.attempt is not None:
            self._send(step, decision.attempt, number)
        return _outcome(decision, "dispatched")

    def _send(self, step: str, attempt: Attempt, number: int) -> None:
        action, _ = self.action(step, attempt.provider)
        reply = self.device.call(action, attempt.provider, number, attempt.id)
        news = self.device.take_news()
        self._take(s for s in news if s.received <= reply.ended)
        self.service.report(attempt.id, ANSWERS[reply.response], reply.ended)
        self._take(s for s in news if s.received > reply.ended)
        if reply.response == "unavailable" and self.options.informed:
            self.service.set_availability(attempt.provider, "it does not answer", self.device.now)

    def _observe(self, step: str, by: str, number: int) -> Outcome:
        decision = self.service.observe(self.episode, step, self.device.now)
        if decision.authorized and "R5" in decision.rules:
            operation = self.state.proposal.nodes[step].operation
            facts = [Fact(*effect.condition.fact) for effect in operation.effects]
            self.device.observe(facts, by, number)
            self._take(self.device.take_news())
        return _outcome(decision, "observed")

    def _reacquire(self, step: str) -> None:
        """Section B.3: an unresolved outcome that nothing shows to be a failure is observed once more."""
        if not self.options.reacquire or step not in self.state.proposal.nodes:
            return
        pending = self.state.pending(self.state.proposal.nodes[step].operation.key)
        if pending is not None and not any(f.negative for f in self.state.attempts[pending.attempt].findings):
            self._observe(step, "runtime", 0)

    def _hook(self, step: str, following: tuple[Request, ...]) -> None:
        """Use a retry that the runtime declares, unless the stream's next physical request is that retry."""
        node = self.state.proposal.nodes.get(step)
        if not self.options.retry or node is None or self.state.pending(node.operation.key) is None:
            return
        asked = next((r.step for r in following if r.kind == "run"), "")
        same = self.state.proposal.nodes.get(asked)
        if same is not None and same.operation.key == node.operation.key:
            return
        provider = self.state.attempts[self.state.keys[node.operation.key].latest].provider
        trial = self._trial(Dispatch(step, provider))
        if trial.attempt is not None and trial.attempt.mode is Mode.RETRY:
            event = self.device.log.add(
                "request", n=0, request="run", step=step, by="hook", **self._meaning(step)
            )
            outcome = self._dispatch(step, provider, 0)
            event["outcome"] = outcome.what

    def _trial(self, request: Dispatch) -> Decision:
        """What the authority would say, without asking it: the same rules on the same evidence."""
        now = self.device.now
        view: list[Finding] = []
        assessed: list[Finding] = []
        for question in questions.about(self.state, request, now):
            found = qualify_routes(question.requirement, question.context, self.buffers, now).finding
            (assessed if question.attempt else view).append(found)
        return decide(self.state, replace(request, view=tuple(view), assessed=tuple(assessed)), now)

    def _meaning(self, step: str) -> dict[str, object]:
        action, provider = self.action(step)
        return {"capability": action.capability, "arguments": dict(action.arguments), "provider": provider}

    def _news(self) -> None:
        """What the monitor and the graph have said unasked, up to now."""
        self._take(self.device.take_news())
        for provider in sorted(self.device.unavailable) if self.options.informed else ():
            self.service.set_availability(provider, "it left the graph", self.device.now)
        self.service.tick(self.device.now)

    def _take(self, samples: Iterable[Sample]) -> None:
        for s in samples:
            self.service.observed(
                Observation(
                    id=s.id, route=s.route, source=s.source, subject=s.subject, path=s.path, value=s.value,
                    stamp=s.stamp, received=s.received, fields=s.fields,
                ),
                s.received,
            )  # fmt: skip


def _outcome(decision: Decision, granted: str, denied: str = "rejected") -> Outcome:
    return Outcome(granted if decision.authorized else denied, decision.reasons)
