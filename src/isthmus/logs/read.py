"""Read a log, whatever its format: the first bytes decide, and the name only between kinds of text."""

import codecs
from collections.abc import Callable
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import open_regular
from isthmus.logs.csv_folder import read_csv_folder
from isthmus.logs.csv_log import read_csv
from isthmus.logs.json_log import read_json_log
from isthmus.logs.lerobot import read_lerobot
from isthmus.logs.mcap_log import read_mcap
from isthmus.logs.npz_log import read_npz
from isthmus.logs.rosbag1 import read_rosbag1
from isthmus.logs.rosbag2 import read_database, read_rosbag2
from isthmus.logs.series import Log

Reader = Callable[[Path], Log]
MAGIC: dict[bytes, Reader] = {
    b"#ROSBAG V2.0": read_rosbag1,
    b"SQLite format 3\0": read_database,
    b"\x89MCAP0": read_mcap,
    b"PK": read_npz,
}
"""What files begin with."""
NAMED = {
    ".bag": "a bag of ROS 1",
    ".db3": "a database of a bag of ROS 2",
    ".mcap": "an MCAP file",
    ".npz": "an npz file",
}
"""What files of a name have to be, whose first bytes say what they are."""
FORMATS = "rosbag 1 and 2, MCAP, LeRobot folders, CSV, npz and JSON"


def read_log(path: Path) -> Log:
    """The log at `path`, a file or a folder. Nothing in it is executed."""
    try:
        return _reader(path)(path)
    except FileNotFoundError as error:
        raise Problem(f"there is no log at {path}") from error
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error


def _reader(path: Path) -> Reader:
    if path.is_dir():
        return _folder_reader(path)
    with open_regular(path, follow=True) as file:
        begin = file.read(64)
    if not begin:
        raise Problem(f"{path} is empty")
    for magic, reader in MAGIC.items():
        if begin.startswith(magic):
            return reader
    if path.suffix in NAMED:
        raise Problem(f"{path} is not {NAMED[path.suffix]}: it begins with other bytes")
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return read_csv
    if b"\0" in begin:
        raise Problem(f"{path} is not a log: {FORMATS} are read")
    is_json = begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
    return read_json_log if is_json else read_csv


def _folder_reader(path: Path) -> Reader:
    if (path / "meta" / "info.json").is_file():
        return read_lerobot
    if any(any(path.glob(kind)) for kind in ("*.db3", "*.mcap", "*.db3.zstd", "*.mcap.zstd")):
        return read_rosbag2
    if any(path.glob("*.csv")):
        return read_csv_folder
    raise Problem(f"the folder {path} is not a log: {FORMATS} are read")
