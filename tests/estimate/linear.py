"""A double integrator as a simulator, whose filter is known to be right: nothing in it is chaotic."""

import numpy as np

from isthmus.core import Trajectory, WorldSpec
from isthmus.estimate.course import Course

PERIOD = 0.1
SPEC = WorldSpec(
    ("position", "velocity"), ("force",), np.array([-5.0]), np.array([5.0]), PERIOD, 100, targets=np.array([0, 1])
)
CHANGE = np.array([[1.0, PERIOD], [-0.3 * PERIOD, 1.0 - 0.2 * PERIOD]])
PUSH = np.array([[0.5 * PERIOD**2], [PERIOD]])
COURSE = Course(np.zeros(2), np.diag([0.04, 0.04]), np.array([0.1, 0.2]), np.array([10.0, 10.0]))


class Linear:
    """Predicts; nobody here resets or steps it."""

    spec = SPEC

    def predict(self, history, actions):
        return history.current @ CHANGE.T + actions @ PUSH.T


def recorded(rng, *, noise=0.0, bias=0.0, delay=0, process=0.0, runs=10, steps=36):
    """Runs of what sensors show, and the states that were true (runs, steps + 1, 2)."""
    found, true = [], []
    for _ in range(runs):
        state, states, actions = 0.2 * rng.standard_normal(2), [], []
        states.append(state)
        for t in range(steps):
            action = 2 * np.sin(0.2 * t + rng.uniform(0, 0.5, 1)) + rng.standard_normal(1)
            state = CHANGE @ state + PUSH @ action + process * rng.standard_normal(2)
            states.append(state)
            actions.append(action)
        late = np.stack([states[max(t - delay, 0)] for t in range(steps + 1)])
        shown = late + bias * rng.standard_normal(2) + noise * rng.standard_normal(late.shape)
        action = np.stack(actions)
        found.append(Trajectory(shown, action, action, action, shown[1:]))
        true.append(np.stack(states))
    return found, np.stack(true)
