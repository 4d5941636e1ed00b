"""Names by which the nodes find each other.

An authority's services and topics are under its own name: ``/authority/start_episode``. A capability node
offers, for each provider that it wraps, one action of type ``Execute`` named ``execute/<provider>``:
relative, so that it moves with the namespace of the robot.
"""

from __future__ import annotations

from adf_ea_ros.runtime.surface import INSTANCES

__all__ = ["AUTHORITY", "INSTANCES", "action_remappings", "execute_action"]

AUTHORITY = "/authority"
"""Full name of the authority node where nothing else is said."""


def execute_action(provider: str, namespace: str = "") -> str:
    """The full name of a provider's action; ``namespace`` is that of the capability node."""
    return f"{namespace.rstrip('/')}/execute/{provider}"


def action_remappings(old: str, new: str) -> list[tuple[str, str]]:
    """Remappings for ``Node(remappings=...)`` in a launch file that give an action another name.

    Up to Jazzy a remapping of the action's own name does nothing: its services and topics have to be remapped
    one by one, which works in every distribution.
    """
    parts = ("send_goal", "cancel_goal", "get_result", "feedback", "status")
    return [(f"{old}/_action/{part}", f"{new}/_action/{part}") for part in parts]
