"""Figure 5 as a table and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.core.commit import EARLIER
from isthmus.experiments.grid import Json
from isthmus.experiments.paper.figure_5.settings import LIMITS, PAPER
from isthmus.io import write_json

COLUMNS = ("robot", "method", "off by ", "+/- ", "to PD ", "samples ", "min ", "clipped ")


@dataclass(frozen=True)
class Summary:
    """The results so far, by robot and method."""

    robots: Mapping[str, Mapping[str, Json]]

    @staticmethod
    def of(found: Mapping[tuple[str, str], Json]) -> "Summary":
        """Add mean, standard deviation and ratio to PD to the result of every robot and method."""
        robots: dict[str, dict[str, Json]] = {}
        for robot, method in sorted(found, key=lambda key: key[0]):
            result: Json = {"robot": robot, "method": method, "commit": EARLIER, **found[robot, method]}
            distances = np.array(result["distances"], np.float64)
            result |= {"mean": float(distances.mean()), "std": float(distances.std())}
            robots.setdefault(robot, {})[method] = result
        for methods in robots.values():
            for result in methods.values():
                result["ratio_to_pd"] = result["mean"] / methods["pd"]["mean"] if "pd" in methods else None
        return Summary(robots)

    @property
    def rows(self) -> list[Sequence[str]]:
        """The table, and the paper's numbers last."""
        rows: list[Sequence[str]] = [
            (
                one["robot"],
                one["method"],
                f"{one['mean']:.2%}",
                f"{one['std']:.2%}",
                "" if one["ratio_to_pd"] is None else f"{one['ratio_to_pd']:.2f}",
                f"{one['samples']}",
                f"{one['robot_minutes']:.1f}",
                f"{sum(one['clipped'][kind] for kind in LIMITS)}",
            )
            for methods in self.robots.values()
            for one in methods.values()
        ]
        for method, (mean, std) in PAPER.items():
            rows.append(("paper's", method, f"{mean:.2%}", f"{std:.2%}", f"{mean / PAPER['pd'][0]:.2f}", "", "", ""))
        return rows

    def write(self, folder: Path) -> None:
        """Write figure-5.json."""
        write_json(folder / "figure-5.json", self.to_json())

    def to_json(self) -> Json:
        """The figure as plain data."""
        paper = {method: {"mean": mean, "std": std} for method, (mean, std) in PAPER.items()}
        commits = {one["commit"] for methods in self.robots.values() for one in methods.values()}
        return {
            "figure": "figure-5",
            "robots": {robot: dict(methods) for robot, methods in self.robots.items()},
            "paper": paper,
            "commit": ", ".join(sorted(commits)),
        }
