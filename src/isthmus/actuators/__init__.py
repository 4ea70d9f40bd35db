"""Actuator models: from a robot's logs to a simulator whose joints move like the robot's."""

from isthmus.actuators.actuator import Actuator, load_actuator
from isthmus.actuators.channel import ActuatorChannel, equip
from isthmus.actuators.contract import Contract
from isthmus.actuators.engine import make_engine
from isthmus.actuators.log import ActuatorLog, joined
from isthmus.actuators.parts import Gru, Joint, Network, Pd

__all__ = [
    "Actuator",
    "ActuatorChannel",
    "ActuatorLog",
    "Contract",
    "Gru",
    "Joint",
    "Network",
    "Pd",
    "equip",
    "joined",
    "load_actuator",
    "make_engine",
]
