"""The ROS side of ``adf-ea approve``: asks once, says what was answered."""

from __future__ import annotations

import sys

from adf_ea_ros.cli.watch_view import clock
from adf_ea_ros.nodes.client import Planner, PlannerError
from adf_ea_ros.nodes.support import from_msg

NAME = "operator"
"""Of the node: to operators alone ``adf-ea policy`` gives the approve service."""


def run(
    episode: str,
    step: str,
    *,
    by: str,
    reason: str = "",
    valid_for: float = 0.0,
    withdraw: bool = False,
    authority: str = "/authority",
) -> int:
    """Approve, or withdraw; gives the exit code: 0 done, 1 refused, 2 no answer."""
    try:
        with Planner(NAME, authority=authority) as client:
            if withdraw:
                answer = client.withdraw(step, by, reason, episode=episode)
            else:
                answer = client.approve(step, by, reason, valid_for=valid_for, episode=episode)
            shown = client.episode(episode) if answer.decision.authorized else None
    except PlannerError as error:
        print(f"adf-ea: {error}", file=sys.stderr)
        return 2
    decision = answer.decision
    if not decision.authorized:
        print(f"refused: {decision.sentence} [{', '.join(decision.reasons)}]")
        return 1
    given = next((a for a in shown.approvals if a.id == answer.approval), None) if shown is not None else None
    until = f"; good until {clock(from_msg(given.valid_until))}" if given is not None and not withdraw else ""
    print(f"{answer.approval}: {decision.sentence}{until}")
    return 0
