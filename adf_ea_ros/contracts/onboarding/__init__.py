"""From what exists (a ROS interface, a Thing Description, a tool schema) to a contract that a person answers
for."""
