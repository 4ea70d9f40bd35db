"""How much of a gap can be closed at all."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from isthmus.cli.output import print_json, print_table, stdout

SHOWN = 5


@dataclass(frozen=True)
class Ceiling:
    """Find the best that one-step action adaptation could do on a gap: an oracle, which looks into the target.

    Example: `isthmus ceiling hopper --gap gravity=1.2 --metric cost-to-go`

    It optimises every command in the target simulator itself, and knows the target's model; noise, delays and sensor
    errors it meets as everybody does.
    """

    task: Positional[str]
    """The robot and its task: see `isthmus tasks`."""
    gap: str = "none"
    """What is different on the target, as in gravity=1.2: see `isthmus gaps`."""
    metric: str = "even"
    """Which errors count where not all can be avoided: even, root (unactuated ones five times more) or cost-to-go."""
    policy: Path | None = None
    """Another policy than the task's expert: .npz (ours), .zip (Stable-Baselines3) or .onnx."""
    normaliser: Path | None = None
    """VecNormalize statistics (.pkl) that the policy was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation the policy sees, as in v5; told by its size when not given."""
    episodes: int = 50
    """Episodes behind every score."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Find it and print it."""
        from isthmus.cli.files import policy_file
        from isthmus.evaluate.ceiling import ceiling
        from isthmus.gaps import Gap
        from isthmus.tasks import load_task
        from isthmus.transfer import source_policy

        task, gap = load_task(self.task), Gap.parse(self.gap)
        policy = source_policy(task, policy_file(self.policy, self.normaliser, self.layout))
        found = ceiling(task, gap, policy, self.metric, episodes=self.episodes, seed=self.seed)
        if self.json:
            print_json(found.to_json())
            return
        print_table(
            f"{self.task}, {found.gap}, {self.metric} metric, {self.episodes} episodes",
            ("", "normalised "),
            [
                ("expert in its simulator", "1.000"),
                ("unadapted on the target", f"{found.normalised_unadapted:.3f}"),
                ("ceiling (oracle: looks into the target)", f"{found.normalised:.3f} +/- {found.standard_error:.3f}"),
            ],
        )
        stdout.print(
            f"wanted state out of reach: {found.out_of_reach:.0%} of the steps "
            f"(an actuator at its limit {found.limited:.0%}, unactuated directions {found.unactuated:.0%})",
            soft_wrap=True,
        )
        told = ", ".join(f"{name} {error:.2f}" for name, error in list(found.missed.items())[:SHOWN])
        stdout.print(f"missed most, in spreads of a step: {told}", soft_wrap=True)
