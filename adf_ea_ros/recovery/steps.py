"""One step of an episode: what may have become of it, by what its provider promises.

step                                   alternatives                                   more writes
verified by live evidence              left out: it is met                            none
attempt unresolved, shown absent       no effect                                      retries left
attempt unresolved, cannot take        took effect (which shows by then), no effect   retries left
  effect any more
attempt unresolved, commit bound       took effect, takes effect at the bound, none   retries left
attempt unresolved, no bound           took effect, an effect of unknown time, none   none
established, now unknown               holds, lost                                    1, where repair is
established, lost                      lost                                           1    permitted
never attempted                        none yet                                       1 + retries
"""

from __future__ import annotations

import msgspec

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import (
    Attempt,
    Binding,
    Cause,
    Disposition,
    EffectKind,
    Interaction,
    Node,
    Operation,
    Policy,
    Promises,
    Replay,
)
from adf_ea_ros.authority.rules.coverage import covered
from adf_ea_ros.authority.rules.eligibility import eligible
from adf_ea_ros.authority.rules.r6_retry import replay_safe
from adf_ea_ros.authority.state import current
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.recovery.model import Alternative, Past


class Moment(msgspec.Struct, frozen=True):
    """Something that time alone brings, and how long it takes until then."""

    wait: Ns
    why: str


class Part(msgspec.Struct, frozen=True):
    """One step on its way into the model."""

    node: Node
    alternatives: tuple[Alternative, ...]
    attempts: int
    duration: Ns
    open: str = ""
    moments: tuple[Moment, ...] = ()
    urgent: bool = False


def part_of(work: Work, node: Node) -> Part | None:
    """What may be the case with a step; nothing where it is met."""
    state, operation = work.state, node.operation
    usable = [b for b in operation.bindings if eligible(work, b) is None]
    able = bool(usable) and not state.halted
    duration = _duration(usable[0]) if usable else 0
    pending = state.pending(operation.key)
    if pending is not None:
        return _unresolved(work, node, state.attempts[pending.attempt], able, duration)
    if state.established(operation.key):
        return _established(work, node, able, duration)
    goals = state.goals_by_key.get(operation.key, ())
    if goals and all(covered(work, goal) for goal in goals):
        return None  # by what the task trusts initially
    blocked = not able or _precondition_false(work, node)
    again = (
        operation.policy.retry_limit if usable and _repeatable(operation.policy, usable[0].promises) else 0
    )
    return Part(node, (Alternative("none"),), 0 if blocked else 1 + again, duration)


def _unresolved(work: Work, node: Node, attempt: Attempt, able: bool, duration: Ns) -> Part:
    state, now = work.state, work.now
    record = state.keys[node.operation.key]
    operation = record.operation or node.operation
    known_end = attempt.over or attempt.promises.commit_bound >= 0 or attempt.promises.final_on_result
    policies = (operation.policy, node.operation.policy)
    may = able and known_end and all(_repeatable(policy, attempt.promises) for policy in policies)
    safe = may and replay_safe(work, attempt, operation, strictest(policies)) is None
    absent = safe or _shown_absent(attempt, operation, now)
    alternatives, moments = _outcomes(attempt, now, absent=absent)
    words = {
        "took": "it took effect",
        "later": "it may still take effect",
        "unknown": "it may take effect at any time",
        "none": "it has no effect",
    }
    said = " or ".join(words[one.id] for one in alternatives)
    about = f"attempt {attempt.id} on {attempt.provider} ({attempt.interaction.value.lower()}): {said}"
    return Part(node, alternatives, record.retries if may else 0, duration, about, moments, urgent=True)


def strictest(policies: tuple[Policy, ...]) -> Replay:
    """The replay permission that all of them give (as rule R6 takes it)."""
    given = {policy.replay for policy in policies}
    return next(one for one in (Replay.NEVER, Replay.WHEN_ABSENT, Replay.IDEMPOTENT) if one in given)


