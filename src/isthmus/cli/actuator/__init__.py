"""Actuator models: fit, export, and what to record."""
