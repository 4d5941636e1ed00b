"""What an agent asks for, in the form in which all methods get it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from studies.inputs import Value


class PlanStep(NamedTuple):
    """One step of a proposal."""

    id: str
    capability: str
    arguments: Mapping[str, Value]
    after: tuple[str, ...] = ()
    provider: str = ""  # empty: the first that there is
    occurrence: str = "once"


class Request(NamedTuple):
    """One request of a stream: a proposal, a physical action, an observation, a claim, or a stop."""

    kind: str  # propose, run, observe, claim, stop
    step: str = ""
    steps: tuple[PlanStep, ...] = ()
    provider: str = ""  # of a run: asks for this one

    def __str__(self) -> str:
        return f"{self.kind} {self.step}".strip()


def stream(raw: Iterable[Mapping[str, Any]], arguments: Mapping[str, Value]) -> tuple[Request, ...]:
    """The requests of a condition file; ``arguments`` are those of every step that gives none.

    A plan is a list of chains, a chain a list of steps: each comes after the one before it. A step is the
    name of its capability, ``name=capability``, or a mapping with the fields of ``PlanStep``.
    """
    return tuple(_request(dict(each), arguments) for each in raw)


def _request(raw: dict[str, Any], arguments: Mapping[str, Value]) -> Request:
    kind, what = next(iter(raw.items()))
    if kind == "propose":
        return Request("propose", steps=plan(what, arguments))
    if kind in {"run", "observe"}:
        return Request(kind, str(what), provider=str(raw.get("provider", "")))
    if kind in {"claim", "stop"}:
        return Request(kind)
    raise ValueError(f"no request {kind!r}")


def plan(chains: Any, arguments: Mapping[str, Value]) -> tuple[PlanStep, ...]:
    """The steps of a plan as ``stream`` describes it; one chain may stand alone."""
    if not chains or not isinstance(chains[0], list):
        chains = [chains]
    steps: list[PlanStep] = []
    for chain in chains:
        before: tuple[str, ...] = ()
        for each in chain:
            step = _step(each, arguments, before)
            steps.append(step)
            before = (step.id,)
    return tuple(steps)


def _step(raw: Any, arguments: Mapping[str, Value], before: tuple[str, ...]) -> PlanStep:
    if isinstance(raw, str):
        name, _, capability = raw.partition("=")
        return PlanStep(name, capability or name, arguments, before)
    after = tuple(raw.get("after", before))
    return PlanStep(
        raw["id"], raw.get("capability", raw["id"]), {**arguments, **raw.get("arguments", {})}, after,
        raw.get("provider", ""), raw.get("occurrence", "once"),
    )  # fmt: skip
