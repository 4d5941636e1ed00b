"""A heating rig in a few lines: enough of a world for the authority to be right or wrong about."""

from __future__ import annotations

from pathlib import Path

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Attempt, Interaction
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService

CONFIG = Path(__file__).parents[2] / "config"
SECOND: Ns = 1_000_000_000
SAMPLE = "s1"
PLAN = (
    Step("heat", "heat_to", {"sample": SAMPLE, "target": 80}),
    Step("measure", "measure", {"sample": SAMPLE}, after=("heat",)),
    Step("record", "record", {"sample": SAMPLE}, after=("measure",)),
)


class Rig:
    """The demo's devices as plain attributes, one logical second at a time."""

    def __init__(self, ledger: Path, now: Ns = 100 * SECOND) -> None:
        self.path = ledger
        self.now = now
        self.temperature = 20.0
        self.recorded = False
        self.measured = 0
        self.probe_works = True
        self.heatings: list[str] = []
        self.sequence = 0
        self.open()

    def open(self) -> None:
        """Start an authority process, so to speak."""
        self.ledger = SqliteLedger(self.path)
        generation = self.ledger.open_writer("test", time=self.now)
        catalog = Catalog.load([CONFIG / "contracts", CONFIG / "providers", CONFIG / "tasks"])
        self.service = AuthorityService(catalog, Book(self.ledger, generation))
        self.service.recover(self.now)

    def crash(self) -> None:
        """End it without a word; the next one starts on the same ledger."""
        self.ledger.close()
        self.open()

    def pass_time(self, seconds: int = 1) -> None:
        """Let logical seconds pass: sensors publish, the authority ticks."""
        for _ in range(seconds):
            self.now += SECOND
            if self.probe_works:
                self.publish("probe/temperature", "temperature", self.temperature)
            self.publish("archive/records", "record/exists", self.recorded)
            self.service.tick(self.now)

    def publish(self, route: str, path: str, value: Value, stamp: Ns | None = None) -> None:
        """One readback message."""
        self.sequence += 1
        source = route.partition("/")[0]
        self.service.observed(
            Observation(
                id=f"o{self.sequence}", route=route, source=source, subject=SAMPLE, path=path, value=value,
                stamp=self.now if stamp is None else stamp, received=self.now, fields=(("sample", SAMPLE),),
            ),
            self.now,
        )  # fmt: skip

    def heat(
        self, attempt: Attempt, answer: Interaction | None = Interaction.SUCCEEDED, *, works: bool = True
    ) -> None:
        """The heater does its work, or not, and answers, or not."""
        self.heatings.append(attempt.provider)
        self.pass_time(3)
        if works:
            self.temperature = 80.0
        if answer is not None:
            self.service.report(attempt.id, answer, self.now)

    def measure(self, attempt: Attempt) -> None:
        """The probe measures and says so on its topic."""
        self.pass_time(3)
        self.measured += 1
        self.publish("probe/measurements", "measurement/complete", True)
        self.service.report(attempt.id, Interaction.SUCCEEDED, self.now)

    def record(
        self, attempt: Attempt, answer: Interaction = Interaction.SUCCEEDED, *, works: bool = True
    ) -> None:
        """A recorder writes, or not."""
        self.recorded = self.recorded or works
        self.service.report(attempt.id, answer, self.now)

    def begin(self) -> str:
        """An episode with the usual plan admitted."""
        episode, decision = self.service.start_episode("heat_measure_record", "test", self.now)
        assert decision.authorized, decision.sentence
        admitted = self.service.revise(episode, PLAN, "test", self.now)
        assert admitted.authorized, admitted.sentence
        return episode

    def run(self, episode: str, step: str, provider: str) -> Attempt:
        """Dispatch a step that must be authorized."""
        decision = self.service.dispatch(episode, step, provider, self.now)
        assert decision.attempt is not None, f"{decision.reasons}: {decision.sentence}"
        return decision.attempt

    def refused(self, episode: str, step: str, provider: str) -> tuple[str, ...]:
        """Dispatch a step that must be refused; the reasons."""
        decision = self.service.dispatch(episode, step, provider, self.now)
        assert not decision.authorized, decision.sentence
        return decision.reasons
