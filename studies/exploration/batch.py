"""One model in a process of its own. Models go by number: they are made where they are explored."""

from __future__ import annotations

from studies.exploration import models
from studies.exploration.engine import Result, explore


def run_one(number: int, *, full: bool, limit: int, check: float) -> Result:
    """Explore the model of that number."""
    chosen = (models.full() if full else models.quick())[number]
    return explore(chosen, limit=limit, check=check)
