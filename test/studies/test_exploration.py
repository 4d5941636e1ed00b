"""The quick exploration: small models, every order of what can happen, judged at every transition."""

from __future__ import annotations

from functools import cache

import pytest

from studies.exploration import models
from studies.exploration.engine import Result, explore

LIMIT = 350
NAMES = [model.name for model in models.quick()]


@cache
def explored(number: int) -> Result:
    return explore(models.quick()[number], limit=LIMIT, check=0.05)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_nothing_is_violated(number: int) -> None:
    result = explored(number)
    assert not result.violations, "\n".join(result.stories)
    assert result.transitions > 1000


def test_every_kind_of_dispatch_and_a_completion_are_reached() -> None:
    results = [explored(number) for number in range(len(NAMES))]
    assert {"R1", "R2", "R3", "R4", "R6", "R7", "R9"} <= set().union(*(result.rules for result in results))
    assert sum(result.completions for result in results)
