"""Certificates, what they rest on, and what becomes of it: C13 to C15, C17, C18 and C22."""

from __future__ import annotations

from studies.checker.books import Books, effect_name, finding_name, negative, positive
from studies.checker.conditions import Json, excludes, fact, holds, ident, implies
from studies.checker.properties import Violation
from studies.checker.steps import done, needed_steps
from studies.checker.world import World


def check_certified(
    books: Books, certificate: Json, new: list[Json], world: World, now: int
) -> list[Violation]:
    """Judge one certificate by the books just before it and the evidence in its own decision."""
    condition, kind, name = certificate["condition"], certificate["kind"], certificate["id"]
    found = [Violation("C19", f"certificate id {name} was used before")] if name in books.certificates else []
    if certificate["attempt"]:
        found += _of_attempt(books, certificate, new, now)
        if kind == "event" and not world.happened(
            certificate["attempt"], fact(condition), certificate["captured"]
        ):
            found.append(
                Violation("C15", f"{name}: {certificate['attempt']} did not cause {ident(condition)}")
            )
    else:
        found += _of_present(books, certificate, now)
    if kind == "state" and not holds(condition, world.value(fact(condition), certificate["captured"])):
        found.append(Violation("C15", f"{name}: {ident(condition)} was false at {certificate['captured']}"))
    if certificate["granted"] != now or certificate["revoked"]:
        found.append(Violation("C14", f"{name} is not of this decision"))
    return found


def _of_attempt(books: Books, certificate: Json, new: list[Json], now: int) -> list[Violation]:
    trial = books.trials.get(certificate["attempt"])
    name = effect_name(certificate["kind"], certificate["condition"])
    if trial is None or trial.superseded or name not in trial.owed or trial.key != certificate["key"]:
        return [Violation("C13", f"{certificate['id']} settles what {certificate['attempt']} does not owe")]
    if books.accounts[trial.key].latest != trial.id:
        return [Violation("C13", f"{certificate['id']} is on an attempt that is not the latest of its key")]
    effect = next(e for e in trial.operation["effects"] if effect_name(e["kind"], e["condition"]) == name)
    shown = _shown(new, "Assessed", trial.id)
    basis = [shown.get(finding_name(r["id"], effect["condition"])) for r in effect["requirements"]]
    found = _rests(certificate, effect, basis, now)
    if any(f is not None and f["captured"] <= trial.dispatched for f in basis):
        found.append(Violation("C14", f"{certificate['id']} rests on samples from before the dispatch"))
    if certificate["revision"] != trial.operation["fingerprint"]:
        found.append(Violation("C14", f"{certificate['id']} pins another contract"))
    return found


def _of_present(books: Books, certificate: Json, now: int) -> list[Violation]:
    """Without an attempt: an owed state seen again, or a state that the task trusts initially."""
    key, condition = certificate["key"], certificate["condition"]
    if certificate["kind"] != "state":
        return [Violation("C13", f"{certificate['id']} proves an event without an attempt")]
    if books.pending(key) is not None:
        return [Violation("C13", f"{certificate['id']} bypasses the unresolved outcome of {key}")]
    account = books.accounts.get(key)
    operations = [account.operation] if account is not None else []
    operations += [n["operation"] for n in books.nodes.values() if n["operation"]["key"] == key]
    effect = next(
        (
            e
            for o in operations
            for e in o["effects"]
            if e["condition"] == condition
            and {r["id"] for r in e["requirements"]} == set(certificate["requirements"])
        ),
        None,
    )
    if effect is None:
        return [Violation("C14", f"{certificate['id']} is on no effect of {key}")]
    initial = any(g["initial"] and g["key"] == key and g["condition"] == condition for g in books.goals)
    if ident(condition) not in books.owed and not initial:
        return [
            Violation("C13", f"{certificate['id']} is on a state that is neither owed nor trusted initially")
        ]
    basis = [books.found(r["id"], condition) for r in effect["requirements"]]
    found = _rests(certificate, effect, basis, now)
    started = account is not None and books.trials[account.latest].dispatched
    if started and any(f is not None and f["captured"] <= started for f in basis):
        found.append(Violation("C14", f"{certificate['id']} rests on samples from before its last dispatch"))
    return found


def _shown(new: list[Json], kind: str, attempt: str) -> dict[str, Json]:
    return {
        finding_name(f["requirement"], f["condition"]): f
        for event in new
        if event["type"] == kind and event.get("attempt", attempt) == attempt
        for f in event["findings"]
    }


