"""The judge is judged: each property has histories that breach it, and a good history breaches none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from story import (
    A,
    B,
    Json,
    Story,
    at,
    begun,
    changed,
    drop,
    get,
    goals,
    handed_on,
    kept,
    operations,
    recovery,
    reserved,
    verdicts,
)

from studies.checker import PROPERTIES, WorldHistory, decisions, judge

Plant = Callable[[list[list[Json]], list[Any]], None]
STORIES = {
    "recovery": cache(recovery),
    "kept": cache(kept),
    "begun": cache(begun),
    "goals": cache(goals),
    "reserved": cache(reserved),
    "handed on": cache(handed_on),
    "changed": cache(changed),
}
PLANTS: list[tuple[str, str, str, Plant]] = []


def plant(prop: str, name: str, story: str = "recovery") -> Callable[[Plant], Plant]:
    """Register a plant under the property that must notice it."""

    def keep(edit: Plant) -> Plant:
        PLANTS.append((prop, name, story, edit))
        return edit

    return keep


def insert(events: list[list[Json]], worlds: list[Any], where: int, request: str, *body: Json) -> None:
    """A decision of its own before decision ``where``; later decisions keep their numbers' order."""
    first = {
        **events[where][0],
        "request": request,
        "authorized": True,
        "rules": ["R9"],
        "reasons": [],
        "subject": "",
    }
    events.insert(where, [first, *body])
    worlds.insert(where, worlds[where])
    for number, decision in enumerate(events, 1):
        decision[0]["id"] = f"e:{number}"


COMPLETED = {"type": "Completed", "time": 0, "certificates": []}


@plant("C0", "a finding that the world contradicts")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "FactsChecked")["findings"][0].update(verdict="SATISFIED", negative=False)


@plant("C0", "a negative finding on an attempt whose effect is there")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Assessed", -1)["findings"][0].update(verdict="UNSATISFIED", negative=True)


@plant("C1", "completion before anything is done")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    insert(events, worlds, 2, "Claim", COMPLETED)


@plant("C1", "completion while the world has lost a goal")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    worlds[-1] = replace(worlds[-1], facts=((A, False), (B, True)))


@plant("C1", "an attempt that undoes a goal after completion")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    worlds[-1] = replace(
        worlds[-1], commands=(*worlds[-1].commands[:-1], replace(worlds[-1].commands[-1], left=((B, False),)))
    )


@plant("C1", "an obligation that asks for an event nobody caused")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["obligations"][0]["kind"] = "event"
    worlds[-1] = replace(worlds[-1], events=tuple(e for e in worlds[-1].events if e[1] != B))


@plant("C2", "completion with an unresolved attempt")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "Certified", -1)


@plant("C2", "completion of a standing task")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["standing"] = True


@plant("C2", "completion on a state where the task wants an event")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["obligations"][0]["kind"] = "event"


@plant("C2", "completion with a state owed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    owed = get(events, "StateOwed")
    events[-1].insert(1, owed)


@plant("C2", "completion while an attempt could still undo it")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["obligations"][1].update(
        condition={"subject": "b", "path": "on", "clauses": [["EQ", False]]}
    )
    for attempt in (get(events, "Dispatched", -1)["attempt"], *operations(events)[1]["bindings"]):
        attempt["promises"].update(final_on_result=False, commit_bound=99)


@plant("C3", "a retry labelled as a first attempt")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["mode"] = "FIRST"


@plant("C3", "a repair under the retry rule")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 2)
    events[i][0]["rules"] = ["R6"]


@plant("C4", "a retry without negative evidence")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Assessed", 0)["findings"][0].update(
        verdict="INSUFFICIENT_EVIDENCE", negative=False, basis=[]
    )


@plant("C4", "a retry on a mere mismatch")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Assessed", 0)["findings"][0]["negative"] = False


@plant("C4", "a retry that the contract never permits")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["policy"]["replay"] = "never"


@plant("C4", "a retry that the policy does not name")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["policy"]["permits"]["effect_absent"] = ["observe", "stop"]


@plant("C4", "a retry on another provider that nobody listed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["provider"] = "q"
    operations(events)[0]["bindings"][0]["rebind_to"] = []


@plant("C4", "a retry while the first attempt could still act")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Reported")["interaction"] = "LOST"


@plant("C4", "a retry on evidence from when the effect could still appear")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Assessed", 0)["findings"][0]["captured"] = (
        get(events, "Dispatched")["attempt"]["dispatched"] - 1
    )


