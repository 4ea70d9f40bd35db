"""Firmware in the loop: the robot's own machine code against simulated buses."""