def _rests(certificate: Json, effect: Json, basis: list[Json | None], now: int) -> list[Violation]:
    if not basis or not all(positive(f, now) for f in basis):
        return [Violation("C14", f"{certificate['id']} lacks a current satisfied finding with a basis")]
    shown = [f for f in basis if f is not None]
    matches = (
        certificate["condition"] == effect["condition"]
        and certificate["kind"] == effect["kind"]
        and certificate["captured"] == min(f["captured"] for f in shown)
        and certificate["valid_until"] == min(f["valid_until"] for f in shown)
        and set(certificate["requirements"]) == {f["requirement"] for f in shown}
        and set(certificate["lineage"]) == {name for f in shown for name in f["basis"]}
        and certificate["rests_on"] == effect["rests_on"]
    )
    return [] if matches else [Violation("C14", f"{certificate['id']} does not say what its evidence says")]


def check_settled(books: Books, event: Json, new: list[Json]) -> list[Violation]:
    """C18: a state leaves U_state verified again, or when no step ahead needs it and no goal does."""
    owed = books.owed.get(ident(event["condition"]))
    if owed is None:
        return [Violation("C18", f"{ident(event['condition'])} was not owed")]
    verified = any(
        e["type"] == "Certified" and e["certificate"]["condition"] == owed["condition"] for e in new
    )
    if verified:
        return []
    for name in owed["needed_by"]:
        if name.startswith("goal:") or (name in books.nodes and not done(books, books.nodes[name])):
            return [Violation("C18", f"{ident(owed['condition'])} was dropped, and {name} needs it")]
    return []


def needed_for(books: Books, certificate: str) -> Json | None:
    """The certificate that is being revoked, where a goal or a step ahead needs what it shows."""
    found = books.certificates[certificate]
    if found["kind"] != "state" or certificate in books.revoked:
        return None
    key, condition = found["key"], found["condition"]
    goals = any(g["kind"] == "state" and g["key"] == key and g["condition"] == condition for g in books.goals)
    return found if goals or needed_steps(books, key, condition) else None


def check_end(before: Books, books: Books, new: list[Json], lost: list[Json], now: int) -> list[Violation]:
    """C17, C18 and C22: what a decision that saw losses must leave behind.

    ``lost``: the certificates that it revoked while something needed them (``needed_for``).
    """
    checked = [f for event in new if event["type"] == "FactsChecked" for f in event["findings"]]
    seen = [f for f in checked if f["captured"] > before.touched.get(fact(f["condition"]), -1)]
    found = _toppled(books, new, seen, now)
    settled = {ident(event["condition"]) for event in new if event["type"] == "StateSettled"}
    for certificate in lost:
        condition = certificate["condition"]
        again = books.certificate(certificate["key"], "state", condition) is not None
        if not again and ident(condition) not in books.owed and ident(condition) not in settled:
            found.append(Violation("C18", f"{ident(condition)} was lost and is needed, but nobody owes it"))
    for goal in books.goals:
        if (
            goal["kind"] == "preserve"
            and goal["id"] not in books.broken
            and any(_refutes(finding, goal["condition"], now) for finding in seen)
        ):
            found.append(Violation("C22", f"{goal['id']} was seen to be otherwise"))
    return found


def _refutes(finding: Json, condition: Json, now: int) -> bool:
    """Whether a finding shows ``condition`` to be false, whatever it was asked about."""
    if negative(finding, now):
        return implies(condition, finding["condition"])
    return positive(finding, now) and excludes(finding["condition"], condition)


def _toppled(books: Books, new: list[Json], findings: list[Json], now: int) -> list[Violation]:
    """No unrevoked certificate may contradict what this decision saw, or rest on what it lost."""
    lost = [f["condition"] for f in findings if negative(f, now)]
    seen = [f["condition"] for f in findings if positive(f, now)]
    if not lost and not seen:
        return []
    alive = [c for n, c in books.certificates.items() if n not in books.revoked and c["granted"] <= now]
    found = []
    for certificate in alive:
        condition = certificate["condition"]
        fresh = any(e["type"] == "Certified" and e["certificate"]["id"] == certificate["id"] for e in new)
        state = certificate["kind"] == "state" and not fresh
        if state and (any(implies(condition, c) for c in lost) or any(excludes(c, condition) for c in seen)):
            found.append(Violation("C17", f"{certificate['id']} outlived what was seen"))
        if not fresh and any(implies(base, c) for base in certificate["rests_on"] for c in lost):
            found.append(Violation("C17", f"{certificate['id']} outlived what it rested on"))
    return found