def _outcomes(
    attempt: Attempt, now: Ns, *, absent: bool
) -> tuple[tuple[Alternative, ...], tuple[Moment, ...]]:
    """What may have become of an unresolved attempt, and what time alone will bring."""
    none = Alternative("none")
    promises = attempt.promises
    if not attempt.could_take_effect(now):
        if absent:
            return (none,), ()
        hidden = max(0, attempt.absent_from() - now)
        took = Alternative("took", past=(Past(0),), visible_after=hidden)
        why = f"until then the effect of attempt {attempt.id} may not show yet"
        return (took, none), (Moment(hidden, why),) if hidden else ()
    took = Alternative("took", past=(Past(0),))
    if promises.commit_bound >= 0:
        end = attempt.dispatched + promises.commit_bound - now
        later = Alternative("later", past=(Past(end),), visible_after=promises.visibility_delay)
        why = f"until then attempt {attempt.id} may still take effect"
        moments = [Moment(end, why)]
        if promises.visibility_delay:
            shows = f"until then the effect of attempt {attempt.id} may not show yet"
            moments.append(Moment(end + promises.visibility_delay, shows))
        return (took, later, none), tuple(moments)
    unknown = Alternative("unknown", past=(Past(None),))
    left = attempt.deadline - now
    if left > 0 and attempt.interaction in (Interaction.DISPATCHED, Interaction.ACCEPTED):
        why = f"the answer to attempt {attempt.id} is expected by then"
        later = Alternative("later", past=(Past(left),))
        return (took, later, unknown, none), (Moment(left, why),)
    return (took, unknown, none), ()


def _established(work: Work, node: Node, able: bool, duration: Ns) -> Part | None:
    """A step that was verified once: met still, lost, or not known now; only where it is needed again."""
    state, operation = work.state, node.operation
    if state.verified(operation.key, work.now) or not _needed(work, node):
        return None
    owed = {state.certificates[one.certificate].key for one in state.owed.values()}
    lost = operation.key in owed or any(
        found is not None and found.negative
        for effect in operation.effects
        for found in (work.finding(r.id, effect.condition) for r in effect.requirements)
    )
    repair = operation.policy.allows(Cause.STATE_LOST, Disposition.REPAIR) and not any(
        effect.kind is EffectKind.EVENT for effect in operation.effects
    )
    gone, holds = Alternative("lost"), Alternative("holds", past=(Past(0),))
    said = "what it established was lost" if lost else "whether what it established still holds is not known"
    alternatives = (gone,) if lost else (holds, gone)
    return Part(node, alternatives, int(able and repair), duration, said, urgent=True)


def _needed(work: Work, node: Node) -> bool:
    state, key = work.state, node.operation.key
    if state.standing:
        return True  # each goal asks for its own states (X11)
    later = (state.proposal.nodes[name] for name, _ in state.proposal.links.get(key, ()))
    if any(not state.established(one.operation.key) for one in later):
        return True
    if any(
        node.id in state.proposal.needs.get(other.id, ()) and not state.established(other.operation.key)
        for other in state.proposal.nodes.values()
    ):
        return True
    return any(not covered(work, goal) for goal in state.goals_by_key.get(key, ()))


def _shown_absent(attempt: Attempt, operation: Operation, now: Ns) -> bool:
    """Whether each effect is qualified as absent, from late enough (as rule R6 asks for it)."""
    negative = {
        f.requirement
        for f in attempt.findings
        if f.negative and current(f, now) and f.captured >= attempt.absent_from()
    }
    return all(any(r.id in negative for r in effect.requirements) for effect in operation.effects)


def _precondition_false(work: Work, node: Node) -> bool:
    """Whether something is false that no step ahead is to bring about."""
    state = work.state
    ahead = any(
        not state.verified(state.proposal.nodes[name].operation.key, work.now)
        for name in state.proposal.needs.get(node.id, ())
    )
    found = (work.finding(pre.requirement.id, pre.condition) for pre in node.operation.preconditions)
    return not ahead and any(one is not None and one.negative for one in found)


def _repeatable(policy: Policy, promises: Promises) -> bool:
    """Whether the contract lets an attempt be repeated, and the provider lets its end be known at all."""
    ends = promises.final_on_result or promises.commit_bound >= 0
    permitted = policy.allows(Cause.EFFECT_ABSENT, Disposition.RETRY) or policy.allows(
        Cause.EFFECT_ABSENT, Disposition.REBIND
    )
    return ends and permitted and policy.replay is not Replay.NEVER


def _duration(binding: Binding) -> Ns:
    """How long it takes until a dispatch is known to have had its effect or not."""
    promises = binding.promises
    if promises.commit_bound >= 0:
        return promises.commit_bound + promises.visibility_delay
    return binding.deadline + promises.visibility_delay
