"""Qualification: what the observations at hand show about one requirement at one horizon.

Sections 3.2, 3.4, 3.6, B.2 and B.3 of the ADF-EA paper; the exact definitions are in ``doc/evidence.md``.
Everything is passed in: the same arguments give the same answer, in whatever order the samples come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.eligibility import Refused, Screened, inconsistency, screen
from adf_ea_ros.evidence.types import Context, Finding, Gap, Observation, Requirement, Verdict
from adf_ea_ros.evidence.windows import Candidate, shortage, windows


class Qualification(msgspec.Struct, frozen=True):
    """A finding, and everything that led to it."""

    finding: Finding
    used: tuple[Observation, ...] = ()  # the samples that the verdict rests on, newest first
    refused: tuple[Refused, ...] = ()
    gaps: tuple[Gap, ...] = ()  # of the requirement's routes, within the period that was asked about

    @property
    def verdict(self) -> Verdict:
        """The finding's verdict."""
        return self.finding.verdict

    def explain(self) -> str:
        """The verdict in words: for a log, a terminal, an operator."""
        finding = self.finding
        lines = [
            f"{finding.requirement}: {finding.condition} is {finding.verdict.value} at {finding.horizon} ns"
        ]
        if finding.integrity:
            lines.append(f"  integrity failure: {finding.integrity}")
        if finding.negative:
            lines.append("  qualified negative evidence: the effect is absent")
        lines += [f"  {code}: {reasons.SENTENCES[code]}" for code in finding.reasons]
        lines += [f"  used {_words(sample)}" for sample in self.used]
        lines += [f"  refused {_words(refused.observation)}: {refused.code}" for refused in self.refused]
        lines += [f"  gap {gap.start}..{gap.end} on {gap.route}: {gap.reason}" for gap in self.gaps]
        return "\n".join(lines)


def qualify(
    requirement: Requirement,
    context: Context,
    samples: Sequence[Observation],
    gaps: Iterable[Gap],
    now: Ns,
    *,
    notes: Collection[str] = (),
) -> Qualification:
    """Judge ``requirement`` on ``samples`` at the horizon ``now``.

    ``notes`` are reason codes from before the samples got here (a buffer that refused some, for instance);
    they are repeated in the finding and change nothing. Integrity failures are answered with verdict
    UNKNOWN and a non-empty ``finding.integrity``: nothing is ever granted on them.
    """
    period = tuple(gap for gap in gaps if _concerns(gap, requirement, context, now))
    fault = inconsistency(requirement, context)
    if fault:
        return _integrity(requirement, fault, now, (), period)
    screened = screen(requirement, context, samples, period, now)
    if screened.integrity:
        return _integrity(requirement, screened.integrity, now, tuple(screened.refused), period)
    decision = _decide(requirement, context, screened, period, now)
    support = sum([candidate[2] for candidate in screened.eligible])
    captured = decision.window[-1][0] if decision.window else -1
    finding = Finding(
        requirement=requirement.id,
        condition=requirement.condition,
        verdict=decision.verdict,
        horizon=now,
        negative=decision.negative,
        captured=captured,
        valid_until=captured + requirement.max_age if decision.window else -1,
        basis=tuple([candidate[1] for candidate in decision.window]),
        reasons=_reasons(decision, screened, period, notes),
        support=support,
        against=len(screened.eligible) - support,
    )
    used = tuple([candidate[3] for candidate in decision.window])
    return Qualification(finding, used, tuple(screened.refused), period)


class _Decision(msgspec.Struct):
    verdict: Verdict
    codes: list[str]
    window: list[Candidate] = []
    negative: bool = False


def _decide(
    requirement: Requirement, context: Context, screened: Screened, gaps: tuple[Gap, ...], now: Ns
) -> _Decision:
    """The verdict of the strongest evidence that forms a window: STRONGEST_FRESH_EVIDENCE_FAIL_CLOSED
    (appendix D).

    The strongest samples are tried alone; where they form no window, those of the next lower grade join them.
    """
    eligible = screened.eligible
    for tier in _tiers(eligible):
        decision = _judge(requirement, tier)
        if decision is None:
            continue
        if len(tier) < len(eligible) and decision.verdict is not Verdict.UNKNOWN:
            holds = decision.verdict is Verdict.SATISFIED
            if any(candidate[2] is not holds for candidate in eligible):
                decision.codes.append(reasons.OUTRANKED)
        return _negative(requirement, context, eligible, decision)
    if screened.mismatched:
        both = sorted(eligible + screened.mismatched, reverse=True)
        window = next(windows(both, requirement), None)
        if window is not None:
            return _Decision(Verdict.UNSATISFIED, [reasons.MISMATCH], window)
    if any(gap.unknown for gap in gaps) or context.after > now:
        code = reasons.CLOCK if context.after > now else reasons.GAP
        return _Decision(Verdict.UNKNOWN, [code, shortage(eligible, requirement)])
    return _Decision(Verdict.INSUFFICIENT_EVIDENCE, [shortage(eligible, requirement)])


