"""From words to the command that they ask for."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any, get_args

import tyro
from tyro.conf import subcommand

from isthmus.cli.ablate import Ablate
from isthmus.cli.bench import Bench
from isthmus.cli.check import Check
from isthmus.cli.compare import Compare
from isthmus.cli.compare_suite import CompareSuite
from isthmus.cli.expert import Action, Expert
from isthmus.cli.identify import Identify
from isthmus.cli.lists import Gaps, Methods, Tasks
from isthmus.cli.oracle import Oracle
from isthmus.cli.random_gaps import Survey
from isthmus.cli.report import Report
from isthmus.cli.reproduce import Reproduce
from isthmus.cli.robot import Robot
from isthmus.cli.seeds import Study
from isthmus.cli.transfer import Transfer
from isthmus.core import unknown_name

Command = (
    Annotated[Transfer, subcommand("transfer")]
    | Annotated[Report, subcommand("report")]
    | Annotated[Study, subcommand("study")]
    | Annotated[Survey, subcommand("survey")]
    | Annotated[Ablate, subcommand("ablate")]
    | Annotated[Compare, subcommand("compare")]
    | Annotated[CompareSuite, subcommand("compare-suite")]
    | Annotated[Oracle, subcommand("oracle")]
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


def parse(arguments: Sequence[str] | None = None) -> Command:
    """The command that the words ask for; exits where they ask for help or the version, or cannot be read."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["--version"]:
        print(f"isthmus {version('isthmus')}")
        sys.exit(0)
    _check_name("command", words[:1], Command)
    if words[:1] == ["expert"]:
        _check_name("action of expert", words[1:2], Action)
    return tyro.cli(
        Command,  # pyright: ignore[reportArgumentType]
        prog="isthmus",
        description=(
            "Take a robot policy that works in simulation across to the real robot, without retraining it. "
            "`isthmus --version` prints the version."
        ),
        args=words,
        config=(tyro.conf.OmitSubcommandPrefixes,),
    )


def _check_name(kind: str, word: Sequence[str], choices: Any) -> None:  # noqa: ANN401 - a union of annotated types
    """Refuse a word that is no option and not the name of any of `choices`."""
    names = [get_args(choice)[1].name for choice in get_args(choices)]
    for name in word:
        if not name.startswith("-") and name not in names:
            raise unknown_name(kind, name, names)
