"""Learn what commands come to in the simulator's terms, and correct them."""
