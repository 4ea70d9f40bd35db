"""Find out what is wrong with a robot file or a policy before it costs days."""

from isthmus.evaluate.preflight.check import Check
from isthmus.evaluate.preflight.preflight import Preflight, Suspect, preflight

__all__ = ["Check", "Preflight", "Suspect", "preflight"]
