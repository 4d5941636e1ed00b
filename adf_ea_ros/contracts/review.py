"""Whether a contract that began as a draft has every decision and attestation that it needs (section 3.2).

This checks that the review is complete and that the content is still the reviewed one. It does not check who
the
reviewer is, or that they are right.
"""

from __future__ import annotations

from collections.abc import Iterator

from adf_ea_ros.contracts.canonical import fingerprint
from adf_ea_ros.contracts.faults import Loc
from adf_ea_ros.contracts.model import AnyContract, CapabilityContract, Lifecycle, ProviderContract

_CAPABILITY = (("effects", "evidence", "interruption"), ("effects_are_physical",))
_ACTING = (("binding", "promises"), ("node_is_the_actuator",))
_OBSERVING = (("routes",), ("source_is_what_it_says",))
_NONE: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def required(contract: AnyContract) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The decisions and the attestations that a drafted contract needs before it may be active."""
    if isinstance(contract, CapabilityContract):
        return _CAPABILITY
    if isinstance(contract, ProviderContract):
        return _ACTING if contract.tool is not None else _OBSERVING
    return _NONE


def review_faults(contract: AnyContract) -> Iterator[tuple[Loc, str]]:
    """What keeps an active contract with a review from being what was reviewed."""
    review = contract.review
    if review is None or getattr(contract, "lifecycle", Lifecycle.ACTIVE) is not Lifecycle.ACTIVE:
        return
    decisions, attestations = required(contract)
    for name in decisions:
        if name not in review.decisions:
            yield (
                ("review", "decisions"),
                (f"the decision {name!r} is missing: a draft needs it before it is active"),
            )
    for name in attestations:
        if name not in review.attestations:
            yield (
                ("review", "attestations"),
                (f"the attestation {name!r} is missing: a draft needs it before it is active"),
            )
    if not review.fingerprint:
        yield ("review", "fingerprint"), "the review is not finished: run adf-ea finalize"
    elif review.fingerprint != fingerprint(contract):
        yield (
            ("review", "fingerprint"),
            ("the contract was changed after its review: run adf-ea finalize again"),
        )
