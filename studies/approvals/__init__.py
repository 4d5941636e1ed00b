"""Approvals bound to executions: the WTB paper's responsibility removals, rebuilt on our runtime."""
