"""Every choice behind the suite. This is the file to tune; nothing else holds a number of its own."""

TASKS = ("reacher", "hopper", "half-cheetah", "humanoid")
METHODS = "auto,residual-action,inverse,model-inverse,fine-tune,conditioned,robust"
"""Shown on the page; a command may run some of them only."""
BUDGETS = (500, 2_000, 10_000)
"""Samples at which methods learn anew and are judged in full."""
HEADLINE_BUDGET = 2_000
EPISODES = 50
"""Behind the score of a run."""
SEEDS = 3

RUNGS = (0.5, 0.3, 0.7)
"""Shares of its score that a gap leaves the unadapted policy; the first is the main one."""
CALIBRATION_EPISODES = 16
"""Behind every score of the calibration. They start from other states than those behind the score of a run."""
CALIBRATION_SEED = 0
SCAN = (1 / 16, 1 / 4, 1.0)
"""Shares of the way to a dial's end at which a family is first looked at, until it costs enough."""
CLOSE = 0.05
"""A size whose score is so near a rung is taken: about the standard error of a score."""
BISECTIONS = 6
"""At most, of a rung."""
NEAR = 0.1
"""A rung whose best size is not even so near is marked as missed: the score jumps there."""
LEAST_LOSS = 0.1
"""A run in which the unadapted policy loses less than this has no share of the loss to speak of."""
HARM = 0.05
"""A run that ends more than this below the unadapted policy has done harm."""
