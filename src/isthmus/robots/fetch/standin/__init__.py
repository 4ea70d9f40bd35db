"""A stand-in for the robot: a process of its own with physics of its own, which speaks ROS as a Fetch does.

Nothing that adapts a policy may look in here, and import-linter holds it to that. What the robot is like is in `drawn`.
"""
