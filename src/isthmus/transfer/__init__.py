"""A crossing from start to end: collect, learn, evaluate, survive."""

from isthmus.transfer.config import Config
from isthmus.transfer.events import Event
from isthmus.transfer.folder import RunFolder, folder_name
from isthmus.transfer.records import Round
from isthmus.transfer.result import CurvePoint, Result
from isthmus.transfer.runner import cross
from isthmus.transfer.source.context import shared_side
from isthmus.transfer.source.policy import PolicyFile, source_policy

__all__ = [
    "Config",
    "CurvePoint",
    "Event",
    "PolicyFile",
    "Result",
    "Round",
    "RunFolder",
    "cross",
    "folder_name",
    "shared_side",
    "source_policy",
]
