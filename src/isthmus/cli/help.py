"""Help for `isthmus` and for a group of commands: a line a command, on one screen."""

from collections.abc import Mapping

from isthmus.cli.commands import SECTIONS, Group, Leaf

INTRODUCTION = "Take a robot policy that works in simulation across to the real robot."
FURTHER = "`isthmus COMMAND --help` has options and examples, `isthmus --version` the version."


def overview() -> str:
    """All commands, by what a person wants to do."""
    lines = ["usage: isthmus COMMAND ...", "", INTRODUCTION, ""]
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
    return f"{one.summary}: {', '.join(one.commands)}" if isinstance(one, Group) else one.summary
