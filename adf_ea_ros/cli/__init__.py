"""The command line ``adf-ea``. Works without ROS but for the commands that say otherwise."""
