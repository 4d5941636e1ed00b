"""The long runs: processes killed at every point of the protocol, and a ledger killed while it appends."""
