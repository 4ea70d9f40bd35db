"""How much of a gap can be closed at all."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem

LISTED = 5


@dataclass(frozen=True)
class Oracle:
    """Find the best that one-step action adaptation could do on a gap: an oracle, which looks into the target.

    Example: `isthmus analyse oracle hopper --gap gravity=1.2 --metric cost-to-go`

    It optimises every command in the target simulator itself, and knows the target's model; noise, delays and sensor
    errors it meets as everybody does. For a robot that is known from the logs of a run alone, a forward model that is
    fitted to them stands in, and the outcome is an estimate: `isthmus analyse oracle hopper --logs runs/r0`
    """

    task: TaskArgument
    gap: str = "none"
    """What is different on the target, as in gravity=1.2: see `isthmus list gaps`."""
    logs: Path | None = None
    """Folder of a run: an estimate from the steps it recorded, instead of a look into the target."""
    metric: str = "even"
    """Which errors count where not all can be avoided: even, root (unactuated ones five times more) or cost-to-go."""
    source: PolicyArgument = EXPERT
    episodes: int = 50
    """Episodes behind every score."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Find it and print it."""
        from isthmus.evaluate.oracle import estimated_oracle_score, oracle_score
        from isthmus.gaps import Gap
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy
        from isthmus.transfer.logs import logged

        if self.logs and self.gap != "none":
            raise Problem("logs are of a target of their own: give them, or a gap, not both")
        task, gap = load_task(self.task), Gap.parse(self.gap)
        policy = source_policy(task, self.source.file)
        if self.logs:
            steps = logged(self.logs, task)
            found = estimated_oracle_score(
                task, steps, self.logs.name, policy, self.metric, episodes=self.episodes, seed=self.seed
            )
        else:
            found = oracle_score(task, gap, policy, self.metric, episodes=self.episodes, seed=self.seed)
        if self.json:
            print_json(found.to_json())
            return
        where, label = "on the target", "oracle (looks into the target)"
        if found.fitted:
            where, label = "in the fitted model", "oracle (estimate: in the fitted model)"
        print_table(
            f"{self.task}, {found.gap}, {self.metric} metric, {self.episodes} episodes",
            ("", "normalised "),
            [
                ("expert in its simulator", "1.000"),
                (f"unadapted {where}", f"{found.normalised_unadapted:.3f}"),
                (label, f"{found.normalised:.3f} +/- {found.standard_error:.3f}"),
            ],
        )
        stdout.print(
            f"wanted state out of reach: {found.out_of_reach:.0%} of the steps "
            f"(an actuator at its limit {found.limited:.0%}, unactuated directions {found.unactuated:.0%})",
            soft_wrap=True,
        )
        text = ", ".join(f"{name} {error:.2f}" for name, error in list(found.missed.items())[:LISTED])
        stdout.print(f"missed most, in standard deviations of a step: {text}", soft_wrap=True)
        if found.fitted:
            stdout.print(
                f"estimated from {found.fitted.samples} recorded steps: one that was not fitted to is off by "
                f"{found.fitted.simulator_error:.2g} standard deviations in the simulator, by "
                f"{found.fitted.model_error:.2g} in the fitted model, which knows no noise",
                soft_wrap=True,
            )
