"""Learned models of the target.

`isthmus.models.fit` is not imported here: running a model needs no torch, only fitting one does.
"""

from isthmus.models.inverse import InverseNetwork
from isthmus.models.settings import FitSettings

__all__ = ["FitSettings", "InverseNetwork"]
