"""What happened: append-only events in hash chains, with checkpoints, on SQLite or PostgreSQL."""
