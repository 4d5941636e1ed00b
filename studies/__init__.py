"""The papers' experiments, their baselines, and the proofs about the authority.

Used by tests and commands, not by the product.
"""
