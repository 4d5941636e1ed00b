"""What a person who takes over has to know (section 4.4). Nothing private: it follows from the belief."""

from __future__ import annotations

import msgspec

from adf_ea_ros.recovery.admit import permitted
from adf_ea_ros.recovery.belief import Belief
from adf_ea_ros.recovery.model import HAND_OVER
from adf_ea_ros.recovery.world import NEVER, Frame


class Handoff(msgspec.Struct, frozen=True):
    """Bound requests, known effects, open alternatives, what is owed, what may be done next, what it took."""

    requests: tuple[tuple[str, str], ...]  # operation, and the key or name that its requests are bound to
    known: tuple[str, ...]
    open: tuple[str, ...]
    owed: tuple[str, ...]
    next: tuple[str, ...]
    spent: tuple[tuple[str, int], ...]


def handoff(frame: Frame, belief: Belief) -> Handoff:
    """The record at a belief. What may be done next is what the common check permits."""
    known, unclear, owed = [], [], []
    for i, op in enumerate(frame.operations):
        amounts = sorted({world.things[i].amount for world, _ in belief.members})
        later = sorted({frame.settled(world).things[i].amount for world, _ in belief.members})
        unknown = any(e.at == NEVER for world, _ in belief.members for e in world.things[i].pending)
        if len(amounts) == 1:
            known.append(f"{op.id}: {_amount(amounts[0])}")
        else:
            unclear.append(f"{op.id}: {' or '.join(_amount(a) for a in amounts)}")
        if later != amounts:
            unclear.append(f"{op.id}: {' or '.join(_amount(a) for a in later)} once all is over")
        if unknown:
            unclear.append(f"{op.id}: a request may still take effect, and nobody knows when")
        if amounts != [op.goal] or later != [op.goal] or unknown:
            owed.append(f"{op.id}: {_amount(op.goal)}")
    still = belief._replace(handed_over=False)
    names = (action.name(frame.task) for action in permitted(frame, still) if action != HAND_OVER)
    return Handoff(
        tuple((op.id, op.key or op.id) for op in frame.operations),
        tuple(known),
        tuple(unclear),
        tuple(owed),
        tuple(names),
        (("fees", belief.fees), ("actions", belief.actions), ("time", belief.time)),
    )


def _amount(amount: int) -> str:
    return {0: "absent", 1: "there"}.get(amount, f"there {amount} times")
