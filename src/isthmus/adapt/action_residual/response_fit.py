"""Learn how a robot responds from explained steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.action_residuals import CommandErrors
from isthmus.adapt.common.ar1_disturbance import Disturbance
from isthmus.adapt.common.ar1_fit import fit_disturbance
from isthmus.adapt.common.censoring import is_cut_at_limit
from isthmus.adapt.common.effective_action import Explanation
from isthmus.adapt.common.response import Response
from isthmus.adapt.common.ridge import Lines, error_sizes, fit_lines
from isthmus.adapt.settings.components import Parts
from isthmus.core import Bool, Float, WorldSpec

LOOKBACK = 4
"""Steps within which a command comes to its actuator, if it comes late."""
DEAF, SURELY = 0.3, 3.0
"""Share of the present command that an actuator answers to at least, and by how many standard errors it is below."""
ROWS_A_FEATURE = 5
ROUNDS = 2
"""Lines and disturbances are each fitted to what the other leaves, so often."""


@dataclass(frozen=True)
class Explained:
    """Steps that followed each other, and the actions that explain them in the simulator (T, ...)."""

    episode: int
    observations: Float
    commands: Float
    """Before any limit."""
    actions: Float
    """Within limits."""
    past: Float
    """The actions of `LOOKBACK` steps before each, or of more, oldest first."""
    found: Explanation


def fit_response(
    spec: WorldSpec, runs: Sequence[Explained], history: int, parts: Parts | None = None
) -> tuple[Response, Lines]:
    """The response that was at work in `runs`, for who looks at `history` observations and the actions between them.

    Errors may depend on the state, or come from a disturbance that lasts from step to step, which who has history can
    follow. What depends on the state lasts too, but to follow that is to come late: whichever foresees the errors
    better is taken. An actuator that answers to earlier commands and not to the present one is left alone.
    """
    parts = parts or Parts()
    seen, commands, actions, past = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("observations", "commands", "actions", "past")
    )
    found = Explanation.joined([run.found for run in runs])
    lengths = [len(run.actions) for run in runs]
    episodes, origin = np.repeat([run.episode for run in runs], lengths), np.repeat(np.arange(len(runs)), lengths)
    targets, half, middle = seen[:, spec.targets], spec.half_range, spec.middle
    done = (found.actions - middle) / half
    spread, cut = targets.std(axis=0), is_cut_at_limit((actions - middle) / half, done, found.clear)

    def response(weights: Float, disturbance: Disturbance) -> Response:
        scale = np.where(spread > 0, spread, 1.0)
        return Response(weights, targets.mean(axis=0), scale, half, spec.targets, disturbance, middle)

    plain = response(np.zeros((0, len(half))), Disturbance.none(len(half)))
    features = plain.features(seen, actions, past[:, past.shape[1] - (history - 1) * len(half) :])
    errors = CommandErrors.of(commands, half, found, cut=cut, middle=middle)
    effects = np.clip(done, -1, 1) if cut else actions / half + found.errors
    deaf = _deaf(plain.features(seen, actions, past), effects, 1 + len(spec.targets))

    def disturbance(weights: Float) -> Disturbance:
        left = errors.less(features @ weights)
        return fit_disturbance(left, origin, error_sizes(left), cut=cut)

    def fitted(weights: Float, lasting: Bool) -> Lines:
        """Lines and disturbances, each fitted to what the other leaves."""
        lines = fit_lines(features, errors, episodes, origin, disturbance(weights).lasts(lasting), weights, parts)
        for _ in range(ROUNDS - 1 if cut or lasting.any() else 0):
            left = disturbance(lines.weights).lasts(lasting)
            lines = fit_lines(features, errors, episodes, origin, left, lines.weights, parts)
        return lines

    nothing = np.zeros((features.shape[1], len(half)))
    alone = fitted(nothing, np.zeros(len(half), np.bool_))
    lasts = (disturbance(nothing).lasting > 0) & (history > 1 and parts.following) & ~deaf
    followed = fitted(np.where(lasts, nothing, alone.weights), lasts) if lasts.any() else alone
    better = lasts & (followed.surprise < alone.surprise)
    lines = followed.where(better, alone)
    weights = np.where(deaf, nothing, lines.weights)
    return response(weights, disturbance(weights).lasts(better).only(~deaf)), lines


def _deaf(features: Float, effects: Float, begin: int) -> Bool:
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
    return np.asarray(answers + SURELY * unsure < DEAF, dtype=np.bool_)
