"""Scripts with which a shell completes commands and options."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import subcommand

from isthmus.cli.commands import COMMANDS, Group, Leaf
from isthmus.core import Problem, unknown_name

PRINT, WRITE = "--tyro-print-completion", "--tyro-write-completion"
SHELLS = ("bash", "zsh", "fish")
"""Those that tyro writes scripts for by itself; tcsh would need a package more."""


def asks_for_completion(words: Sequence[str]) -> bool:
    """Whether the command line asks for a completion script."""
    return words[:1] in ([PRINT], [WRITE])


def write_completion(words: Sequence[str]) -> None:
    """Print the script, or write it to a file, as the command line asks."""
    option, *rest = words
    form = f"{PRINT} SHELL" if option == PRINT else f"{WRITE} SHELL FILE"
    if len(rest) != (1 if option == PRINT else 2):
        raise Problem(f"completion is asked for as `isthmus {form}`, with one of {', '.join(SHELLS)} as the shell")
    if rest[0] not in SHELLS:
        raise unknown_name("shell", rest[0], SHELLS)
    if option == WRITE and not Path(rest[1]).parent.is_dir():
        raise Problem(f"there is no folder {Path(rest[1]).parent}: make it first")
    try:
        tyro.cli(_union(COMMANDS), prog="isthmus", args=words, config=(tyro.conf.OmitSubcommandPrefixes,))
    except BrokenPipeError:  # the reader of the script has gone
        raise
    except OSError as error:
        raise Problem(f"cannot write {rest[-1]}: {error.strerror}") from error


def _union(commands: Mapping[str, Leaf | Group]) -> Any:  # noqa: ANN401 - a type that is put together here
    """One type for all commands, so that tyro knows every word that may follow another."""
    choices: list[Any] = [_choice(name, one) for name, one in commands.items()]
    return reduce(lambda some, one: some | one, choices)


def _choice(name: str, one: Leaf | Group) -> Any:  # noqa: ANN401
    if isinstance(one, Leaf):
        return Annotated[one.options, subcommand(name, description=one.summary)]
    made = dataclasses.make_dataclass(name.capitalize(), [("command", _union(one.commands))], frozen=True)
    return Annotated[made, subcommand(name, description=one.summary)]
