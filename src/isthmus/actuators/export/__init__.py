"""Write actuator models for other simulators and for robots, each checked against the model it was made from."""

from isthmus.actuators.export.export import FORMATS, export

__all__ = ["FORMATS", "export"]
