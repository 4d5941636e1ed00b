"""Theorem 2: each dispatch is a lawful first attempt, retry or repair (C3 to C11, C23 and C24)."""

from __future__ import annotations

from studies.checker.approving import check_approved
from studies.checker.books import Books, Trial, effect_name, finding_name, negative, positive, touches
from studies.checker.conditions import Json, fact, holds, implies
from studies.checker.properties import Violation
from studies.checker.steps import Link, needed_steps, next_links
from studies.checker.world import World

_RULE = {"FIRST": "R2", "RETRY": "R6", "REPAIR": "R7"}


def check_dispatch(books: Books, attempt: Json, first: Json, world: World, now: int) -> list[Violation]:
    """Judge one dispatch by the books just before it."""
    node = books.nodes.get(attempt["node"])
    if node is None:
        return [Violation("C8", f"the admitted proposal has no step {attempt['node']!r}")]
    operation, key = node["operation"], node["operation"]["key"]
    found = _admitted(books, attempt, operation, now) + check_approved(books, attempt, now)
    found += _needs(books, node, world, now) + _order(books, node, now) + _alone(books, operation, world, now)
    pending, account = books.pending(key), books.accounts.get(key)
    if account is None:
        case = "FIRST"
        found += _initial(books, operation, now)
    elif pending is not None:
        case = "RETRY"
        found += _retry(books, pending, operation, attempt["provider"], world, now)
    else:
        case = "REPAIR"
        found += _repair(books, operation, attempt["provider"], world, now)
    if attempt["mode"] != case or _RULE[case] not in first["rules"]:
        found.append(Violation("C3", f"a {case} labelled {attempt['mode']} under {first['rules']}"))
    return found


def _admitted(books: Books, attempt: Json, operation: Json, now: int) -> list[Violation]:
    found = []
    binding = _binding(operation, attempt["provider"])
    if binding is None:
        return [Violation("C8", f"step {attempt['node']} is not bound to {attempt['provider']}")]
    if attempt["provider"] in books.unavailable or 0 <= binding["expires"] <= now:
        found.append(Violation("C8", f"{attempt['provider']} is not eligible"))
    if attempt["key"] != operation["key"] or attempt["promises"] != binding["promises"]:
        found.append(Violation("C8", "the attempt does not carry its step's key and its provider's promises"))
    if attempt["dispatched"] != now or attempt["deadline"] != now + binding["deadline"]:
        found.append(Violation("C8", "the attempt's times are not those of its decision"))
    if attempt["generation"] != books.generation:
        found.append(Violation("C8", f"generation {attempt['generation']} under {books.generation}"))
    if books.halted:
        found.append(Violation("C8", "the episode is halted"))
    if attempt["interaction"] != "DISPATCHED" or attempt["superseded"] or attempt["findings"]:
        found.append(Violation("C8", "a new attempt has a history"))
    if books.physical < 1:
        found.append(Violation("C12", "a dispatch beyond the physical budget"))
    if attempt["id"] in books.trials:
        found.append(Violation("C19", f"attempt id {attempt['id']} was used before"))
    return found


def _needs(books: Books, node: Json, world: World, now: int) -> list[Violation]:
    found = []
    for pre in node["operation"]["preconditions"]:
        condition = pre["condition"]
        if not positive(books.found(pre["requirement"]["id"], condition), now):
            found.append(Violation("C9", f"no current evidence for {pre['id']} of {node['id']}"))
        if not holds(condition, world.value(fact(condition), now)):
            found.append(Violation("C9", f"{pre['id']} of {node['id']} is false in the world"))
    return found


def _order(books: Books, node: Json, now: int) -> list[Violation]:
    found = []
    for name in node["after"]:
        operation = books.nodes[name]["operation"]
        for effect in operation["effects"]:
            certificate = books.certificate(operation["key"], effect["kind"], effect["condition"])
            if certificate is None or not books.live(certificate, now):
                found.append(
                    Violation("C10", f"step {name} before {node['id']} is not verified by live evidence")
                )
    goals = {goal["id"]: goal for goal in books.goals}
    for goal in books.goals:
        if goal["key"] == node["operation"]["key"]:
            found += [
                Violation("C10", f"obligation {name} before {goal['id']} is not covered")
                for name in goal["after"]
                if not books.covered(goals[name], now)
            ]
    return found


