"""Heirs (C26): what an episode starts with that goes on in the place of another one, by that one's books."""

from __future__ import annotations

from studies.checker.books import SEPARATOR, Books, effect_name
from studies.checker.conditions import Json, fact
from studies.checker.properties import Violation
from studies.checker.world import World


def check_heir(books: Books, event: Json, world: World, now: int) -> list[Violation]:
    """Judge an episode's first event by the books just after it, and those of the episode before it."""
    before = books.before
    if before is None:
        return [Violation("C26", "nobody knows from whom it inherits")] if event["inherited"] else []
    faults = _at_rest(before, world, now) + _budgets(before, event)
    names = [account["key"] for account in event["inherited"]]
    if len(set(names)) < len(names):
        faults.append("an account is handed on twice")
    for account in event["inherited"]:
        faults += [f"the account of {account['key']} {f}" for f in _account(before, account)]
    faults += [f"the account of {key} is left out" for key in _to_hand_on(before) if key not in names]
    faults += [
        f"{name} was touched at {time}, and the heir knows of {books.touched.get(name, -1)}"
        for name, time in before.touched.items()
        if books.touched.get(name, -1) < time
    ]
    faults += [f"{name} was broken, and is not" for name in before.broken - books.broken]
    faults += [
        f"{name} was found otherwise" for name, f in books.facts.items() if before.facts.get(name) != f
    ]
    faults += [
        f"{name} lives again"
        for name, one in books.certificates.items()
        if name in before.certificates and books.live(one, now) and not before.live(one, now)
    ]
    return [Violation("C26", fault) for fault in faults]


def check_handed_over(books: Books) -> list[Violation]:
    """Before an heir dispatches, the one before it has ended in its favour, and did nothing since."""
    before = books.before
    if before is None:
        return []
    faults = []
    if before.phase != "stopped" or before.handed_to != books.start["episode"]:
        faults.append(f"{before.start['episode']} is {before.phase}, handed to {before.handed_to!r}")
    if set(before.trials) - books.past:
        faults.append(f"{before.start['episode']} went on beside its heir")
    return [Violation("C26", fault) for fault in faults]


def _at_rest(before: Books, world: World, now: int) -> list[str]:
    """Nothing is open: neither in the books nor in the world."""
    faults = [] if before.phase == "active" else [f"the episode before it is {before.phase!r}"]
    faults += ["the episode before it is halted"] if before.halted else []
    faults += [f"the outcome of {trial.id} is unresolved" for trial in before.unsettled()]
    faults += [f"{name} is owed" for name in before.owed]
    for trial in before.trials.values():
        if trial.may_act(now):
            faults.append(f"{trial.id} could still act")
        if world.to_come(trial.id, now):
            faults.append(f"{trial.id} still acts")
    return faults


def _budgets(before: Books, event: Json) -> list[str]:
    old = before.start
    faults = [
        f"{name} was left at {left}, and is {event[name]}"
        for name, left in (("physical", before.physical), ("observation", before.observation))
        if event[name] != left
    ]
    if not (event["standing"] and old["standing"] and _task(event) == _task(old)):
        faults.append("is not of the standing task that it goes on for")
    if event["episode"] == old["episode"] or event["generation"] < before.generation:
        faults.append(f"is episode {event['episode']} of generation {event['generation']}")
    return faults


def _task(event: Json) -> str:
    """A task without its version: the heir may be of a newer one."""
    return str(event["task"]).partition("@")[0]


def _to_hand_on(before: Books) -> list[str]:
    """Keys that are established, whose operation causes no event, and none of whose proofs was revoked."""
    return [
        key
        for key, account in before.accounts.items()
        if before.established_now(key, account.operation)
        and all(
            effect["kind"] == "state" and before.certificate(key, "state", effect["condition"]) is not None
            for effect in account.operation["effects"]
        )
    ]


def _account(before: Books, given: Json) -> list[str]:
    """What is wrong with one account, by the books of the episode before."""
    key, kept = given["key"], before.accounts.get(given["key"])
    if kept is None:
        return ["is of nothing that was dispatched"]
    faults = []
    if key not in _to_hand_on(before):
        faults.append("is not of a state that is established, and whose proofs still stand")
    if given["operation"] != kept.operation:
        faults.append("is of another operation")
    if given["provider"] != before.trials[kept.latest].provider:
        faults.append(f"is of {given['provider']}, not of {before.trials[kept.latest].provider}")
    if given["retries"] != kept.retries:
        faults.append(f"has {given['retries']} retries, and {kept.retries} were left")
    wanted = {
        before.proven.get((key, effect_name(e["kind"], e["condition"]))) for e in kept.operation["effects"]
    }
    if {one["id"] for one in given["certificates"]} != wanted:
        faults.append(f"has not the certificates {wanted}")
    faults += [
        f"has a certificate {one['id']} that is not as it was granted"
        for one in given["certificates"]
        if one["revoked"] or one != before.certificates.get(one["id"])
    ]
    facts = {fact(effect["condition"]) for effect in kept.operation["effects"]}
    if {tuple(name.split(SEPARATOR)) for name, _ in given["touched"]} - facts:
        faults.append("says when facts of others were touched")
    return faults
