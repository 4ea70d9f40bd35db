"""`isthmus`: parse, run, and say what went wrong in one sentence."""

import dataclasses
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, cast

from rich.console import Console
from threadpoolctl import threadpool_limits

from isthmus.cli.actuator.equipment import outside_warnings, provide_actuators
from isthmus.cli.commands import Command
from isthmus.cli.firmware.equipment import provide_twins
from isthmus.cli.old_names import current_arguments
from isthmus.cli.parse import parse
from isthmus.core import Problem, check_range
from isthmus.core.extras import missing_extra

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


LARGEST = 10**9
MOST = {
    "seed": 2**63 - 1,
    "counter_offset": 2**32 - 1,
    "episodes": 10_000,
    "oracle_episodes": 10_000,
    "evaluation_episodes": 10_000,
    "seeds": 10_000,
    "gaps": 10_000,
    "repeats": 10_000,
    "workers": 1_000,
    "worlds": 100_000,
    "hidden": 10_000,
    "placed": 10_000,
    "history": 1_000,
}
"""The largest sensible value of an option, by its name; `LARGEST` for all others."""


def check_numbers(command: object, prefix: str = "") -> None:
    """Refuse the first number of a parsed command that is not finite, or beyond what any run needs."""
    for field in dataclasses.fields(cast("Any", command)):
        value: object = getattr(command, field.name)
        name = f"{prefix}{field.name.replace('_', '-')}"
        if dataclasses.is_dataclass(value):
            check_numbers(value, f"{name}.")
        for number in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool):
                most = MOST.get(field.name, LARGEST)
                check_range(name, number, -most, most)


BAD_INPUT, CRASHED, INTERRUPTED = 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with code 2 on bad input, and with code 3 on a fault of the program itself."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    current, notices = current_arguments(sys.argv[1:] if arguments is None else arguments)
    for notice in notices:
        errors.print(f"isthmus: {notice}", markup=False)
    command: Command | None = None
    try:
        command = parse(current)
        check_numbers(command)
        provide_actuators()
        provide_twins()
        # Matrices this small gain nothing from threads, and wait for them where the machine has other work to do.
        with threadpool_limits(1, user_api="blas"):
            command.run()
        for warning in outside_warnings():
            errors.print(f"isthmus: {warning}", markup=False, style="yellow")
    except Problem as problem:
        errors.print(printable(f"isthmus: {problem}"), markup=False, style="red")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        errors.print("isthmus: interrupted; what is complete is kept", markup=False)
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        if (problem := missing_extra(error.name)) is None:
            _crash(errors, error, arguments, command)
        errors.print(f"isthmus: {problem}", markup=False, style="red")
        sys.exit(BAD_INPUT)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
    except Exception as error:  # the last resort: whatever gets here nobody expected
        _crash(errors, error, arguments, command)


def _crash(errors: Console, error: Exception, arguments: Sequence[str] | None, command: object) -> NoReturn:
    said = describe_crash(error, sys.argv[1:] if arguments is None else arguments, command)
    errors.print(f"isthmus: {said}", markup=False, style="red")
    sys.exit(CRASHED)
