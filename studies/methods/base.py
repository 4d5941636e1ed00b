"""What the four methods have in common: the device, the plan, and how a run ends. No rule is shared."""

from __future__ import annotations

from typing import NamedTuple

from studies.device import Device
from studies.inputs import Action, Library, Task
from studies.methods.requests import PlanStep, Request


class Setting(NamedTuple):
    """What a run gives a method: the inputs and a device of its own."""

    library: Library
    task: Task
    device: Device
    name: str  # of the run, unique


class Outcome(NamedTuple):
    """What a method answered to a request."""

    what: str  # dispatched, rejected, observed, noted, accepted, refused, failed
    codes: tuple[str, ...] = ()


class Method:
    """Handles requests one by one. ``end`` is set once it takes no more of them."""

    name = ""

    def __init__(self, setting: Setting) -> None:
        """Begin a run."""
        self.library, self.task, self.device, self.run_name = setting
        self.plan: dict[str, PlanStep] = {}
        self.end = ""  # completed, stopped, failed
        self.number = 0  # of the request at hand

    def handle(self, number: int, request: Request, following: tuple[Request, ...] = ()) -> Outcome:
        """Carry out a request, or not. ``following`` is what the stream still holds."""
        self.number = number
        if request.kind == "propose":
            self.plan |= {step.id: step for step in request.steps}
            return self.propose(request)
        if request.kind == "run":
            return self.run(request, following)
        if request.kind == "observe":
            return self.observe(request)
        return self.claim() if request.kind == "claim" else self.stop()

    def propose(self, request: Request) -> Outcome:  # noqa: ARG002
        """Take note of a plan. A method without plans needs none of it."""
        return Outcome("noted")

    def run(self, request: Request, following: tuple[Request, ...]) -> Outcome:
        """Carry out one action."""
        raise NotImplementedError

    def observe(self, request: Request) -> Outcome:
        """Have the monitor read what a step sets: for the agent, who asked for it."""
        self.device.observe([w.fact for w in self.action(request.step)[0].sets], "agent", self.number)
        return Outcome("observed")

    def claim(self) -> Outcome:
        """Declare the task complete."""
        self.end = "completed"
        return Outcome("accepted")

    def stop(self) -> Outcome:
        """The agent gives up."""
        self.end = "stopped"
        return Outcome("noted")

    def finish(self) -> None:
        """The stream is over."""
        self.end = self.end or "stopped"

    def action(self, step: str, provider: str = "") -> tuple[Action, str]:
        """The action of a step, and its provider."""
        planned = self.plan.get(step)
        if planned is None:
            raise KeyError(f"no plan names the step {step!r}")
        action = self.library.action(planned.capability, planned.arguments)
        return action, provider or planned.provider or action.providers[0]
