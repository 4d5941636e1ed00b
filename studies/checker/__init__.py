"""An independent judge of histories: it reads the ledger's events and a record of the world, and nothing
else.

``PROPERTIES`` lists what it holds a history to. ``Judge`` takes decisions one by one, ``judge`` a whole
history.
"""

from studies.checker.judge import Judge, decisions, judge
from studies.checker.properties import PROPERTIES, Violation
from studies.checker.world import World, WorldHistory

__all__ = ["PROPERTIES", "Judge", "Violation", "World", "WorldHistory", "decisions", "judge"]
