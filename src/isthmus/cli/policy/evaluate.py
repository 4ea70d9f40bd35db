"""Run a policy in its own simulator, or across a gap."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.cli.actuator.equipment import with_actuator
from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument, reward_name
from isthmus.cli.firmware.equipment import with_twin
from isthmus.cli.output import print_json, print_table

if TYPE_CHECKING:
    from isthmus.tasks import Task


@dataclass(frozen=True)
class Evaluate:
    """Run an expert in its own simulator, or across a gap.

    Example: `isthmus policy evaluate reacher --episodes 100 --json`
    """

    task: TaskArgument
    gap: str = "none"
    """What is different from its simulator."""
    source: PolicyArgument = EXPERT
    actuator: Path | None = None
    """An actuator model (.npz) for the robot's drives: see `isthmus actuator fit`."""
    twin: Path | None = None
    """A twin of the robot's firmware (.npz): how late its processor and buses are. See `isthmus firmware twin`."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Evaluate and print."""
        from isthmus.core import stream
        from isthmus.experts.assess import assess
        from isthmus.gaps import Gap
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy

        if self.twin is not None:
            replace(self, task=with_twin(self.task, self.twin), twin=None).run()
            return
        if self.actuator is not None:
            replace(self, task=with_actuator(self.task, self.actuator), actuator=None).run()
            return
        task, gap = load_task(self.task), Gap.parse(self.gap)
        policy = source_policy(task, self.source.file)
        outcome = assess(task, policy, gap, self.episodes, stream(self.seed, "expert", "evaluate"))
        if self.json:
            print_json({"task": self.task, "gap": str(gap), "episodes": self.episodes, "seed": self.seed} | outcome)
        else:
            print_evaluation(f"{self.task}, {gap}, {self.episodes} episodes", task, outcome)


def print_evaluation(title: str, task: "Task", outcome: dict[str, dict[str, float] | float]) -> None:
    """Print the return, the score and the share of full-length episodes."""
    gym_return, score = outcome["gym_return"], outcome["score"]
    if not isinstance(gym_return, dict) or not isinstance(score, dict):
        raise TypeError("an evaluation holds a mean and a standard deviation of each figure")
    print_table(
        title,
        ("", "mean ", "+/- "),
        [
            (f"return, {reward_name(task)}", f"{gym_return['mean']:.3f}", f"{gym_return['std']:.3f}"),
            (
                "score, without torque penalty" if task.gym_id else "score",
                f"{score['mean']:.3f}",
                f"{score['std']:.3f}",
            ),
            ("full-length episodes", f"{outcome['full_length']:.0%}", ""),
        ],
    )
