"""The independent scorer: legality, evidence, goals and budgets, reconstructed from raw events.

It reads the log of the device and of the requests, and the contract files through ``studies.inputs``. It
uses no code of the product and of no method, and never looks at what a method said of its own evidence: an
outcome tells it only whether a request led to a call.
"""

from studies.scorer.ledger import Account, Inconsistent
from studies.scorer.score import Score, score

__all__ = ["Account", "Inconsistent", "Score", "score"]
