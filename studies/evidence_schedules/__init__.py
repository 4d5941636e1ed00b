"""Table 33 of the ADF-EA paper: twenty schedules of heating evidence, and what the qualifier makes of each.

``python -m studies.evidence_schedules`` prints the table. The paper leaves one schedule unevaluated, for want
of a field that its runtime could not represent; here all twenty are evaluated.
"""
