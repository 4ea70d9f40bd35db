"""Robot logs: files of many kinds, read into time series with names, and mapped to a robot's joints."""

from isthmus.logs.apply import apply
from isthmus.logs.log_map import LogMap
from isthmus.logs.map_file import read_map, write_map
from isthmus.logs.read import read_log
from isthmus.logs.robot_log import RobotLog
from isthmus.logs.series import Log, Series
from isthmus.logs.velocity_filter import VelocityFilter

__all__ = ["Log", "LogMap", "RobotLog", "Series", "VelocityFilter", "apply", "read_log", "read_map", "write_map"]
