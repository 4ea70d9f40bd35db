"""Carry a policy across a gap."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from isthmus.cli.files import policy_file
from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.collection import CollectSettings
from isthmus.methods import METHODS, MethodSettings
from isthmus.models import FitSettings
from isthmus.transfer import Config, Result, RunFolder, cross, folder_name

ROUND_SAMPLES, ROUNDS = 250, 10
"""A round has at least so many samples, and a run at most so many rounds, unless it is said otherwise."""


@dataclass(frozen=True)
class Transfer:
    """Carry a task's expert across a gap: collect on the target, learn, evaluate, report.

    Example: `isthmus transfer reacher --gap tilt=90 --samples 2000 --seed 0 --out runs/r0`

    A run that was stopped goes on with the same command and --resume.
    """

    task: Positional[str]
    """The robot and its task: see `isthmus tasks`."""
    gap: str = "none"
    """What is different on the target, as in tilt=90: see `isthmus gaps`."""
    target: str | None = None
    """A Gymnasium environment to cross to instead: its id, or a Python file that defines make_env()."""
    policy: Path | None = None
    """Another policy than the task's expert: .npz (ours), .zip (Stable-Baselines3) or .onnx."""
    normaliser: Path | None = None
    """VecNormalize statistics (.pkl) that the policy was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation the policy sees, as in v5; told by its size when not given."""
    method: str = "inverse"
    """The way across: see `isthmus methods`."""
    samples: int = 2000
    """Steps that may be taken on the target."""
    history: int = 1
    """Observations the inverse model looks at (the paper's k)."""
    seed: int = 0
    """Decides everything random: same seed, same machine, same result."""
    out: Path | None = None
    """Run folder; runs/TASK-GAP-METHOD-SEED when not given."""
    resume: bool = False
    """Go on with the run in the folder."""
    json: bool = False
    """Print the result as JSON only."""
    report: bool = True
    """Write the report page."""
    video: bool = True
    """Draw the video in it."""
    round_samples: int | None = None
    """Samples between two refits: 250, or a tenth of all samples if that is more, when not given; at least 1,000 for
    methods that train the policy on."""
    evaluation_episodes: int = 100
    """Episodes behind every score, at least 50; they run on the robot when that is an environment: 1 will do there."""
    collect: Annotated[CollectSettings, arg(help="How target data is collected.")] = field(
        default_factory=CollectSettings
    )
    fit: Annotated[FitSettings, arg(help="How the inverse model is fitted.")] = field(default_factory=FitSettings)

    def run(self) -> None:
        """Cross, print the closing table, write the report."""
        from isthmus.cli.progress import crossing_progress

        config = Config(
            task=self.task,
            gap=self.gap,
            method=self.method,
            samples=self.samples,
            seed=self.seed,
            round_samples=self.round_samples or max(ROUND_SAMPLES, self.samples // ROUNDS),
            evaluation_episodes=self.evaluation_episodes,
            settings=MethodSettings(history=self.history, collect=self.collect, fit=self.fit),
            environment=self.target,
            policy=policy_file(self.policy, self.normaliser, self.layout),
        )
        folder = RunFolder(
            self.out or Path("runs") / folder_name(self.task, self.target or self.gap, self.method, self.seed)
        )
        with crossing_progress() as display:
            result = cross(config, folder, resume=self.resume, watch=display)
        if self.json:
            print_json(result.to_json())
        else:
            print_result(result)
            _print_fit(folder, config.load_task().embodiment.spec.action_names)
        if self.report:
            from isthmus.report import write_report

            path = write_report(folder, video=self.video)
            (stderr if self.json else stdout).print(f"\nreport: {path}", soft_wrap=True)


def _print_fit(folder: RunFolder, actuators: tuple[str, ...]) -> None:
    """How well the model predicts actions on episodes it was not fitted to."""
    rounds = folder.rounds()
    if rounds and rounds[-1].fit["error"]:
        fit = rounds[-1].fit
        errors = zip(actuators, fit["error"], fit["spread"], strict=True)
        told = ", ".join(f"{name} {error:.3f} ({error / spread:.0%} of its spread)" for name, error, spread in errors)
        stdout.print(f"held-out action error: {told}", soft_wrap=True)


def print_result(result: Result) -> None:
    """The closing table."""
    paid = " (SEES THE TARGET'S REWARD)" if METHODS[result.method].sees_reward else ""
    print_table(
        f"{result.task}, {result.gap}, {result.method}{paid}, seed {result.seed}, {result.samples} samples",
        ("", "score ", "+/- ", "normalised "),
        [
            ("expert in its simulator", f"{result.expert:.3f}", f"{result.spread['expert']:.3f}", "1.000"),
            (
                "unadapted on the target",
                f"{result.unadapted:.3f}",
                f"{result.spread['unadapted']:.3f}",
                f"{result.normalised_unadapted:.3f}",
            ),
            (
                "adapted on the target",
                f"{result.adapted:.3f}",
                f"{result.spread['adapted']:.3f}",
                f"{result.normalised_adapted:.3f}",
            ),
        ],
    )
    if result.chosen and result.predicted is not None:
        stdout.print(f"taken: {result.chosen}, with {result.predicted:.3f} foreseen in rehearsal", soft_wrap=True)
