"""The default method: try candidates in a corrected simulator and use the best."""