def _alone(books: Books, operation: Json, world: World, now: int) -> list[Violation]:
    """No other operation that is unresolved, or may still act, on the same facts or against the needs."""
    found = []
    for trial in books.trials.values():
        unresolved = bool(trial.owed) and not trial.superseded
        if trial.key == operation["key"] or not (unresolved or trial.may_act(now)):
            continue
        if unresolved and spent(books, trial, now):
            if world.to_come(trial.id, now):
                found.append(Violation("C11", f"{trial.id} was taken for spent, and still acts"))
            continue
        shared = touches(trial.operation) & touches(operation)
        undone = [
            pre
            for pre in operation["preconditions"]
            for effect in trial.operation["effects"]
            if fact(effect["condition"]) == fact(pre["condition"])
            and not implies(effect["condition"], pre["condition"])
        ]
        harmless = all(_harmless(trial, effect) for effect in operation["effects"])
        if undone or (shared and (unresolved or not harmless)):
            found.append(Violation("C11", f"{trial.id} may still change what this dispatch changes or needs"))
    return found


def spent(books: Books, trial: Trial, now: int) -> bool:
    """In a standing task: an attempt at states alone that is over, what it owes shown absent after its end.

    That it was shown need not be current: what the fact is by now is not this attempt's doing.
    """
    if not books.start.get("standing") or trial.may_act(now):
        return False
    return all(
        effect["kind"] == "state"
        and (effect_name("state", effect["condition"]) not in trial.owed or _was_absent(trial, effect))
        for effect in trial.operation["effects"]
    )


def _was_absent(trial: Trial, effect: Json) -> bool:
    known = dict(trial.findings)
    found = [known.get(finding_name(r["id"], effect["condition"])) for r in effect["requirements"]]
    against = [f for f in found if f is not None and f["negative"] and f["basis"] and not f["integrity"]]
    opposed = any(f is not None and (f["verdict"] in {"SATISFIED", "UNKNOWN"} or f["support"]) for f in found)
    return bool(against) and not opposed and all(f["captured"] >= trial.quiet_from() for f in against)


def _harmless(trial: Trial, effect: Json) -> bool:
    """A settled attempt that may still act does no harm to an effect that its own effect would only
    repeat.
    """
    return all(
        implies(other["condition"], effect["condition"])
        for other in trial.operation["effects"]
        if fact(other["condition"]) == fact(effect["condition"])
    )


def _initial(books: Books, operation: Json, now: int) -> list[Violation]:
    """C23: a redundant first dispatch."""
    trusted = [
        g for g in books.goals if g["initial"] and g["key"] == operation["key"] and g["kind"] == "state"
    ]
    effects = operation["effects"]
    covered = all(
        e["kind"] == "state"
        and any(g["condition"] == e["condition"] for g in trusted)
        and all(positive(books.found(r["id"], e["condition"]), now) for r in e["requirements"])
        for e in effects
    )
    return [Violation("C23", f"{operation['capability']} is established initially")] if covered else []


def _retry(
    books: Books, pending: Trial, operation: Json, provider: str, world: World, now: int
) -> list[Violation]:
    found = []
    policies = [pending.operation["policy"], operation["policy"]]
    absent = [absent_now(pending, effect, now) for effect in pending.operation["effects"]]
    modes = {policy["replay"] for policy in policies}
    if pending.may_act(now):
        found.append(Violation("C4", f"{pending.id} could still take effect"))
    if "never" in modes:
        found.append(Violation("C4", "the contract never permits a replay"))
    if not any(absent) or ("when_absent" in modes and not all(absent)):
        found.append(
            Violation("C4", f"no qualified negative evidence on {pending.id} for each effect that needs it")
        )
    if provider != pending.provider:
        if not _may_rebind(books, pending, provider, policies, "effect_absent", now):
            found.append(Violation("C4", f"{pending.provider} may not be replaced by {provider}"))
    elif not all("retry" in policy["permits"].get("effect_absent", ()) for policy in policies):
        found.append(Violation("C4", "the contract does not permit a retry after an absent effect"))
    if books.accounts[pending.key].retries < 1:
        found.append(Violation("C12", f"a retry of {pending.key} beyond its allowance"))
    return found + _repeats(books, pending.key, modes, world, now)


