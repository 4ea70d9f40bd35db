"""Track the simulator's trajectory several steps ahead with a linear model of the robot."""
