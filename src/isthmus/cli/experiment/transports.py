"""The same crossing by ROS 1 and by ROS 2."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_json, print_table, stdout


@dataclass(frozen=True)
class Transports:
    """Cross the Fetch's swing to a stand-in by ROS 1 and by ROS 2, from several seeds, and compare.

    Example: `isthmus experiment transports --seeds 3 --results docs/results/ros2-fetch.json`

    A study that was stopped goes on with the same command. Needs ROS 1, isthmus[ros2] and isthmus[fetch].
    """

    seeds: int = 3
    """How many seeds: 0, 1, 2, ..."""
    samples: int = 600
    """Steps that may be taken on the robot to learn from."""
    trials: int = 10
    """Test swings, of each policy."""
    speed: float = 2.0
    """How many times as fast as real time the stand-ins go, at most. Messages are on their way for as many times longer
    by the robot's time, so that a high speed is no fair comparison."""
    out: Path = Path("runs/transports")
    """Folder of the study."""
    results: Path | None = None
    """Where to write the figures as JSON, and the plot beside; OUT/transports.json when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the study, print its table, write JSON and plot."""
        from isthmus.cli.grid_progress import grid_progress
        from isthmus.experiments.transports import POLICIES, Plan, compare_transports, plot_transports, rows
        from isthmus.hardware.address import require_dds
        from isthmus.hardware.ros1.bindings import require_ros
        from isthmus.io import write_json

        require_ros()
        require_dds()
        plan = Plan(self.seeds, self.samples, self.trials, self.speed)
        with grid_progress("transports") as watch:
            data = compare_transports(plan, self.out, watch=watch)
        path = self.results or self.out / "transports.json"
        write_json(path, data)
        plot_transports(data, path.with_suffix(".svg"))
        if self.json:
            print_json(data)
            return
        print_table(
            f"distance from the simulator's swing, mean and standard deviation over {plan.seeds} seeds",
            ("", *(f"{policy} " for policy in POLICIES)),
            rows(data),
        )
        stdout.print(f"\nfigures: {path}, plot: {path.with_suffix('.svg')}", soft_wrap=True)
