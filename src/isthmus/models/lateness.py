"""How late does the target do what it is told, or show what it does? Either way, a step is due to an earlier command.

    late = argmin_d |o' - T_src(o, a_d)|        a_d given d control steps before

Once that is known, commands can be recorded where they took effect, as of a target that is on time.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isthmus.core import Episode, Float, Simulator, Trajectory
from isthmus.models.past_commands import recorded_past
from isthmus.models.sensitivity import predict_in_chunks

LATEST = 4
"""Control steps."""
LEAST_STEPS, MOST_STEPS = 30, 300
"""Steps that it is told from."""
CLEARLY, SURELY = 0.3, 3.0
"""How much closer an earlier command must come to what happened (1 is all the way), and by how many standard errors."""
ROWS_A_FEATURE, RIDGE = 3, 1.0
TINY = 1e-12


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

    def missed(late: int) -> Float:
        actions = sent[:, LATEST - late]
        left = (then - predict_in_chunks(simulator, now, actions))[:, targets] / spread
        return np.square(_without_lines(left, np.hstack((now[:, targets], actions)))).mean(axis=1)

    on_time, best, closest = missed(0), 0, 0.0
    for late in range(1, LATEST + 1):
        earlier = missed(late)
        # A share, step by step: single steps that nothing predicts, as into a contact, have no more say than others.
        closer = (on_time - earlier) / (on_time + earlier + TINY)
        mean, error = closer.mean(), closer.std() / np.sqrt(len(closer))
        if mean > max(CLEARLY, SURELY * error, closest):
            best, closest = late, mean
    return best


def _without_lines(errors: Float, along: Float) -> Float:
    """What no line along the columns of (n, k) explains of errors (n, d), as far as there are rows enough to tell."""
    scale = along.std(axis=0)
    features = np.hstack((np.ones((len(along), 1)), (along - along.mean(axis=0))[:, scale > 0] / scale[scale > 0]))
    if len(features) < ROWS_A_FEATURE * features.shape[1]:
        return errors
    normal = features.T @ features + RIDGE * np.eye(features.shape[1])
    return errors - features @ np.linalg.solve(normal, features.T @ errors)


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
