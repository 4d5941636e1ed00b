"""Heating H1 to H4 (sections A.6 and C.3): the product's own contracts and simulated rig, two clients."""
