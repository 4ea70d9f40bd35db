"""Noise, offsets and delay of sensors from their innovations: no ground truth is needed.

A filter runs over what was recorded. How far measurements are from what it expected says how noisy the sensors are and
how wrong the simulator is; the two are told apart by what the filter makes of a measurement:

    R <- E[e e' + H P H']      e: measured less estimated, P: covariance of the estimate
    Q <- E[K v v' K']          v: measured less predicted
    B <- E[b b' + P_bb]        b: offset of a sensor at the end of an episode

each is repeated until it settles. Of several explanations (delays, offsets or none, simulators) the one is taken under
which the innovations are most likely, by a Student distribution: single steps into a contact have little say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Episode, Float, Int, Simulator, Trajectory
from isthmus.core.policy_state import reset_rows
from isthmus.estimate.filter import BEGUN, ESTIMATE, SensorModel
from isthmus.estimate.kalman import BIAS, COVARIANCE, KalmanFilter, Process

ROUNDS = 6
"""Times that noise is estimated anew."""
FREEDOM = 4.0
"""Degrees of freedom of the Student distribution."""
OUTLYING = 4.0
"""Corrections count for no more than so many typical ones when the simulator's error is estimated."""
TO_VARIANCE = 1 / 0.4549
"""From the median of a squared Gaussian to its variance."""
SHARPEST = 1e-3
"""No sensor and no prediction is trusted more than this share of what changes in a step."""
FIRST_NOISE, FIRST_PROCESS = 0.05, 0.1
"""Where the search begins, as shares of what changes in a step."""
MOST_STEPS = 1500
"""Steps that noise is estimated from: the latest ones."""
LONGEST_DELAY = 4
CLEARLY = 0.1
"""Nats a step by which an explanation with more in it must be better."""


@dataclass(frozen=True)
class Explanation:
    """Sensors and simulator as they seem to be."""

    filter: KalmanFilter
    nll: float
    """How unlikely a step's innovations are under it, in nats."""

    @property
    def sensors(self) -> SensorModel:
        """Noise, offsets and delay."""
        return self.filter.sensors


@dataclass(frozen=True)
class _Pass:
    """A filter over recorded runs."""

    nll: float
    noise: Float  # (m,)
    process: Float  # (obs,)
    bias: Float  # (m,)


def runs_of(episodes: Sequence[Episode], most: int | None = None) -> list[Trajectory]:
    """The whole runs among episodes, the latest first, until there are `most` steps."""
    runs = [one for episode in reversed(episodes) for one in episode if not one.context]
    if most is None:
        return runs
    ends = np.cumsum([len(run) for run in runs])
    return runs[: 1 + int(np.searchsorted(ends, most))]


def explain(
    runs: Sequence[Trajectory], simulator: Simulator, sensed: Int, start: tuple[Float, Float], scale: Float
) -> Explanation:
    """Sensors as `runs` show them in `simulator`: `scale` (obs,) is what changes in a step, `start` where it begins."""
    begin = KalmanFilter(
        simulator,
        SensorModel(sensed, FIRST_NOISE * scale[sensed], np.zeros(len(sensed))),
        Process(FIRST_PROCESS * scale, *start),
    )
    best = settled(begin, runs, scale)
    for delay in range(1, LONGEST_DELAY + 1):
        late = replace(begin, sensors=replace(begin.sensors, delay=delay))
        other = settled(late, runs, scale)
        if other.nll >= best.nll - CLEARLY:
            break
        best = other
    biased = replace(best.filter, sensors=replace(best.sensors, bias=np.maximum(best.sensors.noise, 0.1 * scale[sensed])))
    other = settled(biased, runs, scale)
    return other if other.nll < best.nll - CLEARLY else best


