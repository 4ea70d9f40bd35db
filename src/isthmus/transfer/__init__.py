"""A run from start to end: collect, learn, evaluate, survive."""

from isthmus.transfer.adapted import Controller, load_adapted
from isthmus.transfer.config import Config
from isthmus.transfer.events import Event
from isthmus.transfer.folder import RunFolder, folder_name
from isthmus.transfer.records import Round
from isthmus.transfer.result import CurvePoint, Result
from isthmus.transfer.runner import run_transfer
from isthmus.transfer.source.context import shared_context
from isthmus.transfer.source.policy import PolicyFile, source_policy

__all__ = [
    "Config",
    "Controller",
    "CurvePoint",
    "Event",
    "PolicyFile",
    "Result",
    "Round",
    "RunFolder",
    "folder_name",
    "load_adapted",
    "run_transfer",
    "shared_context",
    "source_policy",
]
