"""The demo: stories of a heating task, told by separate processes and judged by the rig's own count."""
