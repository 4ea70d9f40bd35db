"""Ways across a gap: each learns from target data alone and gives back a policy for the target."""

from isthmus.adapt.baselines.unadapted import UnadaptedMethod
from isthmus.adapt.inverse_network.method import InverseMethod
from isthmus.adapt.method import Explorer, FitReport, Method, PredictedScore, Source, SourceCost
from isthmus.adapt.registry import METHODS, MethodKind, make_method
from isthmus.adapt.settings import MethodSettings

__all__ = [
    "METHODS",
    "Explorer",
    "FitReport",
    "InverseMethod",
    "Method",
    "MethodKind",
    "MethodSettings",
    "PredictedScore",
    "Source",
    "SourceCost",
    "UnadaptedMethod",
    "make_method",
]
