"""Sources without actions: a robot is to see what was recorded, whoever recorded it."""