def _repeats(books: Books, key: str, modes: set[str], world: World, now: int) -> list[Violation]:
    """C5, of a retry of this key: what earlier attempts do after it, and which events they had caused."""
    found = []
    for trial in books.trials.values():
        if trial.key != key:
            continue
        if world.to_come(trial.id, now):
            found.append(Violation("C5", f"{trial.id} still acts after its retry"))
        for effect in trial.operation["effects"]:
            if (
                effect["kind"] == "event"
                and "idempotent" not in modes
                and world.happened(trial.id, fact(effect["condition"]), now)
            ):
                found.append(Violation("C5", f"{trial.id} had caused its event before its retry"))
    return found


def absent_now(trial: Trial, effect: Json, now: int) -> bool:
    """Qualified negative evidence on this attempt, from late enough, with nothing that speaks against it."""
    known = dict(trial.findings)
    found = [known.get(finding_name(r["id"], effect["condition"])) for r in effect["requirements"]]
    against = [f for f in found if f is not None and negative(f, now) and f["captured"] >= trial.quiet_from()]
    opposed = any(positive(f, now) or (f is not None and f["verdict"] == "UNKNOWN") for f in found)
    return bool(against) and not opposed


def _repair(books: Books, operation: Json, provider: str, world: World, now: int) -> list[Violation]:
    key, found = operation["key"], []
    account = books.accounts[key]
    last = books.trials[account.latest]
    if not books.established(key, account.operation):
        found.append(Violation("C6", f"{key} was never established"))
    if any(effect["kind"] == "event" for effect in operation["effects"]):
        found.append(Violation("C6", "a repair would repeat an event"))
    links = next_links(books, key, now) + _asked_for(books, operation)
    known = [books.found(*link) for link in links]
    if not links or not all(positive(f, now) or negative(f, now) for f in known):
        found.append(
            Violation("C6", f"no next action whose links to {key} are all known ({len(links)} links)")
        )
    if not any(negative(f, now) for f in known):
        found.append(Violation("C6", f"nothing linked to {key} is shown to be false"))
    policies = [account.operation["policy"], operation["policy"]]
    if not all("repair" in policy["permits"].get("state_lost", ()) for policy in policies):
        found.append(Violation("C6", "the contract does not permit a repair"))
    moved = provider != last.provider
    if moved and not _may_rebind(books, last, provider, policies, "state_lost", now):
        found.append(Violation("C6", f"{last.provider} may not be replaced by {provider} for a repair"))
    mine = [trial for trial in books.trials.values() if trial.key == key]
    if any(trial.may_act(now) for trial in mine):
        found.append(Violation("C6", f"an attempt of {key} could still take effect"))
    if any(world.to_come(trial.id, now) for trial in mine):
        found.append(Violation("C7", f"an earlier attempt of {key} acts after its repair"))
    if links and not _lost(links, world, now):
        found.append(Violation("C7", f"every state linked to {key} holds in the world"))
    return found


def _asked_for(books: Books, operation: Json) -> list[Link]:
    """In a standing task each step is a goal of its own: it needs the states that it is to bring about."""
    return [
        (requirement["id"], effect["condition"])
        for effect in (operation["effects"] if books.start.get("standing") else ())
        if effect["kind"] == "state"
        for requirement in effect["requirements"]
    ]


def _lost(links: list[Link], world: World, now: int) -> bool:
    return any(not holds(condition, world.value(fact(condition), now)) for _, condition in links)


def _may_rebind(
    books: Books, trial: Trial, provider: str, policies: list[Json], cause: str, now: int
) -> bool:
    """The earlier binding lists the provider, and each contract says rebind: for ``cause``, or for an
    unavailable provider where the earlier one may not be used now.
    """
    binding = _binding(trial.operation, trial.provider)
    if binding is None or provider not in binding["rebind_to"]:
        return False
    if trial.provider in books.unavailable or 0 <= binding["expires"] <= now:
        cause = "provider_unavailable"
    return all("rebind" in policy["permits"].get(cause, ()) for policy in policies)


def _binding(operation: Json, provider: str) -> Json | None:
    return next((b for b in operation["bindings"] if b["provider"] == provider), None)


__all__ = ["absent_now", "check_dispatch", "needed_steps"]
