"""`isthmus policy`: train, evaluate and probe the policies that work in simulation."""
