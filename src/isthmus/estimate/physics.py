"""Physics and sensors together: innovations also correct the simulator that a filter predicts with.

Parameters under which the filter's innovations are likeliest give the next simulator, and the sensors are estimated
again with it. The simulator is kept if innovations are clearly likelier than before.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Int
from isthmus.estimate.course import Course
from isthmus.estimate.innovations import CLEARLY, Explanation, again, first_explanation, settled, with_offsets
from isthmus.estimate.prediction_error import identified
from isthmus.estimate.recorded import Recording
from isthmus.sim import MujocoWorld
from isthmus.sysid.physics import Physics

TURNS = 3
"""Times at most that physics are identified."""


@dataclass(frozen=True)
class Model:
    """Sensors and the physics beside them."""

    explained: Explanation
    z: Float
    """Parameters of the physics (p,)."""


def model_of(recording: Recording, physics: Physics, sensed: Int, course: Course) -> Model:
    """Sensors and physics as a recording shows them: noise first, then physics, then offsets and physics again."""
    z = np.zeros(physics.size)
    start = course.start, course.start_covariance, course.most
    first = first_explanation(recording, simulator_of(physics, z), sensed, start, course.scale)
    plain = _with_physics(Model(first, z), recording, physics, course)
    biased = with_offsets(plain.explained, recording, course.scale)
    if biased is plain.explained:
        return plain
    return _with_physics(Model(biased, plain.z), recording, physics, course)


def _with_physics(best: Model, recording: Recording, physics: Physics, course: Course) -> Model:
    """The same with physics that explain innovations better, if there are any."""
    for _ in range(TURNS):
        one = best.explained.filter
        z = identified(one, best.z, recording, physics)
        begin = settled(replace(one, simulator=simulator_of(physics, z)), recording, course.scale)
        tried = again(begin, recording, course.scale)
        if tried.nll >= best.explained.nll - CLEARLY:
            break
        best = Model(tried, z)
    return best


def simulator_of(physics: Physics, z: Float) -> MujocoWorld:
    """The simulator with parameters z."""
    return physics.simulator(physics.values(z))
