"""Record what a policy makes its robot see."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument
from isthmus.cli.output import print_json, stdout


@dataclass(frozen=True)
class Record:
    """Record episodes of a policy: observations only, as a reference for `isthmus transfer --source`.

    Example: `isthmus policy record half-cheetah --episodes 5 --out gait.npz`

    Example: `isthmus policy record reacher --out reaches.csv`
    """

    task: TaskArgument
    out: Path
    """The file with the observations: .npz, or .csv with the columns time, episode and a name each."""
    gap: str = "none"
    """What is different from the policy's simulator."""
    source: PolicyArgument = EXPERT
    episodes: int = 5
    """How many episodes; so many of both, where a task is judged by other motions than it is trained on."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Record and write."""
        from isthmus.core import Problem, check_range
        from isthmus.gaps import Gap
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy
        from isthmus.transfer.source.record import MOST_EPISODES, record_reference
        from isthmus.transfer.source.reference import FORMATS

        check_range("episodes", self.episodes, 1, MOST_EPISODES)
        write = FORMATS.get(self.out.suffix)
        if write is None:
            raise Problem(f"--out {self.out}: a recording is written as {' or '.join(FORMATS)}")
        task = load_task(self.task)
        policy, gap = source_policy(task, self.source.file), Gap.parse(self.gap)
        reference = record_reference(task, policy, gap, self.episodes, self.seed)
        write(self.out, reference, task.robot_model.spec)
        count = len(reference.observations)
        if self.json:
            print_json({"file": str(self.out), "episodes": len(reference.tracks), "observations": count})
        else:
            stdout.print(
                f"{len(reference.tracks)} episodes, {count} observations, no actions: {self.out}", soft_wrap=True
            )
