"""Approvals (C24, C25): what a contract reserves to a person was approved, just as it was sent, and once."""

from __future__ import annotations

from studies.checker.books import Books
from studies.checker.conditions import Json
from studies.checker.properties import Violation

_RUNS = ("DISPATCHED", "ACCEPTED")


def asked(books: Books, node: Json) -> list[Json]:
    """What contracts ask of an approval: the step's, and the one under which its key was dispatched last."""
    account = books.accounts.get(node["operation"]["key"])
    operations = [node["operation"], *([account.operation] if account is not None else [])]
    return [operation["approval"] for operation in operations if operation.get("approval")]


def check_approved(books: Books, attempt: Json, now: int) -> list[Violation]:
    """C24, by the books just before a dispatch."""
    node = books.nodes.get(attempt["node"])
    if node is None:
        return []  # C8 says so
    wanted, name = asked(books, node), attempt.get("approval", "")
    if not wanted:
        return [Violation("C24", f"{attempt['id']} used {name}, and nobody asked for it")] if name else []
    granted = books.granted.get(name)
    if granted is None:
        return [Violation("C24", f"{attempt['id']} has no approval ({name!r})")]
    given, faults = granted.approval, []
    if granted.used or granted.withdrawn:
        faults.append(f"was used by {granted.used or 'nobody'} and withdrawn: {granted.withdrawn}")
    if books.newest.get(node["id"]) != name:
        faults.append("is not the newest of its step")
    if not given["granted"] <= now <= given["valid_until"]:
        faults.append(f"was good from {given['granted']} to {given['valid_until']}, and it is {now}")
    faults += [
        f"is older than {terms['max_age']}" for terms in wanted if now > given["granted"] + terms["max_age"]
    ]
    faults += _differences(books, node, given)
    if granted.halted:
        faults.append("is from before a halt")
    covered = [entry[:2] for entry in given["providers"]]
    bindings = [[b["provider"], b["fingerprint"]] for b in node["operation"]["bindings"]]
    mine = next((b for b in bindings if b[0] == attempt["provider"]), None)
    if mine not in covered or attempt["provider"] in granted.interrupted:
        faults.append(f"does not cover {attempt['provider']}, or no longer")
    faults += _who(books, wanted, given["by"])
    return [Violation("C24", f"{name}, which {attempt['id']} used, {fault}") for fault in faults]


def check_given(books: Books, given: Json, now: int) -> list[Violation]:
    """C25, by the books just before an approval."""
    node = books.nodes.get(given["step"])
    if node is None:
        return [Violation("C25", f"the admitted proposal has no step {given['step']!r}")]
    wanted, faults = asked(books, node), []
    if not wanted:
        faults.append("nobody asked for it")
    if books.halted:
        faults.append("was given during a halt")
    if given["id"] in books.granted:
        faults.append("has the id of another one")
    if given["granted"] != now or any(given["valid_until"] > now + terms["max_age"] for terms in wanted):
        faults.append("lasts longer than the contract allows, or began at another time")
    account = books.accounts.get(node["operation"]["key"])
    if account is not None and books.trials[account.latest].interaction in _RUNS:
        faults.append(f"was given while {account.latest} was under way")
    bindings = {(b["provider"], b["fingerprint"]): b["expires"] for b in node["operation"]["bindings"]}
    if not given["providers"]:
        faults.append("covers no provider")
    for provider, fingerprint, _ in given["providers"]:
        expires = bindings.get((provider, fingerprint))
        if expires is None or 0 <= expires <= now or provider in books.unavailable:
            faults.append(f"covers {provider}, which is not eligible")
    faults += _differences(books, node, given) + _who(books, wanted, given["by"])
    return [Violation("C25", f"{given['id']} {fault}") for fault in faults]


def check_withdrawn(books: Books, event: Json) -> list[Violation]:
    """C25: what is taken back was given, and is neither used nor taken back already."""
    granted = books.granted.get(event["approval"])
    if granted is None or granted.used or granted.withdrawn or not event["by"].strip():
        return [Violation("C25", f"{event['approval']} was taken back by {event['by']!r}: {granted}")]
    return []


def _differences(books: Books, node: Json, given: Json) -> list[str]:
    """What the next dispatch of the step would be, beside what the approval says."""
    operation = node["operation"]
    account = books.accounts.get(operation["key"])
    due = {
        "step": node["id"],
        "key": operation["key"],
        "fingerprint": operation["fingerprint"],
        "arguments": operation["arguments"],
        "number": 1 + (account.attempts if account is not None else 0),
    }
    return [
        f"is for {name} {given[name]}, not {value}" for name, value in due.items() if given[name] != value
    ]


def _who(books: Books, wanted: list[Json], by: str) -> list[str]:
    faults = [] if by.strip() else ["is by nobody"]
    faults += [
        f"is by {by}, not by {terms['by']}" for terms in wanted if terms["by"] and by not in terms["by"]
    ]
    if by.strip() and by.strip().lstrip("/") in {books.start.get("planner", ""), books.author}:
        faults.append(f"is by {by}, who planned it")
    return faults
