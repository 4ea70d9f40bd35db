"""From words to the command that they ask for."""

import difflib
import sys
from collections.abc import Sequence
from importlib.metadata import version

import tyro

from isthmus.cli.commands import COMMANDS, LEAVES, Command, Group, Leaf
from isthmus.cli.completion import asks_for_completion, write_completion
from isthmus.cli.help import group_help, overview
from isthmus.core import Problem, unknown_name

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
    return tyro.cli(leaf.options, prog=" ".join(("isthmus", *name)), args=rest)


def _member(name: str, group: Group, word: str) -> Leaf:
    if word not in group.commands:
        raise unknown_name(f"command of {name}", word, group.commands)
    return group.commands[word]


def _unknown_command(word: str) -> Leaf:
    """Say which command is meant; that of a group may be meant by its last word alone."""
    if word.startswith("-"):
        raise Problem(f"unknown option {word!r}: a command comes first, see `isthmus --help`")
    by_last_word = {words[-1]: " ".join(words) for words in LEAVES}
    named = by_last_word | {name: name for name in COMMANDS}
    near = difflib.get_close_matches(word, named, n=1, cutoff=0.5)
    hint = f"; did you mean {named[near[0]]!r}?" if near else ""
    raise Problem(f"unknown command {word!r}: choose from {', '.join(sorted(COMMANDS))}{hint}")


def _print_help(text: str, *, asked: bool) -> None:
    """Print help and exit: on stdout if it was asked for, else on stderr, as an error."""
    print(text, file=sys.stdout if asked else sys.stderr)
    sys.exit(0 if asked else UNREADABLE)
