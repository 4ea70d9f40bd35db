"""A figure of the paper: its cells, how they are shown, and the files that are made of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isthmus.core.command import command_of
from isthmus.experiments.by_seed import commit_text, distinct
from isthmus.experiments.drawing import Figure as Drawing
from isthmus.experiments.grid import Json
from isthmus.experiments.page import Page, publish
from isthmus.experiments.paper.cells import Case, Tally
from isthmus.experiments.paper.settings import ARM_GROUPS
from isthmus.experiments.tables import table
from isthmus.transfer import PolicyFile


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, to be reproduced."""

    name: str
    quick: bool
    title: str
    about: tuple[str, ...]
    """What is shown and how to read it, in paragraphs."""
    cases: tuple[Case, ...]
    columns: tuple[str, ...]
    """The columns of its table; those that end in a space hold numbers."""
    brief: tuple[str, ...]
    """The columns that fit on a terminal."""
    row: Callable[[Tally], tuple[str, ...]]
    """The table's row of a case."""
    figures: Callable[[Tally], Json]
    """The numbers of a case as plain data."""
    draw: Callable[[Sequence[Tally]], Drawing]

    @property
    def robots(self) -> tuple[str, ...]:
        """Every robot in the figure."""
        return tuple(dict.fromkeys(case.robot for case in self.cases))

    @property
    def folder(self) -> str:
        """The name of its folder; a quick look has another one."""
        return f"{self.name}-quick" if self.quick else self.name

    def with_policy(self, robot: str, policy: PolicyFile) -> "Figure":
        """The cases of one robot, with another policy than its expert."""
        cases = [one for one in self.cases if one.robot == robot]
        return replace(self, cases=tuple(replace(one, config=replace(one.config, policy=policy)) for one in cases))

    @property
    def options(self) -> Json:
        """The options of a command that say what is not as usual."""
        names = {case.arm for case in self.cases}
        groups = [group for group, arms in ARM_GROUPS.items() if names & {arm.name for arm in arms}]
        policy = self.cases[0].config.policy if self.cases else None
        return {"arms": groups if groups != ["ours"] else None, **(policy.options if policy else {})}


@dataclass(frozen=True)
class Summary:
    """The results of a figure so far."""

    figure: Figure
    tallies: tuple[Tally, ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table as text."""
        return [self.figure.row(one) for one in self.tallies]

    @property
    def brief(self) -> list[tuple[str, ...]]:
        """The table with the columns that fit on a terminal."""
        places = [self.figure.columns.index(column) for column in self.figure.brief]
        return [tuple(row[place] for place in places) for row in self.rows]

    @property
    def commands(self) -> list[str]:
        """The commands that repeat the cells."""
        seeds = {one.case.robot: len(one.found) + len(one.missing) for one in self.tallies if one.found}
        return [
            command_of(
                ("experiment", "paper", self.figure.name),
                {"quick": self.figure.quick, "tasks": robot, **self.figure.options, "seeds": count},
            )
            for robot, count in seeds.items()
        ]

    @property
    def versions(self) -> list[dict[str, str]]:
        """The software that the cells were computed with."""
        return distinct([versions for one in self.tallies for versions in one.values("versions")])

    def to_json(self) -> Json:
        """The figure as plain data."""
        return {
            "figure": self.figure.name,
            "quick": self.figure.quick,
            "cases": [self.figure.figures(one) for one in self.tallies],
            "commands": self.commands,
            "commit": commit_text(self.versions),
            "versions": self.versions,
        }

    def write(self, folder: Path) -> None:
        """Write NAME.json, .md, .svg and .html."""
        figure = self.figure
        text = "\n\n".join((f"# {figure.title}", *figure.about, table(figure.columns, self.rows))) + "\n"
        page = Page("figure.html", self._content())
        publish(folder, figure.name, self.to_json(), text, figure.draw(self.tallies), page)

    def _content(self) -> dict[str, Any]:
        figure = self.figure
        first = figure.columns.index("robot")
        return {
            "title": figure.title,
            "quick": figure.quick,
            "about": figure.about,
            "columns": figure.columns,
            "tables": {robot: [row for row in self.rows if row[first] == robot] for robot in figure.robots},
            "finished": sum(len(one.found) for one in self.tallies),
            "missing": sum(len(one.missing) for one in self.tallies),
            "commands": self.commands,
            "versions": self.versions,
            "episodes": sorted({one.case.config.evaluation_episodes for one in self.tallies}),
        }
