"""The study: eleven cases, two arms, two interfaces, beside Table 14."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from studies import yamls
from studies.comparison.run import Condition, Run
from studies.controls.interfaces import INTERFACES, Interface
from studies.device import Device, Log, rules
from studies.device.device import PACE
from studies.device.log import Event
from studies.inputs import Fact, Library
from studies.methods import Adf, Direct, Method, PlanStep, Request, Setting, stream
from studies.methods.adf import Options
from studies.report.model import Cell, Check, Result, Table, notes, of
from studies.scorer import Score, score
from studies.variants import variant

NAME = "controls"
FILE = Path(__file__).with_name("cases.yaml")
CABINET = "cabinet_8"
PLAN = (PlanStep("open", "open", {"receptacle": CABINET}),)
TURNS = 12


class ControlledAdf(Adf):
    """The authority decides; retries are in the scripts, so no hook is needed."""

    options = Options(retry=False)


ARMS: dict[str, type[Method]] = {"Direct": Direct, "ADF-EA": ControlledAdf}


class Case(NamedTuple):
    """One case; ``retry`` and ``physical`` are its policy."""

    name: str
    condition: Condition
    retry: bool
    physical: int


class Judged(NamedTuple):
    """One run."""

    case: Case
    score: Score
    events: list[Event]
    cut: bool  # ended by a budget of the interface
    executions: int  # native: calls that did something


def cases() -> list[Case]:
    """The cases of the file."""
    found = []
    for name, raw in yamls.read(FILE)["cases"].items():
        physical = raw.get("physical", 8)
        requests, faults = stream(raw["stream"], {}), rules(raw.get("faults", ()))
        initial = {Fact(CABINET, "open"): False}
        gone = tuple(raw.get("gone", ()))
        condition = Condition(name, "", f"open_{physical}", (), requests, faults, initial, {}, gone)
        found.append(Case(name, condition, raw.get("retry", True), physical))
    return found


@functools.cache
def contracts(retry: bool) -> Library:
    """The household contracts under one of the two policies, with the task."""

    def edit(found: dict[str, dict[str, Any]]) -> None:
        if not retry:
            rules_of = found["capability/open"]["interruption"]
            rules_of["effect_absent"] = ["stop"]
            del rules_of["retry"]
        for physical in (1, 8):
            effect = {"capability": "open", "effect": "opened", "arguments": {"receptacle": CABINET}}
            found[f"task/open_{physical}"] = {
                "spec": "adf_ea_ros/1", "kind": "task", "id": f"open_{physical}", "version": "1.0.0",
                "obligations": {"opened": {"kind": "state", "effect": effect}},
                "budgets": {"physical": physical, "observation": 4},
            }  # fmt: skip

    return variant("household", edit)


def execute(case: Case, arm: type[Method], interface: Interface) -> Judged:
    """One run, and what came of it."""
    library = contracts(case.retry)
    run = converse(case.condition, arm, library, case=case, interface=interface)
    found = score(run.events, library, library.task(case.condition.task))
    done = {e["cause"] for e in run.events if e["kind"] == "effect"}
    cut = any(e["kind"] == "cutoff" for e in run.events)
    return Judged(case, found, run.events, cut, len(done))


def converse(
    condition: Condition,
    arm: type[Method],
    library: Library,
    name: str = "",
    *,
    case: Case,
    interface: Interface,
) -> Run:
    """One run: the interface holds both budgets for both arms, as the common policy says.

    ``condition`` is the case's, perhaps at another time; ``name`` that of the run, where it needs its own.
    """
    log = Log()
    device = Device(
        library, log, initial=condition.initial, rules=condition.faults, fields={}, gone=condition.gone,
        start=condition.start,
    )  # fmt: skip
    name = name or f"{case.name}-{arm.name}-{interface.name}"
    running = arm(Setting(library, library.task(condition.task), device, name))
    running.handle(0, Request("propose", steps=PLAN))
    observed, cut = 0, False
    for number, scripted in enumerate(condition.stream[:TURNS], 1):
        if running.end or cut:
            log.add("not_issued", n=number, request=scripted.kind)
            continue
        said = interface.write(scripted)
        request = interface.read(said)
        sent = sum(e["kind"] == "call" for e in log.events)
        if request.kind == "run" and sent >= case.physical:
            cut = True
            log.add("cutoff", n=number, budget="physical")
            continue
        device.wait(PACE)
        event = log.add("request", n=number, request=request.kind, step=request.step, by="stream", said=said)
        if request.kind == "run":
            step = PLAN[0]
            event |= {
                "capability": step.capability,
                "arguments": dict(step.arguments),
                "provider": "open_skill",
            }
        if request.kind == "observe" and observed >= 4 and arm is Direct:
            event["outcome"] = (
                "rejected"  # the authority refuses by itself what the interface refuses for Direct
            )
            continue
        outcome = running.handle(number, request, condition.stream[number:])
        observed += request.kind == "observe"
        event |= {"outcome": outcome.what, "codes": list(outcome.codes), "heard": interface.feedback(outcome)}
        if request.kind == "claim":
            log.add("claim", n=number, accepted=outcome.what == "accepted")
    running.finish()
    device.close()
    log.add("end", how="budget" if cut else running.end)
    return Run(condition, arm.name, log.events, ())


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Recovery-policy controls: 44 runs", notes=notes(__file__))
    by: dict[str, list[Judged]] = {arm: [] for arm in ARMS}
    for case in cases():
        for arm, method in ARMS.items():
            for interface in INTERFACES:
                tick(f"{case.name} {arm} {interface.name}")
                judged = execute(case, method, interface())
                by[arm].append(judged)
                name = {"study": NAME, "condition": case.name, "method": arm, "interface": interface.name}
                result.runs.append((name, judged.events))
    result.tables = [table_14(by), by_case(by)]
    adf = by["ADF-EA"]
    named = ("normal", "evidence_reacquisition", "retry_permitted")
    result.checks = [
        Check("qualified completion where the policy permits it, in all 6 runs",
              all(j.score.qualified for j in adf if j.case.name in named)),
        Check("no forbidden dispatch, no unsupported completion",
              not any(j.score.violations or j.score.false_completion or j.score.unqualified for j in adf)),
        Check("no legal physical request blocked", not any(j.score.legal_blocked for j in adf)),
        Check("both interfaces give the same decisions", _same(by)),
    ]  # fmt: skip
    return result


def _same(by: dict[str, list[Judged]]) -> bool:
    def decisions(judged: Judged) -> list[Any]:
        return [(e["n"], e.get("outcome"), e.get("codes")) for e in judged.events if e["kind"] == "request"]

    return all(
        decisions(one) == decisions(other)
        for judged in by.values()
        for one, other in zip(judged[::2], judged[1::2], strict=True)
    )


def table_14(by: dict[str, list[Judged]]) -> Table:
    """The controls' endpoints."""
    table = Table("Recovery-policy controls", tuple(by), about="Table 14")

    def named(title: str, case: str, what: Callable[[Judged], Any], paper: tuple[Cell, Cell]) -> None:
        chosen = [[j for j in js if j.case.name == case] for js in by.values()]
        table.add(title, [of(sum(bool(what(j)) for j in js), len(js)) for js in chosen], paper)

    def total(title: str, what: Callable[[Judged], int], paper: tuple[Cell, Cell]) -> None:
        table.add(title, [sum(what(j) for j in js) for js in by.values()], paper)

    for title, case in (("Normal execution", "normal"), ("Evidence reacquisition", "evidence_reacquisition"),
                        ("Retry permitted", "retry_permitted")):  # fmt: skip
        named(f"Qualified completion: {title.lower()}", case, lambda j: j.score.qualified, ("2/2", "2/2"))
    named(
        "Forbidden retry dispatched", "forbidden_retry", lambda j: j.score.forbidden_executed, ("2/2", "0/2")
    )
    total("Accepted completion with the goal unmet", lambda j: j.score.false_completion, (2, 0))
    total("Accepted completion, goal met, evidence unqualified", lambda j: j.score.unqualified, (2, 0))
    total("Violating dispatches", lambda j: j.score.violations, (6, 0))
    blocked = [of(sum(j.score.legal_blocked for j in js), sum(j.score.legal_requests for j in js))
               for js in by.values()]  # fmt: skip
    table.add("Legal physical requests incorrectly blocked", blocked, ("0/20", "0/22"))
    total("Budget-generated cutoffs", lambda j: j.cut, (2, 2))
    total("Native executions", lambda j: j.executions, (16, 14))
    total("Repeated native executions", lambda j: max(0, j.executions - 1), (2, 0))
    total("Explicit observations", lambda j: j.score.observations, (10, 12))
    total("Implicit reads", lambda j: j.score.reads - j.score.observations, (147, 282))
    return table


def by_case(by: dict[str, list[Judged]]) -> Table:
    """What came of each case, on both interfaces alike."""
    table = Table("Every case", tuple(by))
    for index, judged in enumerate(by["Direct"][::2]):
        table.add(judged.case.name, [_outcome(js[2 * index]) for js in by.values()])
    return table


def _outcome(judged: Judged) -> str:
    s = judged.score
    how = "qualified" if s.qualified else "unqualified" if s.unqualified else "FALSE" if s.accepted else s.end
    return how if judged.cut or not s.violations else f"{how}, {s.violations} violating"
