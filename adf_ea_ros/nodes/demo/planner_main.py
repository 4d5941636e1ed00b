"""The planner's process: ``python -m adf_ea_ros.nodes.demo.planner_main``. Prints what it does."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from adf_ea_ros.nodes.client import NotStarted, Planner, PlannerError, step
from adf_ea_ros.nodes.demo.planner import DONE, GAVE_UP, INTERRUPTED, DemoPlanner, Plan, Unreachable

READY = "ready"
"""The line that is printed before ``--wait`` waits for a line of input."""

_LOOK = 0.5  # seconds between two looks where nothing is decided meanwhile


class RosAccess:
    """The planner's access through a client node."""

    def __init__(self, planner: Planner, decided: threading.Event) -> None:
        """``decided`` is set whenever the authority has decided something."""
        self._planner = planner
        self._decided = decided

    def providers(self, task: str) -> dict[str, tuple[str, ...]]:
        """Eligible providers of each capability."""
        answer = self._ask(lambda: self._planner.capabilities(task))
        return {capability.id: tuple(capability.providers) for capability in answer.capabilities}

    def start(self, task: str) -> str:
        """Take up the task."""
        try:
            return str(self._ask(lambda: self._planner.start(task)))
        except NotStarted as refused:
            if "X5.not_ready" in refused.decision.reasons:
                raise Unreachable(refused.decision.sentence) from None
            raise

    def propose(self, steps: Sequence[Plan]) -> Any:
        """Propose the steps."""
        messages = [step(s.id, s.capability, after=s.after, **s.arguments) for s in steps]
        return self._decision(lambda: self._planner.propose(messages))

    def run(self, step: str, provider: str) -> Any:
        """Run a step."""
        return self._ask(lambda: self._planner.run(step, provider))

    def observe(self, step: str) -> Any:
        """Observe a step."""
        return self._decision(lambda: self._planner.observe(step).decision)

    def claim(self) -> Any:
        """Claim completion."""
        return self._decision(self._planner.claim)

    def stop(self, reason: str) -> Any:
        """Stop without a claim."""
        return self._decision(lambda: self._planner.stop(reason))

    def episode(self) -> Any:
        """How the episode stands."""
        found = self._ask(self._planner.episode)
        if found is None:
            raise Unreachable("the authority does not know the episode yet")
        return found

    def wait(self) -> None:
        """Until the next decision, but not long."""
        self._decided.wait(_LOOK)
        self._decided.clear()

    def _decision(self, request: Any) -> Any:
        decision = self._ask(request)
        if "X5.not_ready" in decision.reasons:
            raise Unreachable(decision.sentence)
        return decision

    @staticmethod
    def _ask(request: Any) -> Any:
        try:
            return request()
        except NotStarted:
            raise
        except PlannerError as error:
            raise Unreachable(str(error)) from None


def heating_plan(sample: str, target: float) -> tuple[Plan, ...]:
    """Heat a sample, have it measured, have the record written."""
    return (
        Plan("heat", "heat_to", {"sample": sample, "target": target}),
        Plan("measure", "measure", {"sample": sample}, ("heat",)),
        Plan("record", "record", {"sample": sample}, ("measure",)),
    )


def _say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the plan; the exit code says how it went (see ``planner``)."""
    parser = argparse.ArgumentParser(description="Planner of the demo: heat, measure, record.")
    parser.add_argument("--task", default="heat_measure_record")
    parser.add_argument("--sample", default="s1")
    parser.add_argument("--target", type=float, default=80.0, help="degC")
    parser.add_argument("--wait", action="store_true", help="begin when a line comes in on standard input")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    decided = threading.Event()

    def on_decision(decision: Any) -> None:
        if decision.request != "Refresh":
            decided.set()

    try:
        with Planner("planner", on_decision=on_decision) as planner:
            if options.wait:
                _say(READY)
                if not sys.stdin.readline():
                    return INTERRUPTED
            plan = heating_plan(options.sample, options.target)
            done = DemoPlanner(RosAccess(planner, decided), _say).work(options.task, plan)
    except NotStarted as refused:
        _say(str(refused))
        return GAVE_UP
    except (KeyboardInterrupt, BrokenPipeError):
        with contextlib.suppress(OSError):
            sys.stdout.close()
        return INTERRUPTED
    return DONE if done else GAVE_UP


if __name__ == "__main__":
    sys.exit(main())
