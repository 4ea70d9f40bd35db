"""A policy that is told the physics of its robot."""
