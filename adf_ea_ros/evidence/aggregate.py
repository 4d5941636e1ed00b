"""From the findings on single requirements to a conclusion about an effect, and about a step (section B.2).

Confirmed only where there is at least one finding and every one is SATISFIED; otherwise UNSATISFIED goes
before UNKNOWN, and UNKNOWN before INSUFFICIENT_EVIDENCE. An integrity failure anywhere grants nothing at
all.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.types import Finding, Verdict

_ORDER = (Verdict.UNSATISFIED, Verdict.UNKNOWN, Verdict.INSUFFICIENT_EVIDENCE)


class Conclusion(msgspec.Struct, frozen=True):
    """What several findings show together."""

    verdict: Verdict
    negative: bool = False  # qualified negative evidence
    captured: Ns = -1  # of the oldest sample that a confirmation or a negation rests on
    valid_until: Ns = -1  # until when all of that stays fresh
    basis: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    integrity: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether a certificate may be made of it."""
        return self.verdict is Verdict.SATISFIED and bool(self.basis) and not self.integrity


def aggregate(findings: Iterable[Finding]) -> Conclusion:
    """The conclusion on one effect from the findings on all its requirements.

    It is negative where at least one requirement has qualified negative evidence, and nothing seen for any
    of the others speaks for the effect: no supporting sample, no conflict.
    """
    findings = tuple(findings)
    broken = next((finding.integrity for finding in findings if finding.integrity), "")
    codes = tuple(dict.fromkeys(code for finding in findings for code in finding.reasons))
    if broken:
        return Conclusion(Verdict.UNKNOWN, reasons=codes, integrity=broken)
    if not findings:
        return Conclusion(Verdict.INSUFFICIENT_EVIDENCE, reasons=(reasons.NONE,))
    verdict = _worst(finding.verdict for finding in findings)
    contradicting = [finding for finding in findings if finding.negative]
    negative = bool(contradicting) and not any(
        finding.support or finding.verdict in (Verdict.SATISFIED, Verdict.UNKNOWN) for finding in findings
    )
    return _conclude(verdict, negative, findings if verdict is Verdict.SATISFIED else contradicting, codes)


def aggregate_step(effects: Iterable[Conclusion]) -> Conclusion:
    """The conclusion on a step from the conclusions on all its effects.

    It is negative only where every effect is: a step of which one effect is absent and another unclear has
    not been shown to have done nothing.
    """
    effects = tuple(effects)
    broken = next((effect.integrity for effect in effects if effect.integrity), "")
    codes = tuple(dict.fromkeys(code for effect in effects for code in effect.reasons))
    if broken:
        return Conclusion(Verdict.UNKNOWN, reasons=codes, integrity=broken)
    if not effects:
        return Conclusion(Verdict.INSUFFICIENT_EVIDENCE, reasons=(reasons.NONE,))
    verdict = _worst(effect.verdict for effect in effects)
    negative = all(effect.negative for effect in effects)
    return _conclude(verdict, negative, effects if negative or verdict is Verdict.SATISFIED else (), codes)


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    present = set(verdicts)
    return next((verdict for verdict in _ORDER if verdict in present), Verdict.SATISFIED)


def _conclude(
    verdict: Verdict, negative: bool, parts: Iterable[Finding | Conclusion], codes: tuple[str, ...]
) -> Conclusion:
    """Put together what the confirming or negating ``parts`` rest on."""
    parts = tuple(parts)
    if not parts or not (negative or verdict is Verdict.SATISFIED):
        return Conclusion(verdict, reasons=codes)
    return Conclusion(
        verdict,
        negative,
        captured=min(part.captured for part in parts),
        valid_until=min(part.valid_until for part in parts),
        basis=tuple(dict.fromkeys(name for part in parts for name in part.basis)),
        reasons=codes,
    )
