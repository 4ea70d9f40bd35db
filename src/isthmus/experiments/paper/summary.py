"""A figure as far as it is: data, table, plot and page, all from the cells that are on disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.core.command import command_of
from isthmus.core.commit import commits_of
from isthmus.experiments.page import picture, render
from isthmus.experiments.paper.case import Cell
from isthmus.experiments.paper.figure import Figure
from isthmus.experiments.paper.outcome import Outcome
from isthmus.experiments.paper.tally import Tally, tally
from isthmus.experiments.plot import save_drawing
from isthmus.experiments.tables import table
from isthmus.io import write_json, write_whole

TEMPLATE = Path(__file__).parent / "templates" / "figure.html"


@dataclass(frozen=True)
class Summary:
    """What came of a figure."""

    figure: Figure
    tallies: tuple[Tally, ...]

    @staticmethod
    def of(figure: Figure, outcomes: Mapping[Cell, Outcome], asked: Mapping[str, int]) -> "Summary":
        """Put the outcomes together; `asked` is how many seeds of each robot there are to be."""
        return Summary(figure, tally(figure.cases, outcomes, asked))

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table, in words and numbers for people."""
        return [self.figure.row(one) for one in self.tallies]

    @property
    def brief(self) -> list[tuple[str, ...]]:
        """The table as far as it fits on a terminal."""
        places = [self.figure.columns.index(column) for column in self.figure.brief]
        return [tuple(row[place] for place in places) for row in self.rows]

    @property
    def commands(self) -> list[str]:
        """What makes these cells again."""
        seeds = {one.case.robot: len(one.outcomes) + len(one.missing) for one in self.tallies if one.outcomes}
        return [
            command_of(
                ("experiment", "paper", self.figure.name),
                {"quick": self.figure.quick, "tasks": robot, "seeds": count},
            )
            for robot, count in seeds.items()
        ]

    @property
    def versions(self) -> list[dict[str, str]]:
        """Everything that cells were computed with; one entry unless it changed on the way."""
        found = {tuple(sorted(outcome.versions.items())) for one in self.tallies for outcome in one.outcomes}
        return [dict(versions) for versions in sorted(found)]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "figure": self.figure.name,
            "quick": self.figure.quick,
            "cases": [self.figure.figures(one) for one in self.tallies],
            "commands": self.commands,
            "commit": ", ".join(commits_of(self.versions)),
            "versions": self.versions,
        }

    def to_markdown(self) -> str:
        """The table."""
        figure = self.figure
        return "\n\n".join((f"# {figure.title}", *figure.about, table(figure.columns, self.rows))) + "\n"

    def write(self, folder: Path) -> None:
        """Write it all."""
        data, text, plot, page = (folder / f"{self.figure.name}{end}" for end in (".json", ".md", ".svg", ".html"))
        write_json(data, self.to_json())
        write_whole(text, self.to_markdown().encode())
        save_drawing(self.figure.draw(self.tallies), plot)
        write_whole(page, render(TEMPLATE, self._page(picture(plot.read_bytes()))).encode())

    def _page(self, plot: str) -> dict[str, Any]:
        figure = self.figure
        first = figure.columns.index("robot")
        return {
            "title": figure.title,
            "quick": figure.quick,
            "about": figure.about,
            "plot": plot,
            "columns": figure.columns,
            "tables": {robot: [row for row in self.rows if row[first] == robot] for robot in figure.robots},
            "finished": sum(len(one.outcomes) for one in self.tallies),
            "missing": sum(len(one.missing) for one in self.tallies),
            "commands": self.commands,
            "versions": self.versions,
            "episodes": sorted({one.case.config.evaluation_episodes for one in self.tallies}),
        }
