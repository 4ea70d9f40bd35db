"""`isthmus`: parse, run, and say what went wrong in one sentence."""

import sys
from collections.abc import Sequence

from rich.console import Console

from isthmus.cli.actuator.equipment import outside_warnings, provide_actuators
from isthmus.cli.commands import Command
from isthmus.cli.crash import describe_crash, printable
from isthmus.cli.numbers import check_numbers
from isthmus.cli.old_names import current_arguments
from isthmus.cli.parse import parse
from isthmus.core import Problem

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
        command.run()
        for warning in outside_warnings():
            errors.print(f"isthmus: {warning}", markup=False, style="yellow")
    except Problem as problem:
        errors.print(printable(f"isthmus: {problem}"), markup=False, style="red")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        errors.print("isthmus: interrupted; what is complete is kept", markup=False)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
    except Exception as error:  # the last resort: whatever gets here nobody expected
        said = describe_crash(error, sys.argv[1:] if arguments is None else arguments, command)
        errors.print(f"isthmus: {said}", markup=False, style="red")
        sys.exit(CRASHED)
