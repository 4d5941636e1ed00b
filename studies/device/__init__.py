"""Simulated devices with native state, a monitor that reads it, faults from outside, and a log of raw
events.
"""

from studies.device.device import Device, Reply, Sample
from studies.device.faults import Rule, rules
from studies.device.log import Log

__all__ = ["Device", "Log", "Reply", "Rule", "Sample", "rules"]
