"""Simulated devices on an injected clock: the demo's heating rig (appendix A of the paper), without ROS.

Nothing in here sleeps, reads a clock or draws unseeded random numbers: a ``World`` is advanced step by step,
and the devices act when their logical time has come. Faults come from here, never from a flag elsewhere.
"""
