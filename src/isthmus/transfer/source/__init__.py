"""What a run knows of the source, as methods get it: policy, simulator, cost, training, rehearsals."""
