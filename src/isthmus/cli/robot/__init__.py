"""`isthmus robot`: simulated robots at an address."""
