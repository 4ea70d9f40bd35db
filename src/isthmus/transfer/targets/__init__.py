"""The targets of a run: simulated with a gap, a Gymnasium environment, or a robot over ROS."""
