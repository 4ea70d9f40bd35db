"""The last resort: what to do with an error that nobody foresaw."""

import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

FOLDERS = ("out", "run_folder", "logs")
"""Options of commands that name a run folder."""


def describe_crash(error: BaseException, arguments: Sequence[str], command: object) -> str:
    """Write the traceback to a file, and say in one sentence what happened and where it is.

    If no file can be written, the traceback follows the sentence.
    """
    what = f"{type(error).__name__}: {_first_line(error)}" if str(error) else type(error).__name__
    sentence = f"something went wrong that should not have ({what})"
    text = _text(error, arguments)
    for folder in _folders(command):
        path = folder / f"isthmus-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        try:
            with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return f"{sentence}; the traceback is in {path}: please send it to us"
    return f"{sentence}; no file could be written for the traceback, so here it is\n{text}"


def printable(text: str) -> str:
    """The text as one line without control characters: names in strangers' files reach the terminal in messages."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _folders(command: object) -> list[Path]:
    """Where the file may go, best first: the run folder that the command names, and the current one."""
    named = [getattr(command, name, None) for name in FOLDERS]
    runs = [path for path in named if isinstance(path, Path) and (path / "config.json").is_file()]
    return [*runs, Path()]


def _text(error: BaseException, arguments: Sequence[str]) -> str:
    about = [
        f"command: {[*arguments]}",
        f"isthmus {version('isthmus')}, Python {platform.python_version()}, {sys.platform}",
    ]
    return "\n".join([*about, "", *traceback.format_exception(error)])


def _first_line(error: BaseException) -> str:
    return printable(str(error).strip().splitlines()[0])[:200] if str(error).strip() else ""
