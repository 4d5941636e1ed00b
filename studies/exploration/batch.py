"""One model in a process of its own. Models go by number: they are made where they are explored."""

from __future__ import annotations

from studies.exploration import models
from studies.exploration.engine import Result, explore


def run_one(number: int, *, which: str, limit: int, check: float) -> Result:
    """Explore the model of that number."""
    return explore(models.SETS[which]()[number], limit=limit, check=check)
