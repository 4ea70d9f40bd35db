"""A crossing from start to end: collect, learn, evaluate, survive."""

from isthmus.transfer.config import Config
from isthmus.transfer.crossing import cross
from isthmus.transfer.events import Event
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.records import Round
from isthmus.transfer.result import CurvePoint, Result

__all__ = ["Config", "CurvePoint", "Event", "Result", "Round", "RunFolder", "cross"]
