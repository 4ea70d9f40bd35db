"""How the expert of each task is trained."""

from isthmus.experts.settings import TrainSettings

RECIPES = {
    "reacher": TrainSettings(steps=20_000_000, worlds=256, batch=50, discount=0.99),
    "hopper": TrainSettings(steps=18_432_000, worlds=128, batch=400),
    "half-cheetah": TrainSettings(steps=30_000_000, worlds=128, batch=400, subsample=5),
    "humanoid": TrainSettings(steps=40_000_000, worlds=128, batch=400, subsample=5),
}
"""By task name; a task that is not here is trained with the defaults."""
