"""`isthmus`: parse, run, and say what went wrong in one sentence."""

import sys
from collections.abc import Sequence
from typing import Annotated

import tyro
from rich.console import Console
from tyro.conf import subcommand

from isthmus.cli.ablate import Ablate
from isthmus.cli.bench import Bench
from isthmus.cli.ceiling import Ceiling
from isthmus.cli.check import Check
from isthmus.cli.compare import Compare
from isthmus.cli.compare_suite import CompareSuite
from isthmus.cli.crash import describe_crash, printable
from isthmus.cli.expert import Expert
from isthmus.cli.identify import Identify
from isthmus.cli.lists import Gaps, Methods, Tasks
from isthmus.cli.numbers import check_numbers
from isthmus.cli.report import Report
from isthmus.cli.reproduce import Reproduce
from isthmus.cli.robot import Robot
from isthmus.cli.study import Study
from isthmus.cli.survey import Survey
from isthmus.cli.transfer import Transfer
from isthmus.core import Problem

Command = (
    Annotated[Transfer, subcommand("transfer")]
    | Annotated[Report, subcommand("report")]
    | Annotated[Study, subcommand("study")]
    | Annotated[Survey, subcommand("survey")]
    | Annotated[Ablate, subcommand("ablate")]
    | Annotated[Compare, subcommand("compare")]
    | Annotated[CompareSuite, subcommand("compare-suite")]
    | Annotated[Ceiling, subcommand("ceiling")]
    | Annotated[Identify, subcommand("identify")]
    | Annotated[Reproduce, subcommand("reproduce")]
    | Annotated[Robot, subcommand("robot")]
    | Annotated[Tasks, subcommand("tasks")]
    | Annotated[Gaps, subcommand("gaps")]
    | Annotated[Methods, subcommand("methods")]
    | Annotated[Check, subcommand("check")]
    | Annotated[Expert, subcommand("expert")]
    | Annotated[Bench, subcommand("bench")]
)

BAD_INPUT, CRASHED, INTERRUPTED = 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with code 2 on bad input, and with code 3 on a fault of the program itself."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    command: Command | None = None
    try:
        command = tyro.cli(
            Command,  # pyright: ignore[reportArgumentType]
            prog="isthmus",
            description="Take a robot policy that works in simulation across to the real robot, without retraining it.",
            args=arguments,
            config=(tyro.conf.OmitSubcommandPrefixes,),
        )
        check_numbers(command)
        command.run()
    except Problem as problem:
        errors.print(printable(f"isthmus: {problem}"), markup=False, style="red")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        errors.print("isthmus: interrupted; what is complete is kept", markup=False)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
    except Exception as error:  # the last resort: whatever gets here was foreseen by nobody
        said = describe_crash(error, sys.argv[1:] if arguments is None else arguments, command)
        errors.print(f"isthmus: {said}", markup=False, style="red")
        sys.exit(CRASHED)
