"""Policies: the expert's network, the zero action, and the paper's equation."""

from isthmus.policies.network import NetworkPolicy
from isthmus.policies.simple import ZeroPolicy
from isthmus.policies.transfer import Decider, Decision, TransferPolicy, Unadapted

__all__ = ["Decider", "Decision", "NetworkPolicy", "TransferPolicy", "Unadapted", "ZeroPolicy"]
