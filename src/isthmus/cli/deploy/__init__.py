"""Put a policy on a robot."""