@plant("C5", "a retry beside a command that still acts")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 1)
    worlds[i] = replace(worlds[i], commands=(replace(worlds[i].commands[0], left=((A, True),)),))


@plant("C5", "an event that happens twice")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["effects"][0]["kind"] = "event"
    i, _j = at(events, "Dispatched", 1)
    worlds[i] = replace(worlds[i], events=(("e.1", A, worlds[i].now),))


@plant("C6", "a repair on an unknown state")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 2)
    for decision in events[i - 1 : i + 1]:
        for event in decision:
            for finding in event.get("findings", ()) if event["type"] == "FactsChecked" else ():
                finding.update(verdict="UNKNOWN", negative=False)


@plant("C6", "a repair that the policy does not name")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["policy"]["permits"]["state_lost"] = ["stop"]


@plant("C6", "a repair of what no later step and no goal needs")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[1]["preconditions"] = []
    get(events, "EpisodeStarted")["obligations"].pop()


@plant("C6", "a repair while the last attempt could still act")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    for binding in operations(events)[0]["bindings"]:
        binding["promises"].update(final_on_result=False, commit_bound=99)
    get(events, "Dispatched", 1)["attempt"]["promises"].update(final_on_result=False, commit_bound=99)


@plant("C6", "a repair that would repeat an event")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 2)
    admitted = copy.deepcopy(get(events, "ProposalAdmitted"))
    first = admitted["nodes"][0]["operation"]
    first["effects"].append({**first["effects"][0], "id": "rung", "kind": "event"})
    insert(events, worlds, i, "Revise", admitted)


@plant("C7", "a repair of what holds in the world")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 2)
    worlds[i] = replace(worlds[i], facts=((A, True), (B, False)))


@plant("C8", "a dispatch to a provider without a binding")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched")["attempt"]["provider"] = "stranger"


@plant("C8", "a dispatch of a step that was never admitted")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 3)["attempt"]["node"] = "z"


@plant("C8", "a dispatch to a revoked provider")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    gone = {"type": "AvailabilityChanged", "provider": "p", "reason": "revoked", "time": 0}
    insert(events, worlds, 2, "SetAvailability", gone)


@plant("C8", "a dispatch under a halt")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    insert(events, worlds, 2, "Halt", {"type": "Halted", "by": "op", "reason": "x"})


@plant("C8", "a dispatch of an earlier generation")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    insert(events, worlds, 2, "Restart", {"type": "Restarted", "generation": 2, "time": 0})


@plant("C8", "a dispatch with promises that its provider never gave")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched")["attempt"]["promises"]["commit_bound"] = 0


@plant("C9", "a dispatch without evidence for its precondition")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 3)
    for decision in events[: i + 1]:
        decision[:] = [e for e in decision if e["type"] != "FactsChecked"]


@plant("C9", "a dispatch whose precondition is false in the world")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 3)
    worlds[i] = replace(worlds[i], facts=((A, False), (B, False)))


@plant("C10", "a dispatch before its predecessor is verified")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "Certified", 1)


@plant("C10", "a dispatch before an obligation that the task orders first")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["obligations"][1]["after"] = ["b"]


@plant("C11", "a dispatch beside another that may change what it needs")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, j = at(events, "Dispatched", 3)
    early = events[i][j]
    k, m = at(events, "Dispatched", 0)
    operations(events)[1]["effects"][0]["condition"] = {
        "subject": "a",
        "path": "on",
        "clauses": [["EQ", False]],
    }
    events[k].insert(m + 1, early)


@plant("C11", "an unresolved attempt in the way of another, in an ordinary task", "goals")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["standing"] = False


@plant("C11", "an attempt that was taken for spent without being shown to be", "goals")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Assessed")["findings"][0]["negative"] = False


@plant("C11", "an attempt that was taken for spent, and still acts", "goals")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 1)
    worlds[i] = replace(worlds[i], commands=(replace(worlds[i].commands[0], left=((A, True),)),))


