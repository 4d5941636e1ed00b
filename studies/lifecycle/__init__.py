"""Forty-nine lifecycle cases (sections A.4 and C.1): what is the prescribed answer, and which arm gives it."""
