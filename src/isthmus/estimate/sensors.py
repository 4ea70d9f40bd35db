"""Which numbers of an observation a robot senses, from a list of words."""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Float, Int, Problem, unknown_name
from isthmus.sim import RobotModel

ALL, POSITIONS, VELOCITIES = "all", "positions", "velocities"
WORDS = (ALL, POSITIONS, VELOCITIES)
NUDGE = 1e-3


def sensed_columns(robot_model: RobotModel, words: Sequence[str]) -> Int:
    """The observation dimensions (m,) that a robot with the sensors `words` measures, in rising order.

    A word is `all`, `positions`, `velocities` or the name of an observation. Numbers that are the task's own (a clock,
    a goal) need no sensor: they are always known.
    """
    spec = robot_model.spec
    everything = np.arange(spec.observation_size)
    if not words:
        return everything
    chosen = np.setdiff1d(everything, spec.robot_dimensions).tolist()
    for word in words:
        if word in spec.observation_names:
            chosen.append(spec.observation_names.index(word))
        elif word in WORDS:
            chosen += everything.tolist() if word == ALL else _columns(robot_model, word).tolist()
        else:
            raise unknown_name("sensor", word, (*WORDS, *spec.observation_names))
    found = np.unique(np.array(chosen, np.int64))
    if not np.isin(found, spec.robot_dimensions).any():
        raise Problem(f"nothing of the robot is sensed with sensors {', '.join(words)}: name at least one that it has")
    return found


def _columns(robot_model: RobotModel, word: str) -> Int:
    """The columns that a robot's positions, or its velocities, are read from."""
    model, spec = robot_model.model, robot_model.spec
    rng = np.random.default_rng(0)
    size = spec.observation_size
    at = rng.uniform(0.1, 0.5, size)
    tried = at + NUDGE * np.vstack((np.zeros(size), np.eye(size)))

    def changes(values: Float) -> Int:
        moved = np.abs(values[1:] - values[0]).max(axis=1) > 0
        return np.intersect1d(np.flatnonzero(moved), spec.robot_dimensions)

    qpos, qvel = np.tile(model.qpos0, (size + 1, 1)), np.zeros((size + 1, model.nv))
    robot_model.restore(tried, qpos, qvel)
    velocities = changes(qvel)
    return velocities if word == VELOCITIES else np.setdiff1d(changes(qpos), velocities)
