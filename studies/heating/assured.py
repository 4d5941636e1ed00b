"""The demo's planner on the authority in one process: the client of the ROS form, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.nodes.demo.planner import ABSENT, REFUSED, UNVERIFIED, VERIFIED, DemoPlanner, Plan
from adf_ea_ros.runtime.public import order, ruling
from studies.heating.rig import SAMPLE, TARGET, Rig
from studies.methods.desk import service_for
from studies.report.manifest import ROOT

TASK = "heat_measure_record"
EVIDENCE_TIMEOUT = 30
"""Seconds for which evidence is awaited after an answer; the capability nodes' default."""
PLAN = (
    Plan("heat", "heat_to", {"sample": SAMPLE, "target": TARGET}),
    Plan("measure", "measure", {"sample": SAMPLE}, ("heat",)),
    Plan("record", "record", {"sample": SAMPLE}, ("measure",)),
)


class LocalAccess:
    """What the demo's planner needs of a client, by direct calls; it plays the capability nodes as well."""

    def __init__(self, rig: Rig, name: str) -> None:
        """``name`` of the episode."""
        self.rig, self.name = rig, name
        self.service = service_for(ROOT / "config", name)
        self.decisions: list[Decision] = []
        self.service.listeners.append(self._heard)
        rig.listener = self._saw
        rig.wait(4)

    def _saw(self, sample: Observation) -> None:
        self.service.observed(sample, self.rig.now)

    def _heard(self, _episode: str, decision: Decision, _state: Any) -> None:
        self.decisions.append(decision)

    def providers(self, task: str) -> dict[str, tuple[str, ...]]:
        """As the authority lists them."""
        catalog = self.service.catalog
        names = catalog.task(task).capabilities
        return {n: tuple(p.id for p in catalog.bindable_providers(n, self.rig.now)) for n in names}

    def start(self, task: str) -> str:
        """Begin the episode."""
        self.service.start_episode(task, "study", self.rig.now, self.name)
        return self.name

    def propose(self, steps: Sequence[Plan]) -> Any:
        """Rule 1."""
        wanted = [Step(s.id, s.capability, s.arguments, s.after) for s in steps]
        return self._told(self.service.revise(self.name, wanted, "study", self.rig.now))

    def run(self, step: str, provider: str) -> Any:
        """Admit, send, report, await evidence: what a capability node does with a goal."""
        self._graph()
        decision = self.service.dispatch(self.name, step, provider, self.rig.now)
        attempt = decision.attempt
        if attempt is None:
            return SimpleNamespace(outcome=REFUSED, decision=self._told(decision))
        answer = self.rig.act(step, attempt.provider)
        self.service.report(attempt.id, answer, self.rig.now)
        self._graph()
        for _ in range(EVIDENCE_TIMEOUT):
            found = next(a for a in self.episode().attempts if a.id == attempt.id)
            if not found.unresolved:
                return SimpleNamespace(outcome=VERIFIED, decision=self._told(decision))
            if found.negative:
                return SimpleNamespace(outcome=ABSENT, decision=self._told(decision))
            self._pass(1)
        return SimpleNamespace(outcome=UNVERIFIED, decision=self._told(decision))

    def observe(self, step: str) -> Any:
        """Rule 5."""
        return self._told(self.service.observe(self.name, step, self.rig.now))

    def claim(self) -> Any:
        """Rule 9."""
        return self._told(self.service.claim(self.name, self.rig.now))

    def stop(self, reason: str) -> Any:
        """Rule 9."""
        return self._told(self.service.stop(self.name, "study", reason, self.rig.now))

    def episode(self) -> Any:
        """How the episode stands."""
        state, now = self.service.book.state(self.name), self.rig.now
        assert state is not None
        return SimpleNamespace(
            attempts=[order(state, attempt, now) for attempt in state.attempts.values()],
            certificates=[
                SimpleNamespace(attempt=c.attempt, live=state.live(c, now))
                for c in state.certificates.values()
            ],
        )

    def wait(self) -> None:
        """Some seconds of the rig's clock."""
        self._pass(5)

    def _pass(self, seconds: int) -> None:
        for _ in range(seconds):
            self.rig.wait(1)
            self.service.tick(self.rig.now)

    def _graph(self) -> None:
        for provider in ("recorder_a", "recorder_b"):
            if not self.rig.offered(provider):
                self.service.set_availability(provider, "its service is not in the graph", self.rig.now)

    def _told(self, decision: Decision) -> Any:
        return ruling(self.name, decision, self.rig.now)


def assured(rig: Rig, name: str) -> LocalAccess:
    """Carry the task out; ``decisions`` of what is returned are all that the authority decided."""
    access = LocalAccess(rig, name)
    claimed = DemoPlanner(access, lambda said: rig.note("said", text=said)).work(TASK, PLAN)
    rig.note("claim", accepted=claimed)
    return access
