"""What a model says of a recorded motion: its torques along the recording, as it would have given them on the robot."""

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.engine import make_engine
from isthmus.actuators.log import ActuatorLog
from isthmus.core import Float, Problem


def predicted(actuator: Actuator, log: ActuatorLog) -> Float:
    """Torques (T, J) along `log`; every segment begins with a history of its first sample."""
    if actuator.contract.joints != log.joints:
        raise Problem(
            f"the model is for the joints {', '.join(actuator.contract.joints)}, in that order; the log has "
            f"{', '.join(log.joints)}"
        )
    begins = np.zeros(len(log), np.bool_)
    begins[list(log.starts)] = True
    return make_engine(actuator.at(log.dt), 1).run(log.target, log.position, log.velocity, begins)


def rmse(values: Float) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
