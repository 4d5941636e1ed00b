"""What was seen, and what it shows: observations, windows, qualification into a verdict. See doc/evidence.md."""
