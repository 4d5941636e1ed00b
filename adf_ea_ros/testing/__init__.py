"""What tests of the nodes need: a domain of their own, processes that always end, and waiting for conditions.

Never imported at run time.
"""
