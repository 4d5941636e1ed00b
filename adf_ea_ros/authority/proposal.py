"""D as a graph: what a proposal's nodes need, and which preconditions their effects serve."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from immutables import Map

from adf_ea_ros.authority.model import Node
from adf_ea_ros.authority.state import Proposal


def build_proposal(nodes: tuple[Node, ...], revision: int, author: str = "") -> Proposal:
    """The proposal of these nodes, with stated and linked dependencies.

    A node needs what it names under ``after`` and every ancestor whose effect implies one of its
    preconditions: an intended effect supports a planned dependency (section 3.1), and a lost one is then
    a need for repair. Only validated nodes belong here (rule 1).
    """
    by_id = {node.id: node for node in nodes}
    producers = effects_by_fact(nodes)
    needs: dict[str, tuple[str, ...]] = {}
    links: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    reach = ancestors(nodes)
    for node in nodes:
        wanted = set(node.after)
        for pre in node.operation.preconditions:
            for producer, effect in producers.get(pre.condition.fact, ()):
                if producer in reach[node.id] and by_id[producer].operation.effects[effect].condition.implies(
                    pre.condition
                ):
                    wanted.add(producer)
                    links[by_id[producer].operation.key].append((node.id, pre.id))
        needs[node.id] = tuple(sorted(wanted))
    return Proposal(
        revision=revision,
        author=author,
        nodes=Map(by_id),
        needs=Map(needs),
        links=Map({key: tuple(dict.fromkeys(serves)) for key, serves in links.items()}),
    )


def effects_by_fact(nodes: Iterable[Node]) -> dict[tuple[str, str], list[tuple[str, int]]]:
    """For each fact, the nodes (and index of the effect) that set it."""
    found: defaultdict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for node in nodes:
        for index, effect in enumerate(node.operation.effects):
            found[effect.condition.fact].append((node.id, index))
    return found


def ancestors(nodes: tuple[Node, ...]) -> dict[str, frozenset[str]]:
    """All nodes that must come before each node. Needs an acyclic proposal (see ``topological``)."""
    after = {node.id: node.after for node in nodes}
    reach: dict[str, frozenset[str]] = {}
    for name in topological(nodes):
        direct = after[name]
        reach[name] = frozenset(direct).union(*(reach[parent] for parent in direct))
    return reach


def topological(nodes: tuple[Node, ...]) -> list[str]:
    """Node ids in dependency order; shorter than ``nodes`` where there is a cycle."""
    waiting = {node.id: len(set(node.after)) for node in nodes}
    followers: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        for parent in set(node.after):
            followers[parent].append(node.id)
    ready = [node.id for node in nodes if not waiting[node.id]]
    for name in ready:
        for follower in followers[name]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    return ready
