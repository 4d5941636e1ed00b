"""What an heir may start with (C26): each part of it violated alone is noticed, and nothing else of it is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from story import A, Json, Story, at, changed, get, handed_on, operations, violations

from studies.checker import Judge

Plant = Callable[[list[list[Json]], list[Any]], None]
STORIES = {"handed on": cache(handed_on), "changed": cache(changed)}
FINAL = {"final_on_result": True, "result_timeout": 0, "query": False, "visibility_delay": 0}
PARTS: list[tuple[str, Callable[[], Story], Plant]] = []


def part(words: str, story: str = "handed on") -> Callable[[Plant], Plant]:
    """Register a breach that C26 must notice, and nothing else of it, in these words."""

    def keep(edit: Plant) -> Plant:
        PARTS.append((words, STORIES[story], edit))
        return edit

    return keep


def heir(events: list[list[Json]]) -> Json:
    return get(events, "EpisodeStarted", 1)


def before_it(events: list[list[Json]], *body: Json) -> None:
    """Something more happened in the last decision before the heir began."""
    i, _j = at(events, "EpisodeStarted", 1)
    events[i - 1] += body


def account(events: list[list[Json]]) -> Json:
    one: Json = heir(events)["inherited"][0]
    return one


@part("physical was left at 7")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["physical"] = 9


@part("observation was left at 2")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["observation"] = 3


@part("has 1 retries, and 0 were left")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["retries"] = 1


@part("is of q, not of p")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["provider"] = "q"


@part("is of another operation")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["operation"]["policy"]["replay"] = "idempotent"


@part("is left out")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    left = account(events)
    heir(events).update(inherited=[], touched=left["touched"])


@part("is handed on twice")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["inherited"].append(account(events))


@part("is of nothing that was dispatched")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["inherited"].append({**account(events), "key": "k1"})


@part("whose proofs still stand", "changed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    """The account of A, which was undone since."""
    operation = operations(events)[0]
    proof = get(events, "Certified")["certificate"]
    heir(events)["inherited"].append(
        {
            "key": operation["key"],
            "operation": operation,
            "retries": 1,
            "certificates": [proof],
            "touched": account(events)["touched"],
            "provider": "p",
            "findings": [],
        }
    )


@part("has not the certificates")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["certificates"] = []


@part("is not as it was granted")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["certificates"][0]["valid_until"] += 50


@part("was touched at 102, and the heir knows of -1")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    """Nothing holds any more, and so nothing is handed on but what was touched."""
    before_it(events, {"type": "Revoked", "certificate": "e/c1", "reason": "seen false", "time": 103})
    heir(events)["inherited"].clear()


@part("says when facts of others were touched")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["touched"].append(["z\x1fon", 103])


@part("was broken, and is not")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    before_it(events, {"type": "PreservationBroken", "obligation": "keep", "time": 103})


@part("was found otherwise")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    account(events)["findings"][0]["valid_until"] += 50


@part("lives again")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    doubt = {**account(events)["findings"][0], "verdict": "UNKNOWN", "negative": False, "horizon": 104}
    before_it(events, {"type": "FactsChecked", "findings": [doubt]})
    account(events)["findings"].clear()


@part("the outcome of e.3 is unresolved")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    other = copy.deepcopy(get(events, "Dispatched", 1))
    other["attempt"].update(id="e.3", key="k1", promises={**FINAL, "commit_bound": 0})
    before_it(events, other)
    heir(events)["physical"] -= 1
    account(events)["touched"][0][1] = 103


@part("e.2 could still act")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Dispatched", 1)["attempt"]["promises"].update(final_on_result=False, commit_bound=99)


@part("e.2 still acts")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "EpisodeStarted", 1)
    commands = [replace(c, left=((A, False),)) if c.attempt == "e.2" else c for c in worlds[i].commands]
    worlds[i] = replace(worlds[i], commands=tuple(commands))


@part("is owed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    lost = account(events)["certificates"][0]
    owed = {"condition": lost["condition"], "certificate": lost["id"], "time": 103, "needed_by": ["goal:a"]}
    before_it(events, {"type": "StateOwed", **owed})


@part("is halted")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    before_it(events, {"type": "Halted", "by": "ann", "reason": ""})


@part("the episode before it is 'stopped'")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    before_it(events, {"type": "Stopped", "time": 103, "by": "ann", "reason": "", "handed_to": "e'"})


@part("is not of the standing task", "changed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["task"] = "other@1.0.0"


@part("is not of the standing task", "changed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["standing"] = False


@part("of generation 0", "changed")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    heir(events)["generation"] = 0


@part("e is active, handed to ''")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Stopped")
    del events[i], worlds[i]


@part("e is stopped, handed to 'ann'")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    get(events, "Stopped")["handed_to"] = "ann"


@part("e went on beside its heir")
def _(events: list[list[Json]], worlds: list[Any]) -> None:
    i, _j = at(events, "Stopped")
    other = copy.deepcopy(get(events, "Dispatched", 1))
    other["attempt"]["id"] = "e.3"
    events[i].insert(1, other)


@pytest.mark.parametrize(("words", "story", "edit"), PARTS, ids=[words for words, *_ in PARTS])
def test_what_an_heir_starts_with(words: str, story: Callable[[], Story], edit: Plant) -> None:
    found = {v.text for v in violations(story(), edit) if v.property == "C26"}
    assert len(found) == 1, found
    assert words in found.pop()


def test_an_heir_of_nobody_inherits_nothing() -> None:
    story = handed_on()
    i, _j = at(story.events, "EpisodeStarted", 1)
    (found,) = Judge().decision(story.events[i], story.worlds[i])
    assert found.property == "C26"
