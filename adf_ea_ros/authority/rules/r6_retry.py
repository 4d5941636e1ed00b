"""Rules 5 and 6 for a pending operation: retry on qualified negative evidence, otherwise only observation.

Retry(o, S) iff  Pending(k(o), U_exec)
            and  NegQual(e, i) for every e in E(o)     where replay is when_absent
                 NegQual(e, i) for some e in E(o)      where replay is idempotent   (never: no)
                 an event of which a trace was ever seen is never absent
            and  the policy permits retry on an absent effect, or, where the provider differs, rebind: on an
                 unavailable provider where the earlier one is not eligible now, else on an absent effect
                 (both policies, where an alias repeats what another capability left unresolved)
            and  no attempt of k(o) could still take effect, and the negative samples are from after
                 the last moment at which the effect could have appeared          (ReplayOK)
            and  Adm(o, S) and b_r(k) >= 1 and b_p >= 1

Unknown, insufficient, stale or conflicting evidence satisfies none of this: observe or stop.
"""

from __future__ import annotations

from adf_ea_ros.authority.decision import Work
from adf_ea_ros.authority.model import (
    Attempt,
    Cause,
    Disposition,
    Effect,
    EffectKind,
    Node,
    Operation,
    Policy,
    Replay,
)
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.rules.eligibility import eligible
from adf_ea_ros.authority.state import current
from adf_ea_ros.evidence.aggregate import Conclusion, aggregate

_STRICTEST = (Replay.NEVER, Replay.WHEN_ABSENT, Replay.IDEMPOTENT)


def check(work: Work, node: Node, provider: str) -> list[Refusal]:
    """Every reason against repeating a pending operation; empty where the retry rule itself holds."""
    record = work.state.keys[node.operation.key]
    attempt = work.state.attempts[record.latest]
    operation = record.operation or node.operation
    policies = (operation.policy, node.operation.policy)
    replay = min((policy.replay for policy in policies), key=_STRICTEST.index)
    refusals = list(filter(None, [replay_safe(work, attempt, operation, replay)]))
    if refusals and refusals[0].code == "R6.no_qualified_negative":
        return refusals  # nothing else matters while the outcome is unknown
    refusals += filter(None, [_permitted(work, operation, policies, attempt, provider)])
    if record.retries < 1:
        refusals.append(refuse("R6.retry_budget"))
    return refusals


def replay_safe(work: Work, attempt: Attempt, operation: Operation, replay: Replay) -> Refusal | None:
    """ReplayOK together with the qualified negative evidence that it is about."""
    negatives = {e.id: _negative(work, attempt, e) for e in operation.effects}
    shown = {name: found for name, found in negatives.items() if found is not None}
    if not shown:
        return refuse(
            "R6.no_qualified_negative",
            f"attempt {attempt.id} is unresolved ({attempt.interaction.value}); observe it, or stop",
        )
    if replay is Replay.NEVER:
        return refuse("R6.replay_never")
    if attempt.could_take_effect(work.now):
        return refuse("R6.could_take_effect", f"attempt {attempt.id} could still take effect")
    if replay is Replay.WHEN_ABSENT and len(shown) < len(negatives):
        missing = ", ".join(sorted(set(negatives) - set(shown)))
        return refuse("R6.partial_effect", f"not shown to be absent: {missing}")
    if any(found.captured < attempt.absent_from() for found in shown.values()):
        return refuse("R6.negative_too_early")
    return None


def _negative(work: Work, attempt: Attempt, effect: Effect) -> Conclusion | None:
    """What shows the effect of this attempt to be absent now, if nothing known of it says otherwise."""
    names = {requirement.id for requirement in effect.requirements}
    if effect.kind is EffectKind.EVENT and not names.isdisjoint(attempt.supported):
        return None  # a trace of it was seen once: that the trace is gone does not undo what happened
    found = aggregate(
        f
        for f in attempt.findings
        if f.requirement in names and f.condition == effect.condition and current(f, work.now)
    )
    return found if found.negative and found.basis else None


def _permitted(
    work: Work, operation: Operation, policies: tuple[Policy, ...], attempt: Attempt, provider: str
) -> Refusal | None:
    if provider == attempt.provider:
        if all(policy.allows(Cause.EFFECT_ABSENT, Disposition.RETRY) for policy in policies):
            return None
        return refuse("R6.not_permitted")
    code = "R6.rebind_not_permitted"
    return rebind(work, operation, policies, attempt.provider, provider, Cause.EFFECT_ABSENT, code)


def rebind(
    work: Work,
    operation: Operation,
    policies: tuple[Policy, ...],
    previous: str,
    provider: str,
    cause: Cause,
    code: str,
) -> Refusal | None:
    """Whether an operation may move to another provider: all policies and the old binding must say so.

    ``operation`` is what the earlier attempt was dispatched as, to ``previous``. Where that provider may not
    be used now, that is what interrupts, and block R is asked about that instead of ``cause``.
    """
    bound = operation.binding(previous)
    if bound is not None and eligible(work, bound) is not None:
        cause = Cause.PROVIDER_UNAVAILABLE
    listed = bound is not None and provider in bound.rebind_to
    if listed and all(policy.allows(cause, Disposition.REBIND) for policy in policies):
        return None
    return refuse(code, f"{previous} may not be replaced by {provider} here")