@plant("C24", "a dispatch without the approval that its contract asks for", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched")["attempt"]["approval"] = ""


@plant("C24", "an approval that was used before", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["approval"] = "e/a1"


@plant("C24", "an approval that was withdrawn", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["approval"] = "e/a2"


@plant("C24", "an approval that another one of the step has replaced", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "ApprovalWithdrawn")
    get(events, "Dispatched", 1)["attempt"]["approval"] = "e/a2"


@plant("C24", "an approval that is over", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved", 2)["approval"]["valid_until"] -= 10


@plant("C24", "an approval that is older than the contract allows", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved")["approval"]["granted"] -= 3


@plant("C24", "an approval from before a halt", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched")
    insert(events, worlds, i, "Halt", {"type": "Halted", "by": "op", "reason": "x"})
    insert(events, worlds, i + 1, "Resume", {"type": "Resumed", "by": "op"})


@plant("C24", "an approval from before a revocation", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched")
    for number, reason in enumerate(("revoked", "")):
        change = {"type": "AvailabilityChanged", "provider": "p", "reason": reason, "time": 0}
        insert(events, worlds, i + number, "SetAvailability", change)


@plant("C24", "an approval of other arguments", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched")
    admitted = copy.deepcopy(get(events, "ProposalAdmitted"))
    admitted["nodes"][0]["operation"]["arguments"] = '{"fast":true}'
    insert(events, worlds, i, "Revise", admitted)


@plant("C24", "an approval by who planned the step afterwards", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched")
    insert(events, worlds, i, "Revise", {**get(events, "ProposalAdmitted"), "author": "ann"})


@plant("C24", "an approval that nobody asked for", "goals")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched")["attempt"]["approval"] = "e/a1"


@plant("C25", "an approval of a step that needs none", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["approval"] = None


@plant("C25", "an approval by the planner", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved")["approval"]["by"] = "robot"


@plant("C25", "an approval by a stranger", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved")["approval"]["by"] = "eve"


@plant("C25", "an approval during a halt", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Approved")
    insert(events, worlds, i, "Halt", {"type": "Halted", "by": "op", "reason": "x"})


@plant("C25", "an approval of a retry while the attempt is under way", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Reported")
    del events[i], worlds[i]
    for number, decision in enumerate(events, 1):
        decision[0]["id"] = f"e:{number}"


@plant("C25", "an approval for a provider that is not eligible", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Approved")
    gone = {"type": "AvailabilityChanged", "provider": "q", "reason": "revoked", "time": 0}
    insert(events, worlds, i, "SetAvailability", gone)


@plant("C25", "an approval of the attempt after the next", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved")["approval"]["number"] = 2


@plant("C25", "an approval that lasts too long", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Approved")["approval"]["valid_until"] += 1


@plant("C25", "the withdrawal of an approval that was used", "reserved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "ApprovalWithdrawn")["approval"] = "e/a1"


@plant("C6", "a repair that only a standing task needs", "goals")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["standing"] = False


@plant("C12", "more dispatches than the budget")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["physical"] = 1


@plant("C12", "a retry beyond the allowance")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    operations(events)[0]["policy"]["retry_limit"] = 0


@plant("C12", "an observation beyond the budget")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted")["observation"] = 0


@plant("C13", "a certificate on what is not owed any more")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, j = at(events, "Certified", 0)
    again = {"type": "Certified", "certificate": {**events[i][j]["certificate"], "id": "e/c77"}}
    events[i].append(again)


@plant("C13", "an event proven without an attempt")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Certified", 0)["certificate"].update(attempt="", kind="event")


@plant("C14", "a certificate on no evidence")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Certified", 0)
    events[i] = [e for e in events[i] if e["type"] != "Assessed"]


@plant("C14", "a certificate on an empty basis")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Certified", 0)
    next(e for e in events[i] if e["type"] == "Assessed")["findings"][0]["basis"] = []


@plant("C14", "a certificate that claims a longer life than its evidence")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Certified", 0)["certificate"]["valid_until"] += 1000


@plant("C14", "a certificate on samples from before the dispatch")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Certified", 0)
    when = get(events, "Dispatched", 1)["attempt"]["dispatched"]
    next(e for e in events[i] if e["type"] == "Assessed")["findings"][0]["captured"] = when
    get(events, "Certified", 0)["certificate"]["captured"] = when


@plant("C15", "a certificate that the world contradicts")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Certified", 0)
    worlds[i] = replace(worlds[i], facts=((A, False), (B, False)))


@plant("C16", "an answer that brings a certificate")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Reported", 1)
    events[i].append(get(events, "Certified", 0))


@plant("C17", "a certificate that outlives its refutation")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "Revoked")


@plant("C18", "a lost state that nobody owes")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "StateOwed")


@plant("C18", "an owed state that is dropped without evidence")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, j = at(events, "StateOwed")
    events[i].append({"type": "StateSettled", "condition": events[i][j]["condition"], "reason": ""})


@plant("C19", "a missing decision")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    del events[1], worlds[1]


@plant("C19", "an attempt id used twice")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["id"] = "e.1"


@plant("C19", "a generation that does not rise")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    insert(events, worlds, 2, "Restart", {"type": "Restarted", "generation": 1, "time": 0})


@plant("C20", "a dispatch after a refusal")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 0)
    events[i][0]["authorized"] = False


@plant("C20", "a dispatch that nobody asked for")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched", 0)
    events[i][0]["request"] = "Observe"


@plant("C20", "a dispatch after the end")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    insert(
        events, worlds, 2, "Stop", {"type": "Stopped", "time": 0, "by": "x", "reason": "", "handed_to": ""}
    )


@plant("C21", "an observation of what is settled")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "ObservationSpent")["attempt"] = "e.2"


@plant("C22", "a breach that is not recorded", "kept")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "PreservationBroken")


@plant("C23", "a first dispatch of what the task trusts to be done", "begun")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Dispatched")
    for event in events[i]:
        for finding in event.get("findings", ()) if event["type"] == "FactsChecked" else ():
            finding.update(verdict="SATISFIED", negative=False)


@plant("C3", "an heir takes what it has the account of for new", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, j = at(events, "Dispatched", 2)
    events[i][0]["rules"] = ["R2"]
    events[i][j]["attempt"]["mode"] = "FIRST"


@plant("C6", "an heir repairs by a provider that may not take over", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 2)["attempt"]["provider"] = "q"


@plant("C8", "an heir is not told that a provider may not be used", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    for number in (2, 1):
        i, _j = at(events, "AvailabilityChanged", number)
        del events[i], worlds[i]


@plant("C17", "an inherited certificate outlives what was seen", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    drop(events, "Revoked")


@plant("C20", "an answer to an attempt of the episode before", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Reported", -1)["attempt"] = "e.2"


@plant("C26", "an heir with fresh budgets", "handed on")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "EpisodeStarted", 1)["physical"] = 9


@pytest.mark.parametrize("name", STORIES)
def test_a_good_history_breaches_nothing(name: str) -> None:
    assert verdicts(STORIES[name](), lambda events, worlds: None) == set()


@pytest.mark.parametrize(("prop", "name", "story", "edit"), PLANTS, ids=[f"{p} {n}" for p, n, _, _ in PLANTS])
def test_a_planted_breach_is_found(prop: str, name: str, story: str, edit: Plant) -> None:
    assert prop in verdicts(STORIES[story](), edit)


def test_every_property_has_a_plant() -> None:
    assert {prop for prop, *_ in PLANTS} == set(PROPERTIES)


def test_a_finished_history_is_judged_like_a_running_one() -> None:
    story: Story = recovery()
    world = WorldHistory()
    for fact in (A, B):
        world.set(story.model.start.time, fact, False)
    for before, after in zip(story.worlds, story.worlds[1:], strict=False):
        for fact in (A, B):
            if before.value(fact, before.now) != after.value(fact, after.now):
                by = next((e[0] for e in after.events if e[1] == fact and e[2] > before.now), "")
                when = next(
                    (e[2] for e in after.events if e[1] == fact and e[2] > before.now), before.now + 1
                )
                world.set(when, fact, after.value(fact, after.now), by)
    flat = [event for decision in story.events for event in decision]
    assert judge(flat, world) == []
    assert len(decisions(flat)) == len(story.events)
    spoiled = WorldHistory(dict(world.facts), [(10**6, "e.4", B, False)])
    assert "C1" in {v.property for v in judge(flat, spoiled)}


def test_the_judge_knows_nothing_of_the_authority() -> None:
    import subprocess
    import sys

    code = "import sys, studies.checker; print([m for m in sys.modules if m.startswith('adf_ea_ros')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
