"""ANYmal B, and walking at a commanded speed."""

from isthmus.robots.anymal.model import JOINTS, STANCE, add_motors, anymal_spec
from isthmus.robots.anymal.task import make_anymal, robot_model

__all__ = ["JOINTS", "STANCE", "add_motors", "anymal_spec", "make_anymal", "robot_model"]