def _tiers(eligible: list[Candidate]) -> Iterator[list[Candidate]]:
    """The strongest candidates alone, then with those of the next lower grade, and so on to all of them."""
    strengths = [candidate[3].grade for candidate in eligible]
    if not strengths or min(strengths) == max(strengths):
        yield eligible
        return
    for grade in sorted(set(strengths), reverse=True):
        yield [candidate for candidate in eligible if candidate[3].grade >= grade]


def _judge(requirement: Requirement, tier: list[Candidate]) -> _Decision | None:
    """The verdict on candidates of one strength; nothing where they form no window.

    A window is true where the condition is true of all its samples. A contradicting sample that no window
    holds (a hole in the cadence separates it) still keeps the verdict from being SATISFIED: it is a
    conflict.
    """
    true: list[Candidate] | None = None
    false: list[Candidate] | None = None
    support = sum([candidate[2] for candidate in tier])
    unanimous = support in {0, len(tier)}
    for window in windows(tier, requirement):
        if support == len(tier) or all(candidate[2] for candidate in window):
            true = true or window
        else:
            false = false or window
        if unanimous or (true and false):
            break
    if true is not None:
        if unanimous:
            return _Decision(Verdict.SATISFIED, [], true)
        against = false or [next(candidate for candidate in tier if not candidate[2])]
        return _Decision(Verdict.UNKNOWN, [reasons.CONFLICT], _merge(true, against))
    if false is not None:
        return _Decision(Verdict.UNSATISFIED, [] if unanimous else [reasons.MIXED], false)
    return None


def _negative(
    requirement: Requirement, context: Context, eligible: list[Candidate], decision: _Decision
) -> _Decision:
    """Mark qualified negative evidence (section B.3), a check of its own: never inferred from a failed
    verdict.

    A whole window of samples contradicts the condition, each captured when the effect could no longer be
    under way, and no eligible sample of any grade supports it.
    """
    if decision.verdict is not Verdict.UNSATISFIED or any(candidate[2] for candidate in eligible):
        return decision
    late = [candidate for candidate in eligible if candidate[0] > context.settled]
    window = next(windows(late, requirement), None)
    if window is None:
        decision.codes.append(reasons.EARLY)
        return decision
    return _Decision(decision.verdict, decision.codes, window, negative=True)


def _merge(left: list[Candidate], right: list[Candidate]) -> list[Candidate]:
    """Both windows, each sample once, newest first."""
    return sorted({candidate[1]: candidate for candidate in [*left, *right]}.values(), reverse=True)


def _concerns(gap: Gap, requirement: Requirement, context: Context, now: Ns) -> bool:
    """Whether the gap lies, at least in part, in the time from which samples could be eligible."""
    since = max(context.after, now - requirement.max_age)
    return gap.route in requirement.routes and gap.start <= now and gap.end >= since


def _reasons(
    decision: _Decision, screened: Screened, gaps: tuple[Gap, ...], notes: Collection[str]
) -> tuple[str, ...]:
    """The decision's own codes first; then, unless it is SATISFIED, what kept other samples from counting."""
    codes = list(decision.codes)
    if decision.verdict is Verdict.SATISFIED:
        return (*codes, reasons.CAP) if reasons.CAP in notes else tuple(codes)
    codes += sorted({refused.code for refused in screened.refused})
    named = {gap.reason.partition(":")[0] for gap in gaps}
    codes += sorted(code for code in named if code in reasons.SENTENCES)
    return tuple(dict.fromkeys([*codes, *notes]))


def _integrity(
    requirement: Requirement, fault: str, now: Ns, refused: tuple[Refused, ...], gaps: tuple[Gap, ...]
) -> Qualification:
    code = fault.partition(":")[0]
    finding = Finding(
        requirement=requirement.id,
        condition=requirement.condition,
        verdict=Verdict.UNKNOWN,
        horizon=now,
        reasons=(code,),
        integrity=fault,
    )
    return Qualification(finding, (), refused, gaps)


def _words(sample: Observation) -> str:
    return f"{sample.id} ({sample.value!r} from {sample.source}, captured {sample.stamp} ns)"
