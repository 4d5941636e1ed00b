"""What the nodes offer, by name: for everything that must know it without running them.

All names are below the authority's own: ``/authority/admit``. ``nodes.frontdesk`` offers these services.
"""

from __future__ import annotations

PLANNER_SERVICES = (
    "list_capabilities",
    "start_episode",
    "get_episode",
    "revise_proposal",
    "observe",
    "claim_completion",
    "stop_episode",
    "advise",
)
CAPABILITY_SERVICES = ("admit", "admit_goal", "report", "list_attempts", "get_episode")
APPROVE = "approve"
"""The service by which people approve steps: for no planner."""
OPERATOR_SERVICES = (
    "list_capabilities",
    "get_episode",
    "stop_episode",
    "set_availability",
    "halt",
    "advise",
    APPROVE,
)
SERVICES = tuple(dict.fromkeys((*PLANNER_SERVICES, *CAPABILITY_SERVICES, *OPERATOR_SERVICES)))
"""Every service of an authority."""

DECISIONS, EPISODES = "decisions", "episodes"
DIAGNOSTICS = "/diagnostics"
INSTANCES = "execute/_instances"
"""Where capability nodes tell of themselves while they see another one for a provider of theirs."""
