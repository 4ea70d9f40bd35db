"""Old names of commands, options and methods, which the command line still takes for a release."""

import re
from collections.abc import Sequence

from isthmus.adapt.common.method_names import OLD_NAMES

COMMANDS = {"ceiling": "oracle"}
OPTIONS = {"--ceiling": "--oracle", "--no-ceiling": "--no-oracle", "--ceiling-episodes": "--oracle-episodes"}
NAMING_METHODS = ("--method", "--methods", "--episodes")
"""Options whose values name methods."""


def current_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments by their current names, and a line for each old name among them."""
    current, old = list[str](), dict[str, str]()
    option = ""
    for number, given in enumerate(arguments):
        name, equals, value = given.partition("=") if given.startswith("--") else ("", "", given)
        if name:
            renamed, option = OPTIONS.get(name, name), name
            value = _methods(value, old) if name in NAMING_METHODS else value
        elif option in NAMING_METHODS:
            renamed, value = "", _methods(value, old)
        else:
            renamed, value = "", COMMANDS.get(value, value) if number == 0 else value
        current.append(renamed + equals + value)
        if (name and renamed != name) or (number == 0 and value != given):
            old[name or given] = renamed or value
    return current, [f"{name} is now called {new}; the old name will go" for name, new in old.items()]


def _methods(value: str, old: dict[str, str]) -> str:
    """A list of methods, such as pd,explained or 50,explained=16, by their current names."""

    def renamed(match: re.Match[str]) -> str:
        new = OLD_NAMES.get(match[0], match[0])
        if new != match[0]:
            old[match[0]] = new
        return new

    return re.sub(r"[a-z][a-z-]*", renamed, value)
