"""How the expert of each task is trained."""

from isthmus.experts.settings import TrainSettings

RECIPES = {
    "reacher": TrainSettings(
        algorithm="trpo",
        steps=20_000_000,
        worlds=256,
        batch=50,
        discount=0.99,
        gae=0.97,
        hidden=64,
        initial_std=1.0,
    ),
    "hopper": TrainSettings(steps=3_000_000, discount=0.99, gae=0.95, hidden=64, initial_std=0.5),
    "half-cheetah": TrainSettings(steps=2_000_000, initial_std=0.15, entropy=0.0),
    "humanoid": TrainSettings(steps=4_000_000, initial_std=0.3, entropy=0.002),
}
"""By task name; a task that is not here is trained with the defaults."""
