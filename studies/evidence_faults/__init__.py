"""The fault matrix of evidence: every fault on every kind of predicate and requirement, counted by outcome.

``python -m studies.evidence_faults`` prints it. Nothing missing, stale, replayed, misattributed or
conflicting may end in SATISFIED where the samples support the condition, or in negative evidence where they
contradict it.
"""
