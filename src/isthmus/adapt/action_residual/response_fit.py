"""Learn how a robot responds from explained steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ar1_fit import fit_disturbance
from isthmus.adapt.common.censoring import is_saturated
from isthmus.adapt.common.effective_action import EffectiveAction
from isthmus.adapt.common.response import Response
from isthmus.adapt.common.ridge import RidgeFit, error_sizes, fit_ridge
from isthmus.adapt.settings import Components
from isthmus.core import Bool, Float, WorldSpec

LOOKBACK = 4
"""Steps within which a command comes to its actuator, if it comes late."""
LEAST_RESPONSE, SURELY = 0.3, 3.0
"""Share of the present command that an actuator answers to at least, and by how many standard errors it is below."""
ROWS_A_FEATURE = 5
ROUNDS = 2
"""How often regression and disturbances are fitted in turn, each to what the other leaves."""


@dataclass(frozen=True)
class EffectiveSteps:
    """Steps that followed each other, and the actions that explain them in the simulator (T, ...)."""

    episode: int
    observations: Float
    commands: Float
    """Before any limit."""
    actions: Float
    """Within limits."""
    past: Float
    """The actions of `LOOKBACK` steps before each, or of more, oldest first."""
    found: EffectiveAction


def fit_response(
    spec: WorldSpec, runs: Sequence[EffectiveSteps], history: int, components: Components | None = None
) -> tuple[Response, RidgeFit]:
    """The response that was at work in `runs`, for who looks at `history` observations and the actions between them.

    Errors may depend on the state, or come from a disturbance that is correlated from step to step, which history can
    reveal. Errors that depend on the state are correlated in time too, but tracking them lags behind. Whichever
    predicts the errors better is taken. An actuator that answers to earlier commands and not to the present one is left
    alone.
    """
    components = components or Components()
    seen, commands, actions, past = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("observations", "commands", "actions", "past")
    )
    found = EffectiveAction.joined([run.found for run in runs])
    lengths = [len(run.actions) for run in runs]
    episodes, origin = np.repeat([run.episode for run in runs], lengths), np.repeat(np.arange(len(runs)), lengths)
    targets, half, middle = seen[:, spec.targets], spec.half_range, spec.middle
    done = (found.actions - middle) / half
    std, saturates = targets.std(axis=0), is_saturated((actions - middle) / half, done, found.gain)

    def response(weights: Float, disturbance: AR1Disturbance) -> Response:
        scale = np.where(std > 0, std, 1.0)
        return Response(weights, targets.mean(axis=0), scale, half, spec.targets, disturbance, middle)

    plain = response(np.zeros((0, len(half))), AR1Disturbance.none(len(half)))
    features = plain.features(seen, actions, past[:, past.shape[1] - (history - 1) * len(half) :])
    errors = ActionResiduals.of(commands, half, found, saturates=saturates, middle=middle)
    effects = np.clip(done, -1, 1) if saturates else actions / half + found.errors
    unresponsive = _unresponsive(plain.features(seen, actions, past), effects, 1 + len(spec.targets))

    def disturbance(weights: Float) -> AR1Disturbance:
        left = errors.less(features @ weights)
        return fit_disturbance(left, origin, error_sizes(left), saturates=saturates)

    def fitted(weights: Float, correlated: Bool) -> RidgeFit:
        """Regression and disturbances, each fitted to what the other leaves."""
        ridge = fit_ridge(
            features, errors, episodes, origin, disturbance(weights).correlated_at(correlated), weights, components
        )
        for _ in range(ROUNDS - 1 if saturates or correlated.any() else 0):
            left = disturbance(ridge.weights).correlated_at(correlated)
            ridge = fit_ridge(features, errors, episodes, origin, left, ridge.weights, components)
        return ridge

    nothing = np.zeros((features.shape[1], len(half)))
    alone = fitted(nothing, np.zeros(len(half), np.bool_))
    correlated = (disturbance(nothing).correlation > 0) & (history > 1 and components.observer) & ~unresponsive
    followed = fitted(np.where(correlated, nothing, alone.weights), correlated) if correlated.any() else alone
    better = correlated & (followed.nll < alone.nll)
    ridge = followed.where(better, alone)
    weights = np.where(unresponsive, nothing, ridge.weights)
    return response(weights, disturbance(weights).correlated_at(better).only(~unresponsive)), ridge


def _unresponsive(features: Float, effects: Float, begin: int) -> Bool:
    """Actuators (act,) whose effects (n, act) surely do not depend on the present command, a feature from `begin` on.

    By least squares without a penalty, which would share an answer out among commands that are alike.
    """
    act = len(effects.T)
    if len(features) < ROWS_A_FEATURE * features.shape[1]:
        return np.zeros(act, np.bool_)
    inverse = np.asarray(np.linalg.pinv(features.T @ features, hermitian=True), dtype=np.float64)
    weights = inverse @ (features.T @ effects)
    variance = np.square(effects - features @ weights).mean(axis=0)
    answers: Float = np.diagonal(weights[begin : begin + act])
    unsure: Float = np.sqrt(variance * np.diagonal(inverse)[begin : begin + act])
    return np.asarray(answers + SURELY * unsure < LEAST_RESPONSE, dtype=np.bool_)
