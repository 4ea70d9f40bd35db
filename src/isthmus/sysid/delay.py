"""Estimate by how many control steps the target's actuators or sensors are delayed.

    late = argmin_d |o' - T_src(o, a_d)|        a_d given d control steps before

Once that is known, commands can be recorded where they took effect, as of a target that is on time.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isthmus.core import Episode, Float, Simulator, Trajectory
from isthmus.core.past_actions import past_actions
from isthmus.core.statistics import PairedGain
from isthmus.sim.sensitivity import predict_in_chunks
from isthmus.sysid.residualise import residualise

LONGEST_DELAY = 4
"""Control steps."""
LEAST_STEPS, MOST_STEPS = 30, 300
"""Steps that it is estimated from."""
CLEARLY, SURELY = 0.1, 4.0
"""Nats by which an earlier command must make a step more likely, and by how many standard errors."""
SHARPEST = 1e-4
"""No prediction is trusted more than this share of what changes in a step."""


def estimate_delay(episodes: Sequence[Episode], simulator: Simulator) -> int:
    """Control steps by which commands are late; 0 unless that is clear.

    `simulator` has actuators without limits. It may be wrong in other ways too: what depends linearly on the state and
    the command alone is not held against any delay.
    """
    runs = [one for episode in episodes for one in episode if not one.context]
    if sum(len(run) for run in runs) < LEAST_STEPS:
        return 0
    now, then = (np.concatenate([run.observations[part] for run in runs]) for part in (np.s_[:-1], np.s_[1:]))
    sent = np.concatenate([_sent_actions(run.applied) for run in runs])
    steps = np.unique(np.linspace(0, len(now) - 1, MOST_STEPS).astype(int))
    now, then, sent = now[steps], then[steps], sent[steps]
    targets = simulator.spec.targets
    scale = (then - now)[:, targets].std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def nll(delay: int) -> Float:
        """Of each step (n,), had its command been so late."""
        actions = sent[:, LONGEST_DELAY - delay]
        left = (then - predict_in_chunks(simulator, now, actions))[:, targets] / scale
        return _nll(residualise(left, np.hstack((now[:, targets], actions))))

    undelayed, best, least = nll(0), 0, 0.0
    for delay in range(1, LONGEST_DELAY + 1):
        gain = PairedGain.of(undelayed, nll(delay), ddof=0)
        if gain.mean > max(CLEARLY, least) and gain.exceeds(by=SURELY):
            best, least = delay, gain.mean
    return best


def _nll(errors: Float) -> Float:
    """How unlikely errors (n, d) are, each among its own kind, in nats (n,).

    By Cauchy's distribution: single steps that nothing predicts, as into a contact, have no more say than others.
    """
    typical = np.maximum(np.median(np.abs(errors), axis=0), SHARPEST)
    return (np.log(typical) + np.log1p(np.square(errors / typical))).sum(axis=1)


def shift_by_delay(episode: Episode, delay: int) -> Episode:
    """An episode whose commands are recorded with the steps that they took effect in."""
    return [_shifted(one, delay) for one in episode if not one.context] if delay else episode


def _shifted(one: Trajectory, delay: int) -> Trajectory:
    commands, applied = (_sent_actions(values)[:, LONGEST_DELAY - delay] for values in (one.commands, one.applied))
    return replace(one, commands=commands, applied=applied)


def _sent_actions(actions: Float) -> Float:
    """The actions (T, act) of the last steps, up to the present one (T, LATEST + 1, act); before the first it was 0."""
    past = past_actions(actions, LONGEST_DELAY).reshape(len(actions), LONGEST_DELAY, -1)
    return np.concatenate((past, actions[:, None]), axis=1)
