"""ANYmal from log to walk: drive models from minutes of motion, and policies carried to a stand-in unchanged."""

from isthmus.experiments.anymal.experiment import Plan, run, walk_second
from isthmus.experiments.anymal.film import film_arms

__all__ = ["Plan", "film_arms", "run", "walk_second"]
