"""Learn how a robot responds from explained steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int, WorldSpec
from isthmus.models.command_errors import CommandErrors
from isthmus.models.disturbance import Disturbance
from isthmus.models.disturbance_fit import fit_disturbance
from isthmus.models.explain import Explanation
from isthmus.models.lines import Lines, error_sizes, fit_lines
from isthmus.models.response import Response
from isthmus.models.saturation import is_cut_at_limit

LEAST = 0.1
"""Spread of a disturbance that is followed at least, in half ranges."""
MOST = 0.5
"""Where more than this share of the actuators are disturbed so, they all are."""
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
    """The actions before each."""
    found: Explanation


def fit_response(spec: WorldSpec, runs: Sequence[Explained], *, follow: bool) -> tuple[Response, Lines]:
    """The response that was at work in `runs`.

    Who can `follow` a disturbance that lasts from step to step needs no line for it. A small one is not followed: it is
    more likely what the lines leave of something that depends on the state, and to follow that is to come late.
    """
    seen, commands, actions, past = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("observations", "commands", "actions", "past")
    )
    found = Explanation.joined([run.found for run in runs])
    lengths = [len(run.actions) for run in runs]
    episodes, origin = np.repeat([run.episode for run in runs], lengths), np.repeat(np.arange(len(runs)), lengths)
    targets, half = seen[:, spec.targets], spec.half_range
    spread, cut = targets.std(axis=0), is_cut_at_limit(actions / half, found.actions / half, found.clear)

    def response(weights: Float, disturbance: Disturbance) -> Response:
        scale = np.where(spread > 0, spread, 1.0)
        return Response(weights, targets.mean(axis=0), scale, half, spec.targets, disturbance)

    nothing = Disturbance.none(len(half))
    features = response(np.zeros((0, len(half))), nothing).features(seen, actions, past)
    errors = CommandErrors.of(commands, half, found, cut=cut)
    lines = fit_lines(features, errors, episodes, origin, nothing)
    left = _disturbance(errors.less(features @ lines.weights), origin, cut=cut)
    large = (left.lasting > 0) & (left.spread > LEAST)
    followed = (large | (left.lasting > 0) & (large.mean() > MOST)) & follow
    if followed.any():
        weights = np.where(followed, 0.0, lines.weights)
        for _ in range(ROUNDS):
            left = _disturbance(errors.less(features @ weights), origin, cut=cut).only(followed)
            lines = fit_lines(features, errors, episodes, origin, left, weights)
            weights = lines.weights
        left = _disturbance(errors.less(features @ weights), origin, cut=cut)
    return response(lines.weights, left.only(followed)), lines


def _disturbance(errors: CommandErrors, origin: Int, *, cut: bool) -> Disturbance:
    runs = [errors[origin == run] for run in np.unique(origin)]
    return fit_disturbance(runs, error_sizes(errors), cut=cut)
