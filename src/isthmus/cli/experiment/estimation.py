"""What estimation is worth."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table, stdout


@dataclass(frozen=True)
class Estimation:
    """Cross gaps whose sensors are noisy, off or incomplete, with an estimator: `isthmus transfer --estimator`.

    Example: `isthmus experiment estimation --groups positions --seeds 1`

    An experiment that was stopped goes on with the same command.
    """

    groups: tuple[str, ...] = ()
    """Cases to look at: positions, noise, survey, exact; all when not given."""
    gaps: tuple[str, ...] = ()
    """Only the cases of these gaps, as in --gaps sensor-bias=0.005; all when not given."""
    estimators: tuple[str, ...] = ("kalman",)
    """Estimators to compare."""
    seeds: int = 5
    """How many seeds: 0, 1, 2, ..."""
    first: int = 0
    """The first of them that is run; what was published of those before it in the results stays."""
    workers: int = 1
    """Processes that run side by side."""
    out: Path = Path("runs/estimation")
    """Folder of the runs."""
    results: Path | None = None
    """Folder of estimation.json and estimation.md; that of the runs when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing and print the table."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.estimation import GROUPS, Choice, estimation

        results = self.results or self.out
        groups, estimators = split_names(self.groups) or tuple(GROUPS), split_names(self.estimators)
        choice = Choice(groups, estimators, self.seeds, self.first, self.gaps)
        with grid_progress("estimation") as watch:
            done = estimation(choice, self.out, results, self.workers, watch)
        if self.json:
            print_json(done.rows())
            return
        print_table(
            "normalised score",
            ("task", "gap", "sensed", "estimator", "unadapted ", "median ", "worst seed "),
            [
                (
                    *(row[name] for name in ("task", "gap", "sensors", "estimator")),
                    *(f"{row[name]:.3f}" for name in ("unadapted", "median", "worst")),
                )
                for row in done.rows()
            ],
        )
        stdout.print(f"\ntable: {results / 'estimation.md'}, figures: {results / 'estimation.json'}", soft_wrap=True)
