"""The admitted proposal as a graph: which steps depend on an operation, and which of them come next."""

from __future__ import annotations

from studies.checker.books import Books, finding_name, negative
from studies.checker.conditions import Json, implies

Link = tuple[str, Json]  # requirement id, condition


def ancestors(books: Books, name: str) -> set[str]:
    """All steps that come before a step."""
    seen: set[str] = set()
    ahead = list(books.nodes[name]["after"])
    while ahead:
        one = ahead.pop()
        if one not in seen and one in books.nodes:
            seen.add(one)
            ahead += books.nodes[one]["after"]
    return seen


def producers(books: Books, name: str, pre: Json) -> list[Json]:
    """The steps before ``name`` that intend its precondition ``pre``."""
    before = [books.nodes[other] for other in sorted(ancestors(books, name))]
    return [
        node
        for node in before
        if any(implies(e["condition"], pre["condition"]) for e in node["operation"]["effects"])
    ]


def served(books: Books, key: str) -> list[tuple[Json, Json]]:
    """(step, precondition) pairs that the operation of ``key`` provides for."""
    return [
        (node, pre)
        for name, node in books.nodes.items()
        for pre in node["operation"]["preconditions"]
        if any(producer["operation"]["key"] == key for producer in producers(books, name, pre))
    ]


def done(books: Books, node: Json) -> bool:
    """Established, with no later attempt in doubt."""
    operation = node["operation"]
    return operation["key"] in books.accounts and books.established_now(operation["key"], operation)


def needed_steps(books: Books, key: str, condition: Json) -> list[str]:
    """The steps ahead that need ``condition`` from the operation of ``key``."""
    return [
        node["id"]
        for node, pre in served(books, key)
        if implies(condition, pre["condition"]) and not done(books, node)
    ]


def next_links(books: Books, key: str, now: int, seen: frozenset[str] = frozenset()) -> list[Link]:
    """Link(o, a) for every next action a: a due step, a due retry, a due repair, or the claim itself."""
    found: list[Link] = []
    for node, pre in served(books, key):
        if _due(books, node, now, seen | {key}):
            found.append((pre["requirement"]["id"], pre["condition"]))
    if not books.unsettled() and all(done(books, n) or _established(books, n) for n in books.nodes.values()):
        found += [
            (requirement["id"], goal["condition"])
            for goal in books.goals
            if goal["kind"] == "state" and goal["key"] == key
            for requirement in goal["requirements"]
        ]
    return found


def _established(books: Books, node: Json) -> bool:
    operation = node["operation"]
    return books.established(operation["key"], operation)


def _due(books: Books, node: Json, now: int, seen: frozenset[str]) -> bool:
    operation = node["operation"]
    key = operation["key"]
    if key in seen:
        return False
    pending = books.pending(key)
    if pending is not None:
        known = dict(pending.findings)
        shown = [
            negative(known.get(finding_name(r["id"], e["condition"])), now)
            for e in pending.operation["effects"]
            for r in e["requirements"]
        ]
        return any(shown) and not pending.may_act(now)
    if _established(books, node):
        return any(negative(books.found(*link), now) for link in next_links(books, key, now, seen))
    return all(_established(books, books.nodes[name]) for name in _needs(books, node))


def _needs(books: Books, node: Json) -> set[str]:
    linked = {
        p["id"] for pre in node["operation"]["preconditions"] for p in producers(books, node["id"], pre)
    }
    return set(node["after"]) | linked
