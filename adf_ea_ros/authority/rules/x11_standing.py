"""Standing tasks: what the rules mean for goals of clients that know no episode.

X11 Standing: each admitted goal is an obligation of its own, owed until evidence resolves its outcome.
    R1: an occurrence of an operation that causes an event needs no declaration: each goal asks for one.
        It is no way around doubt, since X6 keeps two occurrences of one event apart.
    R7, R8: Link(o, a) gains the states in E(o): what a goal asks for is what comes next.
    X6: Spent(i, t) iff E(o) holds no event, i cannot take effect any more, and each effect that i still owes
        was shown absent after the last moment at which it could have appeared.
        A spent attempt is in no other operation's way. For its own key it stays unresolved (R6).
    R9: it is never complete. A long episode with nothing open gives way to an heir (see ``x11_heir``).
"""

from __future__ import annotations

from adf_ea_ros.authority.model import Attempt, EffectKind, Node, Operation
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Condition, Ns
from adf_ea_ros.evidence.aggregate import aggregate


def undeclared(state: State, operation: Operation) -> bool:
    """Whether an occurrence of this operation needs no declaration by the task."""
    return state.standing and any(effect.kind is EffectKind.EVENT for effect in operation.effects)


def wanted(state: State, node: Node) -> list[tuple[str, Condition]]:
    """The states that a goal asks for, each with the requirement under which it is judged."""
    if not state.standing:
        return []
    return [
        (requirement.id, effect.condition)
        for effect in node.operation.effects
        if effect.kind is EffectKind.STATE
        for requirement in effect.requirements
    ]


def spent(state: State, attempt: Attempt, now: Ns) -> bool:
    """Spent(i, t): what it owes is known not to have come about, and cannot come any more.

    Such knowledge does not grow old: what happens to the fact later is not this attempt's doing.
    """
    record = state.keys.get(attempt.key)
    operation = record.operation if record is not None else None
    owed = state.execution.get(attempt.id)
    if not state.standing or operation is None or owed is None or attempt.could_take_effect(now):
        return False
    return all(
        effect.kind is EffectKind.STATE
        and (effect.id not in owed.effects or _shown_absent(attempt, effect.condition))
        for effect in operation.effects
    )


def _shown_absent(attempt: Attempt, condition: Condition) -> bool:
    found = aggregate(finding for finding in attempt.findings if finding.condition == condition)
    return found.negative and bool(found.basis) and found.captured >= attempt.absent_from()
