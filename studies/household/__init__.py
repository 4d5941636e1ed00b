"""Household tasks of several sizes, made from frozen contracts, and the two arms that replay fixed
proposals.
"""
