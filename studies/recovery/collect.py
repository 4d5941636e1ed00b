"""One episode of one policy on one assignment. The policy sees the belief; the assignment moves the world."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adf_ea_ros.recovery.belief import Contradiction, assignments, initial, update
from adf_ea_ros.recovery.check import load
from adf_ea_ros.recovery.model import Action, ActionKind
from adf_ea_ros.recovery.policies import Policy
from adf_ea_ros.recovery.world import Frame, begin
from studies.recovery.adjudicate import Assignment, Judgement, Raw, judge
from studies.yamls import read

TASKS = Path(__file__).with_name("tasks")
DECISIONS = 96
"""As many decisions may an episode have, whatever its task permits."""


@dataclass(frozen=True)
class Template:
    """A task with what it tells."""

    name: str
    title: str
    raw: Raw
    frame: Frame

    @property
    def assignments(self) -> list[Assignment]:
        """Every member of its support."""
        return [chosen for chosen, _ in assignments(self.frame)]

    def label(self, chosen: Assignment) -> str:
        """An assignment in words; what has only one alternative is left out."""
        ops = self.frame.operations
        named = [op.alternatives[i].id for op, i in zip(ops, chosen, strict=True) if len(op.alternatives) > 1]
        return ", ".join(named) or "the only one"


def templates() -> Iterator[Template]:
    """The authored tasks, in their order."""
    for path in sorted(TASKS.glob("*.yaml")):
        content = read(path)
        yield Template(content["task"]["id"], content["title"], content["task"], Frame(load(content["task"])))


@dataclass
class Episode:
    """What was done, seen and thought, and what the judge makes of it."""

    end: str = ""  # certified, hand_over, unresolved, contradiction
    actions: list[Raw] = field(default_factory=list)
    observations: list[Raw] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    truncated: int = 0  # searches that the budget ended
    full: int = 0  # searches that reached the horizon
    seconds: float = 0.0  # spent on choosing
    judged: Judgement | None = None


def plain(frame: Frame, action: Action) -> Raw:
    """An action as the judge reads it."""
    if action.kind is ActionKind.WAIT:
        return {"kind": "wait", "which": action.subject}
    if action.kind is ActionKind.HAND_OVER:
        return {"kind": "hand_over"}
    return {"kind": action.kind.value, "operation": frame.operations[action.subject].id}


def run(template: Template, chosen: Assignment, policy: Policy) -> Episode:
    """The episode, judged."""
    frame = Frame(template.frame.task)  # caches of its own: no policy profits from another one's work
    belief, world, episode = initial(frame), begin(frame, chosen), Episode()
    for _ in range(DECISIONS):
        begun = time.perf_counter()
        choice = policy(frame, belief)
        episode.seconds += time.perf_counter() - begun
        if choice.action is None:
            episode.end = "certified" if choice.basis == "certified" else "unresolved"
            break
        world, seen = frame.step(world, choice.action, belief.time)
        _note(episode, frame, choice, seen._asdict())
        try:
            belief = update(frame, belief, choice.action, seen)
        except Contradiction:
            episode.end = "contradiction"
            break
        if belief.handed_over:
            episode.end = "hand_over"
            break
    episode.end = episode.end or "unresolved"
    episode.judged = judge(template.raw, chosen, episode.actions, episode.observations)
    return episode


def _note(episode: Episode, frame: Frame, choice: Any, seen: Raw) -> None:
    episode.actions.append(plain(frame, choice.action))
    episode.observations.append(seen)
    episode.bases.append(choice.basis)
    event = {
        "kind": "decision",
        "action": choice.action.name(frame.task),
        "basis": choice.basis,
        "seen": seen,
    }
    if choice.search is not None:
        found = choice.search
        episode.truncated += found.unfinished is not None
        episode.full += found.unfinished is None
        event["mass"] = found.mass
        event["layers"] = [
            {a.name(frame.task): list(vector) for a, vector in layer.values} for layer in found.layers
        ]
    episode.events.append(event)
