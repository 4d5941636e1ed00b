"""The rclpy shells around the inner layers; nothing else in this package imports rclpy."""
