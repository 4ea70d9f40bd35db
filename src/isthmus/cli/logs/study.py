"""How well logs are mapped."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_json, print_table, stderr, stdout


@dataclass(frozen=True)
class MapStudy:
    """Disguise logs of simulated robots at random, map them, and count what was found.

    Robots are on a stand: an arm, the Fetch arm, Go2 and walkers, with masses and friction that their models do not
    have, noise and gaps. Columns are shuffled, half of them negated, their zeros moved, and in degrees in half of the
    cases. Needs isthmus[all].

    Example: `isthmus logs study --cases 20 --out docs/results`
    """

    cases: int = 20
    """How many logs."""
    seed: int = 0
    """Decides everything random."""
    out: Path = Path("runs/logs-map")
    """Folder for logs-map.json; what it has of the same study is not done again."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run all cases and print a table."""
        from isthmus.core.errors import check_range
        from isthmus.experiments.log_maps.study import PARTS, Outcome, run_study

        check_range("--cases", self.cases, 1, 10_000)
        check_range("--seed", self.seed, 0, 2**32 - 1)
        outcomes: list[Outcome] = []

        def done(outcome: Outcome) -> None:
            outcomes.append(outcome)
            if not self.json:
                stderr.print(f"{len(outcomes)} of {self.cases}: {outcome.robot}", soft_wrap=True)

        figures = run_study(range(self.cases), self.seed, self.out, done)
        if self.json:
            print_json(figures)
            return
        print_table(
            f"{figures['found']} of {figures['of']} without an unsaid error, {figures['knowable']} with all that the "
            f"log decides, {figures['complete']} complete",
            ("robot", "commands", "names", "joints ", *(f"{part} " for part in PARTS), "not sure ", "wrong, unsaid "),
            [
                (
                    one.robot,
                    one.command,
                    "yes" if one.names else "no",
                    str(one.joints),
                    *(str(one.right[part]) for part in PARTS),
                    str(sum(one.unsure.values())),
                    str(sum(one.wrong_and_sure.values())),
                )
                for one in outcomes
            ],
        )
        stdout.print(f"figures: {self.out / 'logs-map.json'}", soft_wrap=True)
