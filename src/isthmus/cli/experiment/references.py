"""Sources without actions."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class ReferenceStudy:
    """Follow recorded observations without actions, with a simulator and without one, beside a policy with actions.

    Example: `isthmus experiment references --tasks reacher --seeds 5`

    A study that was stopped goes on with the same command.
    """

    tasks: tuple[str, ...] = ()
    """Of fetch-swing, reacher and half-cheetah; all when not given."""
    seeds: int = 5
    """How many."""
    out: Path = Path("runs/references")
    """Folder of the work: what is done is kept there."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the study and print its table."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.grid import check_counts
        from isthmus.experiments.references import study_references
        from isthmus.experiments.references.study import COLUMNS

        check_counts(seeds=self.seeds)
        folder, tasks = self.results or self.out, split_names(self.tasks)
        command = command_of(("experiment", "references"), {"tasks": tasks, "seeds": self.seeds})
        with grid_progress("references") as watch:
            done = study_references(tasks, range(self.seeds), self.out, folder, command, watch)
        if self.json:
            print_json({"summary": done.summary(), "rows": list(done.rows)})
            return
        print_table("sources without actions", COLUMNS, done.table())
        stdout.print(f"\nfigures: {folder / 'references.json'}, table: {folder / 'references.md'}", soft_wrap=True)