def settled(begin: KalmanFilter, runs: Sequence[Trajectory], scale: Float) -> Explanation:
    """The noise that a filter finds in its own innovations, beginning with what it has."""
    now, sensed = begin, begin.sensors.sensed
    found, best = _pass(now, runs), Explanation(begin, np.inf)
    for _ in range(ROUNDS):
        if found.nll < best.nll:
            best = Explanation(now, found.nll)
        bias = np.where(now.sensors.bias > 0, np.maximum(found.bias, SHARPEST * scale[sensed]), 0.0)
        now = replace(
            now,
            sensors=replace(now.sensors, noise=np.maximum(found.noise, SHARPEST * scale[sensed]), bias=bias),
            process=replace(now.process, noise=np.maximum(found.process, SHARPEST * scale)),
        )
        found = _pass(now, runs)
    return Explanation(now, found.nll) if found.nll < best.nll else best


def _pass(one: KalmanFilter, runs: Sequence[Trajectory]) -> _Pass:
    """Run a filter over all runs at once."""
    steps = np.array([len(run) for run in runs])
    seen, done = padded(runs)
    state = initial = one.initial_state(len(runs))
    size, sensed = seen.shape[2], one.sensors.sensed
    likelihoods, noises, moves = list[Float](), list[Float](), list[Float]()
    offsets, unsure = np.zeros((len(runs), len(sensed))), np.zeros((len(runs), len(sensed)))
    biased = np.flatnonzero(one.sensors.bias > 0)
    for t in range(int(steps.max()) + 1):
        innovation, state = one.watched(state, seen[:, t], done[:, max(t - 1, 0)])
        live = steps >= t
        if t:
            likelihoods.append(_nll(innovation.values, innovation.covariance)[live])
            noises.append((np.square(innovation.residual) + 1j * innovation.left)[live])
            moves.append(innovation.moved[live, :size])
        last = steps == t
        offsets[np.ix_(last, biased)] = np.asarray(state[BIAS])[last]
        unsure[np.ix_(last, biased)] = np.diagonal(np.asarray(state[COVARIANCE])[last], axis1=1, axis2=2)[:, size:]
        if (~live).any():  # what is over starts again: nothing is taken from it any more
            state = reset_rows(state, initial, ~live)
    together, moved = np.concatenate(noises), np.concatenate(moves)
    noise = TO_VARIANCE * np.median(together.real, axis=0) + np.median(together.imag, axis=0)
    return _Pass(
        float(np.concatenate(likelihoods).mean()),
        np.sqrt(noise),
        _spread(moved),
        np.sqrt((np.square(offsets) + unsure).mean(axis=0)),
    )


def padded(runs: Sequence[Trajectory]) -> tuple[Float, Float]:
    """Observations (n, T+1, obs) and applied actions (n, T, act) of runs, the last repeated to the end."""
    longest = max(len(run) for run in runs)

    def fill(values: Float, length: int) -> Float:
        return np.concatenate((values, np.repeat(values[-1:], length - len(values), axis=0)))

    seen = np.stack([fill(run.observations, longest + 1) for run in runs])
    return seen, np.stack([fill(run.applied, longest) for run in runs])


def filtered(one: KalmanFilter, run: Trajectory) -> Float:
    """The estimates (T+1, obs) along a run."""
    state, found = one.initial_state(1), list[Float]()
    for t, sensed in enumerate(run.observations):
        estimate, state = one.update(state, sensed[None], run.applied[max(t - 1, 0)][None])
        found.append(estimate[0])
    return np.stack(found)


def _spread(moved: Float) -> Float:
    """The standard deviation of corrections (T, d), of which a few may be far larger than most."""
    typical = np.median(np.abs(moved), axis=0)
    most = OUTLYING * 1.4826 * typical
    return np.sqrt(np.square(np.clip(moved, -most, most)).mean(axis=0))


def _nll(values: Float, covariance: Float) -> Float:
    """How unlikely innovations (n, m) are (n,), in nats."""
    _, logarithm = np.linalg.slogdet(covariance)
    share = (values * np.linalg.solve(covariance, values[..., None])[..., 0]).sum(axis=1)
    m = values.shape[1]
    return logarithm / 2 + (FREEDOM + m) / 2 * np.log1p(share / FREEDOM)
