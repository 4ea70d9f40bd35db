"""A quadruped that does not see its own velocity."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import PolicyOptions, split_names
from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.core.command import command_of


@dataclass(frozen=True)
class Blind:
    """Measure estimators on an ANYmal that senses joints and IMU alone, and carry its policy across a gap.

    Example: `isthmus experiment blind --seeds 1 --methods model-inverse`

    Example: `isthmus experiment blind --methods model-inverse --samples 250 --judged learned --crossed learned`

    Example: `isthmus experiment blind --teach --out runs/blind`

    The policy sees encoders, IMU, command and its last action, in mjlab's layout. The gap is a mass x1.2 with the least
    joint friction that costs the policy a quarter of its score. A study that was stopped goes on with the same
    command. Needs isthmus[anymal].
    """

    policy: Path | None = Path("anymal-blind")
    """The policy: the one that ships, or an ONNX file with its observation spec beside it."""
    teach: bool = False
    """Make the policy anew in OUT/policy, and stop there: about half an hour on a free core."""
    seed: int = 0
    """Of --teach."""
    seeds: int = 5
    """How many crossings of each kind: 0, 1, 2, ..."""
    methods: tuple[str, ...] = ()
    """Methods to cross with; inverse, correction, residual-action, model-inverse and auto when not given."""
    samples: int = 2000
    """Control steps on the target, of each crossing."""
    judged: tuple[str, ...] = ("learned", "kalman", "ensemble")
    """Estimators whose errors are measured."""
    crossed: tuple[str, ...] = ("none", "learned")
    """Estimators to cross with; none is shown the true observation."""
    out: Path = Path("runs/blind")
    """Folder of the work: what is done is kept there."""
    results: Path | None = None
    """Folder of the results; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Do what is missing, and print the tables."""
        if self.teach:
            self._teach()
        else:
            self._study()

    def _teach(self) -> None:
        from isthmus.experiments.blind.taught import Teaching, teach_blind

        path = teach_blind(self.out / "policy", Teaching(self.seed), lambda text: stderr.print(text, soft_wrap=True))
        stdout.print(f"policy: {path}", soft_wrap=True)

    def _study(self) -> None:
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.core import Problem
        from isthmus.experiments.blind import publish
        from isthmus.experiments.blind.study import METHODS, BlindStudy, Plan, study_blind
        from isthmus.experiments.grid import check_counts

        check_counts(seeds=self.seeds, samples=self.samples)
        file = PolicyOptions(policy=self.policy).file
        if file is None:
            raise Problem("the study needs a policy: give --policy")
        methods, judged, crossed = (split_names(names) for names in (self.methods, self.judged, self.crossed))
        plan = Plan(file, self.seeds, self.samples, methods or METHODS, judged, crossed)
        options = {
            "policy": None if self.policy == Blind.policy else self.policy,
            "seeds": self.seeds,
            "methods": methods,
            "samples": None if self.samples == Blind.samples else self.samples,
            "judged": None if judged == Blind.judged else judged,
            "crossed": None if crossed == Blind.crossed else crossed,
        }
        command, folder = command_of(("experiment", "blind"), options), self.results or self.out

        def show(found: BlindStudy) -> None:
            publish.write(found, plan, folder, command)

        with grid_progress("blind quadruped") as watch:
            done = study_blind(plan, self.out, show, watch)
        if self.json:
            print_json({"estimators": publish.estimator_rows(done), "crossings": publish.crossing_rows(done)})
            return
        print_table(f"the policy as it is, of {done.sweep['gap']}", publish.SWEEP, publish.sweep_table(done))
        print_table("errors of the estimators", publish.ERRORS, publish.estimator_table(done))
        print_table("crossings", publish.CROSSINGS, publish.crossing_table(done))
        stdout.print(f"\npage: {folder / 'blind.html'}, figures: {folder / 'blind.json'}", soft_wrap=True)
