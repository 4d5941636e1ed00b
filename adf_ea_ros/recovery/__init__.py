"""What to try next while outcomes are ambiguous: belief over provider outcomes, admissibility, planners."""
