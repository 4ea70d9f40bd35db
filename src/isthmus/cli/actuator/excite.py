"""Design what a robot is to do while its drives are recorded."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, stdout

if TYPE_CHECKING:
    from isthmus.actuators import ActuatorLog


@dataclass(frozen=True)
class Excite:
    """Design an excitation within the robot's limits, show what it covers, and write it for the robot.

    Example: `isthmus actuator excite go2 --seconds 120 --out excitation.csv`

    The robot is on a stand, but for the parts whose names say otherwise. The excitation is played on a simulated robot
    first, and its log is written beside it.
    """

    robot: Annotated[Positional[str], arg(metavar="ROBOT", help="go2, anymal, or an MJCF or URDF file")]
    out: Path = Path("excitation.csv")
    """Where to put the targets: time, and one column for each joint."""
    seconds: float = 120.0
    """How long it takes; two to four minutes teach a network."""
    rate: float = 400.0
    """Targets a second."""
    policy_rate: float = 50.0
    """Targets a second of the policy that the model is for."""
    speed: float = 8.0
    """rad/s that targets move at most."""
    stance: tuple[float, ...] = ()
    """Joint angles that it is around; the robot's own pose when not given."""
    kp: float = 40.0
    """Gain of the drives of the simulated robot, in N m/rad."""
    kd: float = 1.0
    """Damping of the drives of the simulated robot, in N m s/rad."""
    actuator: Path | None = None
    """An actuator model (.npz) for the simulated robot's drives instead."""
    inputs: Path | None = None
    """A log of the joints under the policy: shows how much of what it asks for the excitation covers."""
    seed: int = 0
    """Decides everything random."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Design, play, write, print."""
        from isthmus.actuators import Actuator, Pd, load_actuator
        from isthmus.actuators.excite import Plan, covered, excitation, played
        from isthmus.actuators.fit.inputs import contract_for
        from isthmus.actuators.log import ActuatorLog
        from isthmus.actuators.reading import read_logs
        from isthmus.cli.actuator.robots import joints_for, plant_for, stance_for
        from isthmus.io import write_json

        joints = joints_for(self.robot)
        plant = plant_for(self.robot, joints, {})
        plan = Plan(self.seconds, self.rate, self.policy_rate, self.speed, self.seed)
        made = excitation(plant, stance_for(self.robot, plant, self.stance), plan)
        size = len(joints)
        if self.actuator is not None:
            drive = load_actuator(self.actuator)
        else:
            still = ActuatorLog(made.dt, joints, made.target, made.target, np.zeros_like(made.target))
            law = Pd.ideal(np.full(size, self.kp), np.full(size, self.kd))
            drive = Actuator(contract_for(still, (0,), made.target, np.full(size, 1e3)), pd=law)
        log = played(made, plant, drive)
        facts: dict[str, Any] = {
            "robot": self.robot, "rate": self.rate, "seconds": log.seconds, "joints": list(joints), "seed": self.seed,
            "parts": [{"name": name, "from": first * made.dt} for name, first in made.parts],
            "error": [float(log.error.min()), float(log.error.max())],
            "velocity": [float(log.velocity.min()), float(log.velocity.max())],
        }  # fmt: skip
        if self.inputs is not None:
            facts["covered"] = covered(log, read_logs([self.inputs], joints=joints).log)
        _write(self.out, made.dt, {f"target_{joint}": made.target[:, n] for n, joint in enumerate(joints)})
        _write(self.out.with_name(f"{self.out.stem}-simulated.csv"), made.dt, _columns(log))
        write_json(self.out.with_suffix(".json"), facts)
        if self.json:
            print_json(facts)
            return
        stdout.print(f"{self.out}: {log.seconds:.0f} s of {size} joints at {self.rate:g} Hz", soft_wrap=True)
        for part in facts["parts"]:
            stdout.print(f"  from {part['from']:.0f} s: {part['name']}")
        stdout.print(
            f"on the simulated robot errors go from {log.error.min():.2f} to {log.error.max():.2f} rad, "
            f"velocities from {log.velocity.min():.1f} to {log.velocity.max():.1f} rad/s",
            soft_wrap=True,
        )
        if "covered" in facts:
            stdout.print(f"{facts['covered']:.0%} of what the policy asks for is covered", soft_wrap=True)


def _columns(log: "ActuatorLog") -> dict[str, np.ndarray]:
    each = {"target": log.target, "position": log.position, "velocity": log.velocity, "torque": log.torque}
    return {
        f"{name}_{joint}": values[:, n]
        for name, values in each.items()
        if values is not None
        for n, joint in enumerate(log.joints)
    }


def _write(path: Path, dt: float, columns: dict[str, np.ndarray]) -> None:
    import io

    from isthmus.io.files import write_whole

    table = np.column_stack((dt * np.arange(len(next(iter(columns.values())))), *columns.values()))
    buffer = io.StringIO()
    np.savetxt(buffer, table, fmt="%.6g", delimiter=",", header=",".join(("time", *columns)), comments="")
    write_whole(path, buffer.getvalue().encode())
