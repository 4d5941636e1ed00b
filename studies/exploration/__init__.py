"""Exhaustive exploration of small models of the authority, judged by ``studies.checker`` at every
transition.
"""
