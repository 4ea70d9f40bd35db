"""Old names of commands, options and methods, which the command line still takes for a release."""

import re
from collections.abc import Sequence

from isthmus.adapt.common.method_names import OLD_NAMES

COMMANDS = {
    "tasks": "list tasks",
    "gaps": "list gaps",
    "methods": "list methods",
    "expert": "policy",
    "identify": "analyse identify",
    "oracle": "analyse oracle",
    "ceiling": "analyse oracle",
    "study": "experiment seeds",
    "survey": "experiment random-gaps",
    "ablate": "experiment ablation",
    "compare-suite": "experiment fixed-gaps",
    "reproduce": "experiment paper",
}
SYNONYMS = {("reproduce", "anymal"): "experiment anymal"}
"""Commands that may also be called so: these names stay."""
OPTIONS = {"--ceiling": "--oracle", "--no-ceiling": "--no-oracle", "--ceiling-episodes": "--oracle-episodes"}
OPTIONS_OF: dict[tuple[str, ...], dict[str, str]] = {
    ("experiment", "fixed-gaps"): {"--only": "--tasks"},
    ("experiment", "paper"): {"--only": "--tasks"},
    ("robot", "faults"): {"--lanes": "--workers"},
}
"""Old options of single commands."""
POSITIONAL: dict[tuple[str, ...], str] = {("check",): "--task"}
"""Options whose value is given without a name now."""
NAMING_METHODS = ("--method", "--methods", "--episodes")
"""Options whose values name methods."""


def current_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments by their current names, and a line for each old name among them."""
    words, old = list(arguments), dict[str, str]()
    if tuple(words[:2]) in SYNONYMS:
        words[:2] = SYNONYMS[words[0], words[1]].split()
    if words and words[0] in COMMANDS:
        old[words[0]] = COMMANDS[words[0]]
        words[:1] = COMMANDS[words[0]].split()
    renamed = OPTIONS | OPTIONS_OF.get(tuple(words[:2]), {})
    positional = POSITIONAL.get(tuple(words[:1]), "")
    current, option = list[str](), ""
    for given in words:
        name, equals, value = given.partition("=") if given.startswith("--") else ("", "", given)
        option = name or option
        if option in NAMING_METHODS:
            value = _methods(value, old)
        if name and name == positional:
            old[f"{words[0]} {name} {name[2:].upper()}"] = f"{words[0]} {name[2:].upper()}"
            current += [value] if equals else []
            continue
        if name in renamed:
            old[name], name = renamed[name], renamed[name]
        current.append(name + equals + value)
    return current, [f"{name} is now called {new}; the old name will go" for name, new in old.items()]


def _methods(value: str, old: dict[str, str]) -> str:
    """A list of methods, such as pd,explained or 50,explained=16, by their current names."""

    def renamed(match: re.Match[str]) -> str:
        new = OLD_NAMES.get(match[0], match[0])
        if new != match[0]:
            old[match[0]] = new
        return new

    return re.sub(r"[a-z][a-z-]*", renamed, value)
