"""Baselines: the policy as it is, a robust policy, and PD tracking."""
