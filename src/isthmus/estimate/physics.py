"""Physics and sensors together: innovations also correct the simulator that a filter predicts with.

A step begins where the filter estimates it did, and leads to what the sensors show then, less their offsets. What is
not sensed leads to what the filter estimates. Parameters that explain those steps best give the next simulator, and
the sensors are estimated again with it. The simulator is kept if innovations are likelier than before.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Int
from isthmus.estimate.course import Course
from isthmus.estimate.innovations import CLEARLY, Explanation, again, first_explanation, settled, with_offsets
from isthmus.estimate.kalman import BIAS, KalmanFilter
from isthmus.estimate.recorded import Recording
from isthmus.sim import MujocoWorld
from isthmus.sysid.fit import identify
from isthmus.sysid.physics import Physics
from isthmus.sysid.transitions import Transitions

TURNS = 2
"""Times at most that physics are identified."""


@dataclass(frozen=True)
class Model:
    """Sensors and the physics beside them."""

    explained: Explanation
    z: Float
    """Parameters of the physics (p,)."""


def model_of(recording: Recording, physics: Physics, sensed: Int, course: Course, targets: Int) -> Model:
    """Sensors and physics as a recording shows them: noise first, then physics, then offsets and physics again."""
    z = np.zeros(physics.size)
    start = course.start, course.start_covariance, course.most
    first = first_explanation(recording, simulator_of(physics, z), sensed, start, course.scale)
    plain = _with_physics(Model(first, z), recording, physics, course, targets)
    biased = with_offsets(plain.explained, recording, course.scale)
    if biased is plain.explained:
        return plain
    return _with_physics(Model(biased, plain.z), recording, physics, course, targets)


def _with_physics(best: Model, recording: Recording, physics: Physics, course: Course, targets: Int) -> Model:
    """The same with physics that explain innovations better, if there are any."""
    for _ in range(TURNS):
        one = best.explained.filter
        z = identify(physics, steps_of(one, recording), targets, start=best.z).z
        begin = settled(replace(one, simulator=simulator_of(physics, z)), recording, course.scale)
        tried = again(begin, recording, course.scale)
        if tried.nll >= best.explained.nll - CLEARLY:
            break
        best = Model(tried, z)
    return best


def simulator_of(physics: Physics, z: Float) -> MujocoWorld:
    """The simulator with parameters z."""
    return physics.simulator(physics.values(z))


def steps_of(one: KalmanFilter, recording: Recording) -> Transitions:
    """Recorded steps by a filter: from its estimates to what was sensed."""
    sensors, rows = one.sensors, one.sensors.sensed
    state, estimates, seen = one.initial_state(len(recording.steps)), list[Float](), list[Float]()
    for t in range(recording.sensed.shape[1]):
        shown = recording.sensed[:, t, rows].copy()
        estimate, state = one.update(state, recording.sensed[:, t], recording.applied[:, max(t - 1, 0)])
        shown[:, sensors.bias > 0] -= np.asarray(state[BIAS])
        estimates.append(estimate)
        reached = estimate.copy()
        reached[:, rows] = np.where(np.isfinite(shown), shown, estimate[:, rows])
        seen.append(reached)
    late = np.array(range(sensors.delay, recording.applied.shape[1]), np.int64)
    taken = late < recording.steps[:, None]  # (n, T - delay)
    before, after = np.stack(estimates, axis=1), np.stack(seen, axis=1)
    acting = recording.acting(sensors.delay)
    begin = sensors.delay
    return Transitions(before[:, begin:-1][taken], acting[:, begin:][taken], after[:, begin + 1 :][taken])
