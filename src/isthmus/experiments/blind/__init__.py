"""A quadruped whose policy sees encoders, IMU, command and its last action only: what is estimated, what is crossed."""
