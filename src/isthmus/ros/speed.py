"""How fast a stand-in's time goes."""

import time

from isthmus.core import Problem
from isthmus.ros.address import Address
from isthmus.ros.bindings import Graph, message, parameter
from isthmus.ros.messages import SPEED


def be_fast(address: Address, speed: float) -> None:
    """Have a stand-in's time go at `speed` times the wall's; a robot's cannot."""
    publisher = Graph(address, "isthmus").publish(SPEED, message("std_msgs/Float64"), latch=True)
    told = message("std_msgs/Float64")()
    told.data = speed
    publisher.publish(told)
    for _ in range(100):
        if publisher.get_num_connections() and bool(parameter(address, "/use_sim_time")) == (speed != 1):
            time.sleep(0.2)  # for its clock to have come round
            publisher.unregister()
            return
        time.sleep(0.05)
    publisher.unregister()
    raise Problem(f"the robot at {address} does not go at {speed:g} times its speed: only a stand-in does")
