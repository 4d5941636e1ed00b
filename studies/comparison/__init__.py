"""The controlled comparison of section 4.1: seventeen conditions, four methods, one device for each run.

``conditions.yaml`` holds the conditions: requests and external faults. The paper sketches them in words; the
requests and faults here are ours, made once and not adjusted to any count.
"""
