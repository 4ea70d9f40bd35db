"""Figure 5 as a table and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.experiments.paper.figure_5.cell import Outcome
from isthmus.experiments.paper.figure_5.settings import PAPER
from isthmus.io import write_json

COLUMNS = ("robot", "method", "off by ", "+/- ", "to PD ", "samples ", "min ", "clipped ")


@dataclass(frozen=True)
class Summary:
    """What is there of the figure."""

    outcomes: tuple[Outcome, ...]

    @staticmethod
    def of(outcomes: Iterable[Outcome]) -> "Summary":
        """The figure from its cells."""
        return Summary(tuple(outcomes))

    @property
    def rows(self) -> list[Sequence[str]]:
        """The table, and the paper's numbers last."""
        rows: list[Sequence[str]] = []
        for one in self.outcomes:
            ratio = self.ratio(one)
            rows.append(
                (
                    one.robot,
                    one.method,
                    f"{one.mean:.2%}",
                    f"{one.std:.2%}",
                    "" if ratio is None else f"{ratio:.2f}",
                    f"{one.samples}",
                    f"{one.robot_minutes:.1f}",
                    f"{sum(one.clipped[kind] for kind in ('position', 'step', 'lead'))}",
                )
            )
        for method, (mean, std) in PAPER.items():
            rows.append(("paper's", method, f"{mean:.2%}", f"{std:.2%}", f"{mean / PAPER['pd'][0]:.2f}", "", "", ""))
        return rows

    def write(self, folder: Path) -> None:
        """The figure's data."""
        write_json(folder / "figure-5.json", self.to_json())

    def ratio(self, one: Outcome) -> float | None:
        """Its mean distance to that of the tuned PD on the same robot."""
        pd = next((other for other in self.outcomes if other.robot == one.robot and other.method == "pd"), None)
        return one.mean / pd.mean if pd else None

    def to_json(self) -> dict[str, Any]:
        """Every robot's methods, with mean, spread and ratio to PD."""
        robots: dict[str, dict[str, Any]] = {}
        for one in self.outcomes:
            facts = one.to_json() | {"mean": one.mean, "std": one.std, "ratio_to_pd": self.ratio(one)}
            robots.setdefault(one.robot, {})[one.method] = facts
        paper = {method: {"mean": mean, "std": std} for method, (mean, std) in PAPER.items()}
        commit = ", ".join(sorted({one.commit for one in self.outcomes}))
        return {"figure": "figure-5", "robots": robots, "paper": paper, "commit": commit}
