"""Windows: the groups of samples that a requirement counts (section B.2, appendix D).

A window holds ``count`` samples, pairwise distinct, with every spacing within the cadence. One window is
built for each sample, as its newest member: going back in time it takes each sample that is far enough from
the one taken before, and passes over the others, so that a sensor may be faster than the cadence asks. It
ends at a spacing above the greatest. Passing over samples hides nothing: the verdict looks at every
eligible sample for contradictions, not only at the members of windows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.types import Observation, Requirement

Candidate = tuple[Ns, str, bool, Observation]
"""An eligible sample: when captured, its id, whether the condition is true of it, itself.

Sorting these tuples sorts by time, ties by id: the order of arrival decides nothing.
"""


def identity(sample: Observation, distinct: bool) -> Hashable:
    """What a window may hold only once.

    Where distinct identities are asked for: the producer, else the source, else the occurrence (appendix D).
    Otherwise the capture, which is one producer's (else source's) word about one instant: it counts once,
    however often it is published.
    """
    who = sample.producer or sample.source or sample.id
    return who if distinct else (who, sample.stamp)


def windows(candidates: Sequence[Candidate], requirement: Requirement) -> Iterator[list[Candidate]]:
    """The windows over ``candidates`` (newest first), from the one with the newest member on."""
    ages = [-candidate[0] for candidate in candidates]
    for start in range(len(candidates) - requirement.count + 1):
        window = _window(candidates, ages, start, requirement)
        if window is not None:
            yield window


def _window(
    candidates: Sequence[Candidate], ages: Sequence[int], start: int, requirement: Requirement
) -> list[Candidate] | None:
    """The window whose newest member is the candidate at ``start``. ``ages`` ascend: they can be searched."""
    need, least, greatest = requirement.count, requirement.spacing_least, requirement.spacing_greatest
    distinct, size = requirement.distinct, len(candidates)
    members, seen, index = [candidates[start]], {identity(candidates[start][3], distinct)}, start + 1
    while len(members) < need:
        last = members[-1][0]
        if index < size and last - candidates[index][0] < least:
            index = bisect_left(ages, least - last, index)
        for position in range(index, size):
            key = identity(candidates[position][3], distinct)
            if key not in seen:
                break
        else:
            return None
        if greatest and last - candidates[position][0] > greatest:
            return None
        members.append(candidates[position])
        seen.add(key)
        index = position + 1
    return members


def shortage(candidates: Sequence[Candidate], requirement: Requirement) -> str:
    """The reason code for there being no window over ``candidates``."""
    if not candidates:
        return reasons.NONE
    if len({identity(candidate[3], requirement.distinct) for candidate in candidates}) >= requirement.count:
        return reasons.CADENCE
    return reasons.IDENTITY if len(candidates) >= requirement.count else reasons.COUNT
