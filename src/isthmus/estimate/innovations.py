"""Noise, offsets and delay of sensors from their innovations: no ground truth is needed.

A filter runs over what was recorded. How far measurements are from what it expected says how noisy the sensors are and
how wrong the simulator is; the two are told apart by what the filter makes of a measurement:

    R <- E[e e' + H P H']      e: measured less estimated, P: covariance of the estimate
    Q <- E[K v v' K']          v: measured less predicted
    B <- E[b b' + P_bb]        b: offset of a sensor at the end of an episode

each is repeated until it settles. The recursion ends in different places, depending on whether it begins with noisy
sensors or with a wrong simulator: it begins with either. Of several explanations (delays, offsets or none, simulators)
the one is taken under which the innovations are most likely, by a Student distribution: single steps into a contact
have little say. While it is repeated, the simulator is linearised along the estimates of the filter that it began with.
They are far better than the sensors: a simulation that begins at a noisy height has its foot in the ground.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Int, Simulator
from isthmus.core.policy_state import reset_rows
from isthmus.estimate.filter import SensorModel
from isthmus.estimate.kalman import BIAS, COVARIANCE, Innovation, KalmanFilter, Process
from isthmus.estimate.linearised import Linearised
from isthmus.estimate.recorded import Recording

ROUNDS, TURNS = 2, 4
"""Times that noise is estimated anew around the same estimates, and times at most that those are made anew."""
FREEDOM = 4.0
"""Degrees of freedom of the Student distribution."""
OUTLYING = 4.0
"""Corrections count for no more than so many typical ones when the simulator's error is estimated."""
TO_VARIANCE = 1 / 0.4549
"""From the median of a squared Gaussian to its variance."""
SHARPEST = 1e-3
"""No sensor and no prediction is trusted more than this share of what changes in a step."""
STARTS = ((1.0, 0.01), (0.1, 0.01), (0.01, 0.1))
"""Noise and error of the simulator that the search begins with, as shares of what changes in a step."""
LEAP = 0.3
"""Factor by which the simulator's error is made smaller as long as innovations get clearly likelier."""
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


def first_explanation(
    recording: Recording, simulator: Simulator, sensed: Int, start: tuple[Float, ...], scale: Float
) -> Explanation:
    """Sensors without offsets, as a recording shows them in `simulator`.

    `start` is mean and covariance of where an episode begins, and the standard deviations that no estimate exceeds, if
    there are such; `scale` (obs,) what changes in a step.
    """
    begins = [
        KalmanFilter(
            simulator,
            SensorModel(sensed, noise * scale[sensed], np.zeros(len(sensed))),
            Process(process * scale, *start),
        )
        for noise, process in STARTS
    ]
    best = best_of(begins, recording, scale)
    likely = min(range(LONGEST_DELAY + 1), key=lambda delay: _pass(_late(best.filter, delay), recording).nll)
    if likely:
        other = best_of([_late(one, likely) for one in (best.filter, *begins)], recording, scale)
        if other.nll < best.nll - CLEARLY:
            best = other
    return again(best, recording, scale)


def _late(one: KalmanFilter, delay: int) -> KalmanFilter:
    return replace(one, sensors=replace(one.sensors, delay=delay))


def with_offsets(best: Explanation, recording: Recording, scale: Float) -> Explanation:
    """The same with an offset of every sensor, if innovations are clearly likelier then."""
    sensed = best.sensors.sensed
    bias = np.maximum(best.sensors.noise, 0.1 * scale[sensed])
    begins = [replace(best.filter, sensors=replace(best.sensors, bias=bias))]
    # Without offsets, they may have been taken for an error of the simulator: begin with a better one, too.
    for noise, process in STARTS[:2]:
        sensors = replace(best.sensors, noise=noise * scale[sensed], bias=bias)
        begins.append(
            replace(best.filter, sensors=sensors, process=replace(best.filter.process, noise=process * scale))
        )
    other = again(best_of(begins, recording, scale), recording, scale)
    return other if other.nll < best.nll - CLEARLY else best


def again(begin: Explanation, recording: Recording, scale: Float) -> Explanation:
    """What an explanation settles at when the simulator is linearised anew, along its own estimates."""
    best = begin
    for _ in range(TURNS):
        found = settled(best.filter, recording, scale)
        if found.nll >= best.nll - CLEARLY:
            return min(found, best, key=lambda one: one.nll)
        best = found
    return best


