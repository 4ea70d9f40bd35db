"""`isthmus robot`: simulated robots on a ROS graph."""
