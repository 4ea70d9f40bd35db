"""How late does the target do what it is told, or show what it does? Either way, a step is due to an earlier command.

    late = argmin_d |o' - T_src(o, a_d)|        a_d given d control steps before

Once that is known, commands can be recorded where they took effect, as of a target that is on time.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isthmus.core import Episode, Float, Simulator, Trajectory
from isthmus.core.past_actions import recorded_past
from isthmus.sim.sensitivity import predict_in_chunks
from isthmus.sysid.residualise import without_lines

LATEST = 4
"""Control steps."""
LEAST_STEPS, MOST_STEPS = 30, 300
"""Steps that it is told from."""
CLEARLY, SURELY = 0.1, 4.0
"""Nats by which an earlier command must make a step more likely, and by how many standard errors."""
SHARPEST = 1e-4
"""No prediction is trusted more than this share of what changes in a step."""


def lateness(episodes: Sequence[Episode], simulator: Simulator) -> int:
    """Control steps by which commands are late; 0 unless that is clear.

    `simulator` has actuators without limits. It may be wrong in other ways too: what goes along with the state and the
    command alone, by a straight line, is not held against any delay.
    """
    runs = [one for episode in episodes for one in episode if not one.context]
    if sum(len(run) for run in runs) < LEAST_STEPS:
        return 0
    now, then = (np.concatenate([run.observations[part] for run in runs]) for part in (np.s_[:-1], np.s_[1:]))
    sent = np.concatenate([_sent(run.applied) for run in runs])
    steps = np.unique(np.linspace(0, len(now) - 1, MOST_STEPS).astype(int))
    now, then, sent = now[steps], then[steps], sent[steps]
    targets = simulator.spec.targets
    spread = (then - now)[:, targets].std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def surprise(late: int) -> Float:
        """Of each step (n,), had its command been so late."""
        actions = sent[:, LATEST - late]
        left = (then - predict_in_chunks(simulator, now, actions))[:, targets] / spread
        return _surprise(without_lines(left, np.hstack((now[:, targets], actions))))

    on_time, best, least = surprise(0), 0, 0.0
    for late in range(1, LATEST + 1):
        gain = on_time - surprise(late)
        if gain.mean() > max(CLEARLY, SURELY * gain.std() / np.sqrt(len(gain)), least):
            best, least = late, float(gain.mean())
    return best


def _surprise(errors: Float) -> Float:
    """How unlikely errors (n, d) are, each among its own kind, in nats (n,).

    By Cauchy's distribution: single steps that nothing predicts, as into a contact, have no more say than others.
    """
    typical = np.maximum(np.median(np.abs(errors), axis=0), SHARPEST)
    return (np.log(typical) + np.log1p(np.square(errors / typical))).sum(axis=1)


def on_time(episode: Episode, late: int) -> Episode:
    """An episode whose commands are recorded with the steps that they took effect in."""
    return [_shifted(one, late) for one in episode if not one.context] if late else episode


def _shifted(one: Trajectory, late: int) -> Trajectory:
    commands, applied = (_sent(values)[:, LATEST - late] for values in (one.commands, one.applied))
    return replace(one, commands=commands, applied=applied)


def _sent(actions: Float) -> Float:
    """The actions (T, act) of the last steps, up to the present one (T, LATEST + 1, act); before the first it was 0."""
    past = recorded_past(actions, LATEST).reshape(len(actions), LATEST, -1)
    return np.concatenate((past, actions[:, None]), axis=1)
