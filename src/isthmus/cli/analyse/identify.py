"""What is different about a robot's physics."""

from dataclasses import asdict, dataclass
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Annotated

from tyro.conf import Positional, arg

from isthmus.cli.analyse.identify_logs import identify_logs
from isthmus.cli.arguments import EXPERT, PolicyArgument
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem
from isthmus.core.commit import current_commit
from isthmus.sysid import Estimate, Part
from isthmus.sysid.parameter_groups import RATIO

NOTICEABLE = 0.02
"""Parts of a quantity whose factors differ by more than this are shown one by one."""
NOTHING = 1e-4
"""What is found of a quantity that the simulator has none of, and counts as none."""


@dataclass(frozen=True)
class Identify:
    """Identify a robot's physics: mass, damping, friction, gravity and more, beside the simulator's own.

    Example: `isthmus analyse identify half-cheetah --gap mass=1.2,gravity=0.9 --samples 2000`

    Example: `isthmus analyse identify hopper --logs runs/r0`

    Example: `isthmus analyse identify arm.xml --logs run1.csv run2.csv run3.csv --map arm.logmap.toml`

    What the steps do not determine stays as the simulator has it, and is marked so.
    """

    task: Annotated[
        Positional[str],
        arg(
            metavar="TASK",
            help="The robot and its task: see `isthmus list tasks`; a robot file, as in my_robot.py, which is code and "
            "is run; for logs, a robot model (MJCF or URDF) will do.",
        ),
    ] = ""
    robot: str | None = None
    """The same, as other commands about logs have it."""
    gap: str = "none"
    """What is different on a simulated target, as in mass=1.2: see `isthmus list gaps`."""
    logs: tuple[Path, ...] = ()
    """Folder of a run whose recorded steps are taken instead, of whatever robot; or logs of a robot."""
    map: Path | None = None
    """Which column of the logs is which joint (`isthmus logs map`); guessed when not given."""
    train: int | None = None
    """Recordings to fit to, of several logs; about 60 % when not given."""
    kp: tuple[float, ...] = ()
    """Gain that the drives were set to, in N m/rad, where a log's commands are positions."""
    kd: tuple[float, ...] = ()
    """Damping that the drives were set to, in N m s/rad."""
    out: Path | None = None
    """JSON file for what is identified from logs; of an MJCF file, the model with it is written beside."""
    samples: int = 2000
    """Steps that are taken on the simulated target."""
    source: PolicyArgument = EXPERT
    seed: int = 0
    """Decides everything random."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Find it and print it."""
        from isthmus.gaps import Gap
        from isthmus.robots import load_task
        from isthmus.sysid import Physics, Transitions, estimates, identify
        from isthmus.transfer import source_policy
        from isthmus.transfer.logs import gather, is_run, logged

        if self.logs and self.gap != "none":
            raise Problem("logs are of a target of their own: give them, or a gap, not both")
        robot = self.robot or self.task
        if not robot:
            raise Problem("name the robot, as in `isthmus analyse identify hopper`: see `isthmus list tasks`")
        if self.logs and not (len(self.logs) == 1 and is_run(self.logs[0])):
            gains = self.kp, self.kd
            identify_logs(self.logs, robot, self.map, gains, self.train, self.out, json=self.json)
            return
        task, gap = load_task(robot), Gap.parse(self.gap)
        if self.logs:
            episodes = logged(self.logs[0], task)
        else:
            policy = source_policy(task, self.source.file)
            episodes = gather(task, gap, policy, self.samples, self.seed)
        physics, steps = Physics(task.robot_model), Transitions.of(episodes)
        found = identify(physics, steps, task.robot_model.spec.targets)
        rows = estimates(physics, found)
        if self.json:
            print_json(
                {
                    "task": robot,
                    "target": str(self.logs[0] if self.logs else self.gap),
                    "samples": len(steps),
                    "typical_error": {"simulator": found.before.typical, "identified": found.after.typical},
                    "rms_error": {"simulator": found.before.rms, "identified": found.after.rms},
                    "quantities": [asdict(one) for one in rows],
                    "commit": current_commit(),
                }
            )
            return
        print_table(
            f"{robot}, {self.logs[0].name if self.logs else self.gap}, {len(steps)} samples",
            ("", "unit", "simulator ", "robot ", "times ", "determined "),
            [_row(one, part) for one in rows for part in _changed_parts(one)],
        )
        stdout.print(
            f"a typical step is off by {found.before.typical:.2g} standard deviations in the simulator and by"
            f" {found.after.typical:.2g} as identified; all steps, by {found.before.rms:.2g} and"
            f" {found.after.rms:.2g} (root mean square)",
            soft_wrap=True,
        )


def _changed_parts(one: Estimate) -> tuple[Part, ...]:
    """The quantity as a whole where all its parts changed alike; else each part that changed, and the others."""
    if one.together is None:
        return one.parts
    factors = [_factor(one, part) for part in one.parts]
    if max(factors) - min(factors) <= NOTICEABLE:
        return (one.together,)
    changed = [part for part, factor in zip(one.parts, factors, strict=True) if abs(factor - 1) > NOTICEABLE]
    others = [part for part in one.parts if part not in changed]
    if not others:
        return tuple(changed)
    add_up = fmean if one.unit == RATIO else fsum
    rest = Part(
        f"of the other {len(others)}" if len(others) > 1 else others[0].name,
        add_up(part.simulator for part in others),
        add_up(part.estimate for part in others),
        min(part.determined for part in others),
    )
    return (*changed, rest)


def _factor(one: Estimate, part: Part) -> float:
    """What the part is of the simulator's own; of what the simulator has none of, what is added of the largest."""
    if part.simulator:
        return part.estimate / part.simulator
    largest = max(abs(other.estimate) for other in one.parts)
    return 1 + part.estimate / largest if largest > NOTHING else 1.0


def _row(one: Estimate, part: Part) -> tuple[str, ...]:
    return (
        one.name if part is one.together else f"{one.name} {part.name}",
        one.unit,
        f"{part.simulator:.4g}",
        f"{round(part.estimate, 6):.4g}",
        f"{part.estimate / part.simulator:.3f}" if part.simulator else "",
        f"{part.determined:.0%}",
    )
