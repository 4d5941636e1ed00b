"""Twelve paired contrasts (sections 4.4 and C.2): what does each block of a contract decide?"""
