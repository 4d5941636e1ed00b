"""The quick exploration: small models, every order of what can happen, judged at every transition."""

from __future__ import annotations

import pytest

from studies.exploration import models
from studies.exploration.engine import explore

LIMIT = 400


@pytest.mark.parametrize("model", models.quick(), ids=lambda model: model.name)
def test_nothing_is_violated(model: models.Model) -> None:
    result = explore(model, limit=LIMIT, check=0.05)
    assert not result.violations, "\n".join(result.stories)
    assert result.transitions > 1000


def test_every_kind_of_dispatch_is_reached() -> None:
    rules = [explore(model, limit=LIMIT).rules for model in models.quick()[:3]]
    assert {"R1", "R2", "R3", "R4", "R6", "R9"} <= set().union(*rules)
