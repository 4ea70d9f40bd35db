"""How the robot answers commands from step to step, as a linear function.

    s' = s + W' x        x = [1, s, a, the actions before]

s is what is sensed of the robot. A robot that lags answers a command over several steps: the commands before are part
of its state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.core import Float
from isthmus.core.ridge import NormalEquations, held_out_residuals

KIND = "answer-model"
FOLDS = 5
STRENGTHS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Of the ridge, for each example and standardised feature."""


@dataclass(frozen=True)
class ArxModel:
    """The weights W."""

    weights: Float
    """(1 + sensed + (1 + past) act, sensed)."""
    past: int
    """How many actions before the present one count."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together: they may come from a file."""
        features, sensed = self.weights.shape
        if self.past < 0 or (features - 1 - sensed) % (1 + self.past) or not np.isfinite(self.weights).all():
            raise ValueError(f"weights of shape {self.weights.shape} do not go with {self.past} past actions")

    @property
    def actions(self) -> int:
        """How many actuators there are."""
        features, sensed = self.weights.shape
        return (features - 1 - sensed) // (1 + self.past)

    def __call__(self, sensed: Float, action: Float, past: Float) -> Float:
        """What is sensed after an action (n, act), from what is sensed now (n, s) and actions before (n, past act)."""
        return sensed + features(sensed, action, past) @ self.weights

    def rollout(self, sensed: Float, actions: Float, past: Float, error: Float) -> Float:
        """What is sensed along actions (n, h, act), latest `past` last, when every step errs by `error`: (n, h, s)."""
        out = np.empty((*actions.shape[:2], sensed.shape[1]))
        for step in range(actions.shape[1]):
            action = actions[:, step]
            sensed = self(sensed, action, past) + error
            out[:, step] = sensed
            past = np.concatenate((past, action), axis=1)[:, action.shape[1] :]
        return out

    def sensitivity(self, horizon: int) -> Float:
        """How what is sensed in each step of a trajectory depends on each step's action (h, s, h, act)."""
        s, act = self.weights.shape[1], self.actions
        nothing = np.zeros((horizon * act, s))
        each = np.eye(horizon * act).reshape(horizon * act, horizon, act)
        past = np.zeros((horizon * act, self.past * act))
        moved = self.rollout(nothing, each, past, nothing)
        moved -= self.rollout(nothing, 0 * each, past, nothing)
        return np.moveaxis(moved.reshape(horizon, act, horizon, s), (2, 3), (0, 1))

    def state(self) -> MethodState:
        """The model as plain data."""
        return MethodState(KIND, {"weights": self.weights}, {"past": self.past})

    @staticmethod
    def of_state(state: MethodState) -> "ArxModel":
        """The model that `state` gave."""
        try:
            return ArxModel(np.asarray(state.arrays["weights"], dtype=np.float64), int(state.about["past"]))
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise state.damaged(error) from error


@dataclass(frozen=True)
class ArxRun:
    """Steps that followed each other: what was sensed (T+1, s), actions (T, act), and those before (T, past act)."""

    sensed: Float
    actions: Float
    past: Float


def features(sensed: Float, action: Float, past: Float) -> Float:
    """What the answer is linear in (n, 1 + s + (1 + past) act)."""
    return np.concatenate((np.ones((len(sensed), 1)), sensed, action, past), axis=1)


def fit_arx(runs: Sequence[ArxRun], past: int) -> ArxModel:
    """The answer at work in `runs`: ridge regression, as strong as does best on runs that are held out."""
    x = np.concatenate([features(run.sensed[:-1], run.actions, run.past) for run in runs])
    y = np.concatenate([np.diff(run.sensed, axis=0) for run in runs])
    folds = np.repeat(np.arange(len(runs)) % FOLDS, [len(run.actions) for run in runs])
    scale = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    x = x / scale
    residuals = held_out_residuals(x, y, folds, STRENGTHS, per_row=True)  # (strengths, n, s)
    relative = np.square(residuals).mean(axis=1) / (np.square(y).mean(axis=0) + 1e-12)
    best = int(relative.sum(axis=1).argmin())
    weights = NormalEquations.of(x, y).ridge(STRENGTHS[best] * len(x)) / scale[:, None]
    return ArxModel(weights, past)
