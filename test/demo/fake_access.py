"""Access to a real authority core over a rig of plain attributes: the planner's code without processes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rig import Rig

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.nodes.demo.planner import ABSENT, REFUSED, UNVERIFIED, VERIFIED, Unreachable
from adf_ea_ros.runtime.public import order, ruling

PATIENCE = 8
"""Logical seconds for which a capability node waits for evidence after the answer."""


class FakeAccess:
    """Plays the capability nodes; faults are attributes."""

    def __init__(self, folder: Path) -> None:
        self.rig = Rig(folder / "ledger.db")
        self.said: list[str] = []
        self.dead_heaters: set[str] = set()
        self.lost_answers: set[str] = set()
        self.blind_for = 0  # logical seconds after a heating without samples
        self.crash_in_heating = False
        self.away = 0  # how many calls find no authority
        self.recorder_dies_after_heating = False
        self.stopped = ""

    def providers(self, task: str) -> dict[str, tuple[str, ...]]:
        return {
            "heat_to": ("heater_a", "heater_b"),
            "measure": ("probe",),
            "record": ("recorder_a", "recorder_b"),
        }

    def start(self, task: str) -> str:
        self.episode_id, decision = self.rig.service.start_episode(task, "test", self.rig.now)
        assert decision.authorized, decision.sentence
        return self.episode_id

    def propose(self, steps: Any) -> Any:
        wanted = [Step(s.id, s.capability, s.arguments, s.after) for s in steps]
        return self._told(self.rig.service.revise(self.episode_id, wanted, "test", self.rig.now))

    def run(self, step: str, provider: str) -> Any:
        self._reach()
        decision = self.rig.service.dispatch(self.episode_id, step, provider or "heater_a", self.rig.now)
        if decision.attempt is None:
            return SimpleNamespace(outcome=REFUSED, decision=self._told(decision))
        attempt = decision.attempt
        if step == "heat":
            self._heat(attempt)
        elif step == "measure":
            self.rig.measure(attempt)
        else:
            self.rig.record(attempt)
        for _ in range(PATIENCE):
            shown = next(a for a in self.episode().attempts if a.id == attempt.id)
            if not shown.unresolved:
                return SimpleNamespace(outcome=VERIFIED, decision=self._told(decision))
            if shown.negative:
                return SimpleNamespace(outcome=ABSENT, decision=self._told(decision))
            self._pass(1)
        return SimpleNamespace(outcome=UNVERIFIED, decision=self._told(decision))

    def _heat(self, attempt: Any) -> None:
        if self.blind_for:
            self.rig.probe_works = False
        if self.crash_in_heating:
            self.crash_in_heating = False
            self.rig.crash()
            self.rig.heatings.append(attempt.provider)
            self.rig.temperature = 80.0
            self.away = 3
            raise Unreachable("no answer")
        answer = None if attempt.provider in self.lost_answers else Interaction.SUCCEEDED
        self.rig.heat(attempt, answer, works=attempt.provider not in self.dead_heaters)
        if self.recorder_dies_after_heating:
            self.rig.service.set_availability("recorder_a", "its service is not in the graph", self.rig.now)

    def observe(self, step: str) -> Any:
        return self._told(self.rig.service.observe(self.episode_id, step, self.rig.now))

    def claim(self) -> Any:
        return self._told(self.rig.service.claim(self.episode_id, self.rig.now))

    def stop(self, reason: str) -> Any:
        self.stopped = reason
        return self._told(self.rig.service.stop(self.episode_id, "test", reason, self.rig.now))

    def episode(self) -> Any:
        self._reach()
        state = self.rig.service.book.state(self.episode_id)
        assert state is not None
        return SimpleNamespace(
            attempts=[order(state, attempt, self.rig.now) for attempt in state.attempts.values()],
            certificates=[
                SimpleNamespace(attempt=c.attempt, live=state.live(c, self.rig.now))
                for c in state.certificates.values()
            ],
        )

    def wait(self) -> None:
        self._pass(2)

    def _pass(self, seconds: int) -> None:
        self.blind_for = max(0, self.blind_for - seconds)
        if not self.blind_for:
            self.rig.probe_works = True
        self.rig.pass_time(seconds)

    def _reach(self) -> None:
        if self.away:
            self.away -= 1
            raise Unreachable("/authority/get_episode is not there")

    def _told(self, decision: Any) -> Any:
        return ruling(getattr(self, "episode_id", ""), decision, self.rig.now)
