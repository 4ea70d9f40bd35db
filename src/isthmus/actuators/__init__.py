"""Actuator models: from a robot's logs to a simulator whose joints move like the robot's."""