def best_of(begins: list[KalmanFilter], recording: Recording, scale: Float) -> Explanation:
    """The most likely explanation that any of these filters settles at."""
    return min((settled(one, recording, scale) for one in begins), key=lambda one: one.nll)


def settled(begin: KalmanFilter, recording: Recording, scale: Float) -> Explanation:
    """The noise that a filter finds in its own innovations, beginning with what it has.

    The recursion nears a small error of the simulator slowly: it is also tried in leaps.
    """
    linear = recording.linearised(begin)
    best = Explanation(begin, np.inf)
    now, found = begin, _pass(begin, recording, linear)
    for _ in range(ROUNDS):
        if not np.isfinite(found.nll):
            return best
        if found.nll < best.nll:
            best = Explanation(now, found.nll)
        now = _revised(now, found, scale)
        found = _pass(now, recording, linear)
    while True:
        process = replace(now.process, noise=_least(LEAP * now.process.noise, scale))
        other = _pass(replace(now, process=process), recording, linear)
        if other.nll >= found.nll - CLEARLY:
            break
        now, found = replace(now, process=process), other
    return Explanation(now, found.nll) if found.nll < best.nll else best


def _revised(one: KalmanFilter, found: _Pass, scale: Float) -> KalmanFilter:
    """A filter with the noise that was found when it ran."""
    sensors, part = one.sensors, scale[one.sensors.sensed]
    bias = np.where(sensors.bias > 0, _least(found.bias, part), 0.0)
    return replace(
        one,
        sensors=replace(sensors, noise=_least(found.noise, part), bias=bias),
        process=replace(one.process, noise=_least(found.process, scale)),
    )


def _least(noise: Float, scale: Float) -> Float:
    return np.maximum(noise, SHARPEST * scale)


def _pass(one: KalmanFilter, recording: Recording, linear: Sequence[Linearised] = ()) -> _Pass:
    """Run a filter over all runs at once; without `linear` the simulator runs, too."""
    steps, n = recording.steps, len(recording.steps)
    state = initial = one.initial_state(n)
    size, sensed = recording.sensed.shape[2], one.sensors.sensed
    likelihoods, moves = list[Float](), list[Float]()
    residuals, lefts = list[Float](), list[Float]()
    offsets, unsure = np.zeros((n, len(sensed))), np.zeros((n, len(sensed)))
    biased = np.flatnonzero(one.sensors.bias > 0)
    for t in range(int(steps.max()) + 1):
        before = max(t - 1, 0)
        around = linear[before] if linear else None
        innovation, state = one.watched(state, recording.sensed[:, t], recording.applied[:, before], around)
        live = steps >= t
        if t:
            likelihoods.append(unlikely(innovation)[live])
            residuals.append(np.square(innovation.residual)[live])
            lefts.append(innovation.left[live])
            moves.append(innovation.moved[live, :size])
        last = steps == t
        offsets[np.ix_(last, biased)] = np.asarray(state[BIAS])[last]
        unsure[np.ix_(last, biased)] = np.diagonal(np.asarray(state[COVARIANCE])[last], axis1=1, axis2=2)[:, size:]
        if (~live).any():  # what is over starts again: nothing is taken from it any more
            state = reset_rows(state, initial, ~live)
    residual, left, moved = (np.concatenate(one) for one in (residuals, lefts, moves))
    noise = TO_VARIANCE * np.median(residual, axis=0) + np.median(left, axis=0)
    return _Pass(
        float(np.concatenate(likelihoods).mean()),
        np.sqrt(noise),
        _spread(moved),
        np.sqrt((np.square(offsets) + unsure).mean(axis=0)),
    )


def _spread(moved: Float) -> Float:
    """The standard deviation of corrections (T, d), of which a few may be far larger than most."""
    typical = np.median(np.abs(moved), axis=0)
    most = OUTLYING * 1.4826 * typical
    return np.sqrt(np.square(np.clip(moved, -most, most)).mean(axis=0))


def unlikely(innovation: Innovation) -> Float:
    """How unlikely innovations are (n,), in nats.

    Infinitely, where what the filter expects is no covariance: one that trusts its simulator too far comes to variances
    that rounding makes negative.
    """
    values, covariance = innovation.values, innovation.covariance
    sign, logarithm = np.linalg.slogdet(covariance)
    share = (values * np.linalg.solve(covariance, values[..., None])[..., 0]).sum(axis=1)
    m = values.shape[1]
    there = (sign > 0) & (share >= 0)
    return np.where(there, logarithm / 2 + (FREEDOM + m) / 2 * np.log1p(np.where(there, share, 0.0) / FREEDOM), np.inf)
