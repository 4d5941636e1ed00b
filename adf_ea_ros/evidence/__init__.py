"""What was seen, and what it shows: observations, windows, a verdict. See doc/evidence.md."""
