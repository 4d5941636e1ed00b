"""Recovery-policy controls (sections A.5 and C.5): the same requests under other permissions, on two
interfaces.
"""
