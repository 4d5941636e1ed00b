"""Depth and width from 2 to 32 (sections A.8 and C.10): late faults behind long verified prefixes."""
