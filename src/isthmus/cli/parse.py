"""From words to the command that they ask for."""

import dataclasses
import difflib
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Suppress, subcommand
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from isthmus.cli.commands import COMMANDS, LEAVES, SECTIONS, Command, Group, Leaf
from isthmus.core import Problem, unknown_name
from isthmus.vision.ranges import Range

PRINT, WRITE = "--tyro-print-completion", "--tyro-write-completion"
SHELLS = ("bash", "zsh", "fish")
"""Those that tyro writes scripts for by itself; tcsh would need a package more."""


TYPES = ConstructorRegistry()
"""Types of options that are written as one word."""


@TYPES.primitive_rule
def _range_rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Range] | None:
    if info.type is not Range:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="LOW:HIGH",
        instance_from_str=lambda words: Range.parse(words[0]),
        is_instance=lambda value: isinstance(value, Range),
        str_from_instance=lambda value: [str(value)],
    )


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
        tyro.cli(
            _union(COMMANDS), prog="isthmus", args=words, config=(tyro.conf.OmitSubcommandPrefixes,), registry=TYPES
        )
    except BrokenPipeError:  # the reader of the script has gone
        raise
    except OSError as error:
        raise Problem(f"cannot write {rest[-1]}: {error.strerror}") from error


def _union(commands: Mapping[str, Leaf | Group]) -> Any:  # noqa: ANN401 - a type that is put together here
    """One type for all commands, so that tyro knows every word that may follow another."""
    choices: list[Any] = [_choice(name, one) for name, one in commands.items()]
    if len(choices) == 1:  # a single choice is no union, and would not be a word
        choices.append(Annotated[None, Suppress])
    return reduce(lambda some, one: some | one, choices)


def _choice(name: str, one: Leaf | Group) -> Any:  # noqa: ANN401
    if isinstance(one, Leaf):
        return Annotated[one.options, subcommand(name, description=one.summary)]
    made = dataclasses.make_dataclass(name.capitalize(), [("command", _union(one.commands))], frozen=True)
    return Annotated[made, subcommand(name, description=one.summary)]


LONGEST = 68
"""Characters of a line about a command: it fits a terminal beside the command's name."""
INTRODUCTION = "Take a robot policy that works in simulation across to the real robot."
FURTHER = "`isthmus COMMAND --help` has options and examples, `isthmus --version` the version."


def overview() -> str:
    """All commands, by what a person wants to do."""
    lines = ["usage: isthmus COMMAND ...", "", INTRODUCTION]  # all of it fits a terminal of 24 lines
    for title, section in SECTIONS.items():
        lines += [f"{title}:", *_rows(section)]
    return "\n".join([*lines, "", FURTHER])


def group_help(name: str, group: Group) -> str:
    """The commands of one group."""
    lines = [f"usage: isthmus {name} {{{','.join(group.commands)}}} ...", "", f"{group.summary.capitalize()}.", ""]
    example = next(iter(group.commands))
    return "\n".join(
        [*lines, *_rows(group.commands), "", f"`isthmus {name} {example} --help` has options and examples."]
    )


def _rows(entries: Mapping[str, Leaf | Group]) -> list[str]:
    return [f"  {name:<12} {_summary(one)}" for name, one in entries.items()]


def _summary(one: Leaf | Group) -> str:
    """A line about a command; of a group that has many, only the first are named."""
    if isinstance(one, Leaf):
        return one.summary
    names = list(one.commands)
    line = f"{one.summary}: {', '.join(names)}"
    while len(line) > LONGEST:
        names.pop()
        line = f"{one.summary}: {', '.join(names)}, ..."
    return line


HELP = ("-h", "--help")
UNREADABLE = 2


def parse(arguments: Sequence[str] | None = None) -> Command:
    """The command that the words ask for; exits where they ask for help or the version, or cannot be read."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if asks_for_completion(words):
        write_completion(words)
        sys.exit(0)
    if words[:1] == ["--version"]:
        print(f"isthmus {version('isthmus')}")
        sys.exit(0)
    if not words or words[0] in HELP:
        _print_help(overview(), asked=bool(words))
    found = COMMANDS.get(words[0]) or _unknown_command(words[0])
    if isinstance(found, Leaf):
        return _options(found, words[:1], words[1:])
    if len(words) == 1 or words[1] in HELP:
        _print_help(group_help(words[0], found), asked=len(words) > 1)
    return _options(_member(words[0], found, words[1]), words[:2], words[2:])


def _options(leaf: Leaf, name: Sequence[str], rest: Sequence[str]) -> Command:
    return tyro.cli(leaf.options, prog=" ".join(("isthmus", *name)), args=rest, registry=TYPES)


def _member(name: str, group: Group, word: str) -> Leaf:
    if word not in group.commands:
        raise unknown_name(f"command of {name}", word, group.commands)
    return group.commands[word]


def _unknown_command(word: str) -> Leaf:
    """Say which command is meant; that of a group may be meant by its last word alone."""
    if word.startswith("-"):
        raise Problem(f"unknown option {word!r}: a command comes first, see `isthmus --help`")
    by_last_word = {words[-1]: " ".join(words) for words in reversed(list(LEAVES))}  # of two alike the first counts
    named = by_last_word | {name: name for name in COMMANDS}
    near = difflib.get_close_matches(word, named, n=1, cutoff=0.5)
    hint = f"; did you mean {named[near[0]]!r}?" if near else ""
    raise Problem(f"unknown command {word!r}: choose from {', '.join(sorted(COMMANDS))}{hint}")


def _print_help(text: str, *, asked: bool) -> None:
    """Print help and exit: on stdout if it was asked for, else on stderr, as an error."""
    print(text, file=sys.stdout if asked else sys.stderr)
    sys.exit(0 if asked else UNREADABLE)
