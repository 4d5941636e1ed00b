"""The study: four cases, Direct and ADF-EA, beside Tables 28 and 29."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.conditions import Ns
from studies.heating.assured import assured
from studies.heating.cases import CASES, Case
from studies.heating.decisions import Step, from_decisions, words
from studies.heating.rig import Rig
from studies.report.model import Check, Result, Table, notes, of

NAME = "heating"
PHYSICAL = ("heat", "record")


class Outcome(NamedTuple):
    """What came of one case with one client, from the rig's own log and state."""

    case: Case
    claimed: bool
    done: bool
    calls: tuple[tuple[str, str], ...]  # step, provider
    unavailable: int
    heatings: int
    observations: int
    decisions: tuple[Step, ...] = ()
    time: Ns = 0

    @property
    def completed(self) -> bool:
        """Claimed, and true."""
        return self.claimed and self.done


def direct(case: Case) -> tuple[Outcome, Rig]:
    """The proposal on the first device of each kind; it ends where a device says no."""
    rig = Rig(case)
    rig.wait(4)
    claimed = True
    for step, provider in (("heat", "heater_a"), ("measure", "probe"), ("record", "recorder_a")):
        if rig.act(step, provider) is not Interaction.SUCCEEDED:
            claimed = False
            break
    rig.note("claim", accepted=claimed)
    return _outcome(rig, claimed), rig


def adf(case: Case) -> tuple[Outcome, Rig]:
    """The demo's planner through the authority."""
    rig = Rig(case)
    access = assured(rig, f"heating-{case.name}")
    found = from_decisions(access.decisions)
    claimed = any(step.request == "Claim" and step.authorized for step in found)
    observed = sum(step.request == "Observe" and step.authorized for step in found)
    return _outcome(rig, claimed)._replace(decisions=found, observations=observed), rig


def _outcome(rig: Rig, claimed: bool) -> Outcome:
    calls = [(e["step"], e["provider"]) for e in rig.events if e["kind"] == "call"]
    gone = sum(e["kind"] == "response" and e["response"] == "REJECTED" for e in rig.events)
    heatings = sum(sum(h.heatings.values()) for h in rig.heaters.values())
    return Outcome(rig.case, claimed, rig.done, tuple(calls), gone, heatings, 0, time=rig.now)


def study(tick: Callable[[str], Any]) -> Result:
    """Run it."""
    result = Result(NAME, "Heating H1 to H4", notes=notes(__file__))
    by: dict[str, list[Outcome]] = {"Direct": [], "ADF-EA": []}
    for case in CASES:
        for arm, run in (("Direct", direct), ("ADF-EA", adf)):
            tick(f"{case.name} {arm}")
            outcome, rig = run(case)
            by[arm].append(outcome)
            result.runs.append(({"study": NAME, "condition": case.name, "method": arm}, rig.events))
    result.tables = [table_28(by), table_29(by), decided(by["ADF-EA"])]
    h1, h2, h3, h4 = by["ADF-EA"]
    result.checks = [
        Check("4/4 completed, each with one heating",
              all(o.completed and o.heatings == 1 for o in by["ADF-EA"])),
        Check("H2: the missing effect is shown, heater_b takes over as a retry",
              [c for c in h2.calls if c[0] == "heat"] == [("heat", "heater_a"), ("heat", "heater_b")]
              and any(s.mode == "RETRY" for s in h2.decisions)),
        Check("H3: observed again, not heated again", h3.observations > 0 and h3.calls == h1.calls),
        Check("H4: recorder_a is never called; only the record step moves",
              h4.calls == (*h1.calls[:2], ("record", "recorder_b"))),
    ]  # fmt: skip
    return result


def table_28(by: dict[str, list[Outcome]]) -> Table:
    """What each client did."""
    table = Table("What happened", tuple(by), about="Table 28")
    for index, case in enumerate(CASES):
        told = []
        for outcomes in by.values():
            outcome = outcomes[index]
            calls = ", ".join(provider for _, provider in outcome.calls)
            end = "completed" if outcome.completed else "claimed falsely" if outcome.claimed else "stopped"
            seen = f", {outcome.observations} observations" if outcome.observations else ""
            told.append(f"{end}: {calls}{seen}")
        table.add(f"{case.name}: {case.says}", told)
    return table


def table_29(by: dict[str, list[Outcome]]) -> Table:
    """The aggregate."""
    table = Table("Aggregate", tuple(by), about="Table 29")

    def add(
        name: str, what: Callable[[Outcome], bool], cases: tuple[int, ...], paper: tuple[str, str]
    ) -> None:
        table.add(name, [of(sum(what(o[i]) for i in cases), len(cases)) for o in by.values()], paper)

    every = (0, 1, 2, 3)
    add("Goal-confirmed completion", lambda o: o.completed, every, ("2/4", "4/4"))
    add(
        "Effect-failure detection",
        lambda o: any(s.mode == "RETRY" for s in o.decisions),
        (1,),
        ("0/1", "1/1"),
    )
    add("Recovery or rebinding", lambda o: o.completed, (1, 3), ("0/2", "2/2"))
    add("Unsafe action", lambda o: o.unavailable > 0, every, ("1/4", "0/4"))
    add("Unnecessary termination", lambda o: not o.claimed, every, ("2/4", "0/4"))
    table.add("Physical actions (heat, record)",
              [sum(c[0] in PHYSICAL for o in os for c in o.calls) for os in by.values()], (7, 9))  # fmt: skip
    observed = [sum(c[0] == "measure" for o in os for c in o.calls) + sum(o.observations for o in os)
                for os in by.values()]  # fmt: skip
    table.add("Observation-only actions (measure, observe)", observed, (11, 16))
    return table


def decided(outcomes: list[Outcome]) -> Table:
    """The authority's decisions, in order, without repeated refusals."""
    table = Table("Decisions of the authority", ("in order",))
    for outcome in outcomes:
        table.add(outcome.case.name, [words(outcome.decisions)])
    return table
