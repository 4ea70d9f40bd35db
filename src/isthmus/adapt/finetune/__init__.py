"""Train the policy on: in a corrected simulator, or on the target itself."""
