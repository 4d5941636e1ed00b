"""A binding against the live graph: is there still the interface that was bound, of that type and hash.

What the graph shows comes in as values; no ROS here. Drift stops new dispatches at once (DESIGN section 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adf_ea_ros.contracts.model import Route, Tool


class LiveInterface(msgspec.Struct, frozen=True):
    """One endpoint as the graph shows it: the full name of the node that owns it, type, and hash if known."""

    node: str
    type: str
    type_hash: str = ""


def tool_drift(tool: Tool, node: str, live: Sequence[LiveInterface]) -> str:
    """Why the tool may not be dispatched to, in a sentence, or nothing.

    ``live`` are the servers (of a command topic: the subscriptions) of the tool's name; ``node`` is the
    provider's.
    Several servers of one name are a reason too: nobody could say which of them acted.
    """
    return _drift("tool", tool.name, tool.type, tool.type_hash, node, live, single=tool.kind != "topic")


def route_drift(route: Route, node: str, live: Sequence[LiveInterface]) -> str:
    """Why the readback may not be used, in a sentence, or nothing. ``live`` are the publishers of its
    topic."""
    return _drift("readback", route.topic, route.type, route.type_hash, node, live, single=False)


def _drift(
    what: str,
    name: str,
    type_name: str,
    type_hash: str,
    node: str,
    live: Sequence[LiveInterface],
    *,
    single: bool,
) -> str:
    own = [endpoint for endpoint in live if endpoint.node == node]
    if not own:
        others = ", ".join(sorted({endpoint.node for endpoint in live}))
        return f"{what} {name}: {node} does not offer it" + (f", but {others} does" if others else "")
    if single and len(live) > 1:
        return f"{what} {name}: offered {len(live)} times, so nobody can say which of them would act"
    for endpoint in own:
        if endpoint.type != type_name:
            return f"{what} {name}: is of type {endpoint.type}, bound as {type_name}"
        if type_hash and endpoint.type_hash and endpoint.type_hash != type_hash:
            return (
                f"{what} {name}: {type_name} has another definition (hash {endpoint.type_hash}) than "
                "was bound"
            )
        if type_hash and not endpoint.type_hash:
            return (
                f"{what} {name}: the graph shows no type hash, so the bound one cannot be confirmed "
                "(or remove type_hash)"
            )
    return ""
