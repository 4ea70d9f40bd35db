"""The paper's method: a deep inverse dynamics model of the target.

`isthmus.adapt.inverse_network.fit` is not imported here: running a model needs no torch, only fitting one does.
"""

from isthmus.adapt.inverse_network.network import InverseNetwork

__all__ = ["InverseNetwork"]
