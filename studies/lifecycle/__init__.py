"""Forty-nine lifecycle cases (sections A.4 and C.1): which arm gives the prescribed answer."""
