"""Ways across a gap: each learns from target data alone and gives back a policy for the target."""

from isthmus.methods.inverse import InverseMethod
from isthmus.methods.method import Explorer, Foreseen, Learned, Method, Source, SourceCost
from isthmus.methods.registry import METHODS, MethodKind, make_method
from isthmus.methods.settings import MethodSettings
from isthmus.methods.unadapted import UnadaptedMethod

__all__ = [
    "METHODS",
    "Explorer",
    "Foreseen",
    "InverseMethod",
    "Learned",
    "Method",
    "MethodKind",
    "MethodSettings",
    "Source",
    "SourceCost",
    "UnadaptedMethod",
    "make_method",
]
