"""decide -> append -> effect: the authority as a service, without ROS."""
