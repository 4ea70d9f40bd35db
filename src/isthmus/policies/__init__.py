"""Policies: anybody's network, the zero action, and the paper's equation."""

from isthmus.policies.load import load_policy
from isthmus.policies.network import NetworkPolicy
from isthmus.policies.simple import ZeroPolicy
from isthmus.policies.transfer import AdaptedPolicy, Decision, DecisionLog, TracedPolicy, TransferPolicy, Unadapted
from isthmus.policies.view import View

__all__ = [
    "AdaptedPolicy",
    "Decision",
    "DecisionLog",
    "NetworkPolicy",
    "TracedPolicy",
    "TransferPolicy",
    "Unadapted",
    "View",
    "ZeroPolicy",
    "load_policy",
]
