"""Robot logs: files of many kinds, read into time series with names."""

from isthmus.logs.read import read_log
from isthmus.logs.series import Log, Series

__all__ = ["Log", "Series", "read_log"]
