"""Parts of the loop around the authority, taken out one at a time (sections A.4 and C.2)."""
