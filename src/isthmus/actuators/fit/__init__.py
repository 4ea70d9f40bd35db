"""Fit actuator models to logs: to measured torque where there is one, or by replay through a simulator."""
