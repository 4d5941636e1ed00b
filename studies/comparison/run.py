"""Run a stream of requests on a device with a method, and keep everything that happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from studies import yamls
from studies.device import Device, Log, Rule, rules, stopwatch
from studies.device.device import PACE, START
from studies.device.log import Event
from studies.inputs import LIBRARIES, Fact, Library, Value
from studies.methods import Method, Request, Setting, stream

FILE = Path(__file__).with_name("conditions.yaml")
FIELDS: Mapping[str, Value] = {"job": "job_1"}
STAGES = ("prepared", "processed", "finished")
EMPTY: dict[Fact, Value] = {Fact(f"branch_{b}", stage): False for b in "ab" for stage in STAGES}


class Condition(NamedTuple):
    """One condition."""

    name: str
    says: str
    task: str
    groups: tuple[str, ...]
    stream: tuple[Request, ...]
    faults: tuple[Rule, ...]
    initial: Mapping[Fact, Value] = EMPTY
    fields: Mapping[str, Value] = FIELDS
    gone: tuple[str, ...] = ()  # providers that are not there from the start
    pace: float = PACE  # seconds between two requests
    delay: float = 0.0  # seconds before the first one
    start: int = START  # ns


class Run(NamedTuple):
    """What one method did under one condition. ``costs`` leave out the device's own time."""

    condition: Condition
    method: str
    events: list[Event]
    costs: tuple[stopwatch.Spent, ...]


def conditions(file: Path = FILE) -> list[Condition]:
    """The conditions of a file, in its order."""
    content = yamls.read(file)
    return [_condition(name, raw, content["arguments"]) for name, raw in content["conditions"].items()]


def _condition(name: str, raw: Mapping[str, Any], arguments: Mapping[str, Value]) -> Condition:
    initial = dict(EMPTY)
    for each, value in raw.get("initial", {}).items():
        initial[Fact(*each.rsplit(".", 1))] = value
    requests, faults = stream(raw["stream"], arguments), rules(raw.get("faults", ()))
    return Condition(name, raw["says"], raw["task"], tuple(raw.get("groups", ())), requests, faults, initial)


def execute(condition: Condition, method: type[Method], library: Library, name: str = "") -> Run:
    """One run: a device and a method of its own."""
    log = Log()
    device = Device(
        library,
        log,
        initial=condition.initial,
        rules=condition.faults,
        fields=condition.fields,
        gone=condition.gone,
        start=condition.start,
    )
    running = method(
        Setting(library, library.task(condition.task), device, name or f"{condition.name}-{method.name}")
    )
    device.wait(condition.delay)
    costs = []
    for number, request in enumerate(condition.stream, 1):
        if running.end:
            log.add("not_issued", n=number, request=request.kind)
            continue
        device.wait(condition.pace)
        event = log.add("request", n=number, request=request.kind, step=request.step, by="stream")
        event |= _meaning(running, request)
        inside, begun = device.spent, stopwatch.read()
        outcome = running.handle(number, request, condition.stream[number:])
        costs.append(stopwatch.read().minus(begun).minus(device.spent.minus(inside)))
        event["outcome"], event["codes"] = outcome.what, list(outcome.codes)
        if request.kind == "claim":
            log.add("claim", n=number, accepted=outcome.what == "accepted")
    running.finish()
    device.close()
    log.add("end", how=running.end)
    return Run(condition, method.name, log.events, tuple(costs))


def _meaning(running: Method, request: Request) -> dict[str, Any]:
    """What a request for a step asks for, in the words of its plan."""
    if request.kind == "propose":
        return {"steps": [step.id for step in request.steps]}
    if request.kind != "run":
        return {}
    action, provider = running.action(request.step, request.provider)
    return {"capability": action.capability, "arguments": dict(action.arguments), "provider": provider}


@cache
def boolean() -> Library:
    """The seven frozen capabilities and their tasks."""
    return Library(LIBRARIES / "boolean")


def run_all(
    methods: Iterable[type[Method]], chosen: Iterable[Condition] | None = None, library: Library | None = None
) -> list[Run]:
    """Every condition with every method."""
    library = library or boolean()
    listed = list(chosen) if chosen is not None else conditions()
    return [execute(condition, method, library) for condition in listed for method in methods]
