"""The source side of a run, as methods are given it: policy, simulator, cost, training, rehearsals."""
