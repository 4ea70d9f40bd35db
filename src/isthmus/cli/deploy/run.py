"""Run a bundle on a robot."""

import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from isthmus.cli.attended_robot import tell
from isthmus.cli.output import print_json, stderr, stdout
from isthmus.cli.signals import NO_KEYBOARD, Interrupted, exit_code, has_keyboard, stop_key, stop_signals
from isthmus.core import Problem, check_range
from isthmus.hardware import Stop

if TYPE_CHECKING:
    from isthmus.deploy.loop import LoopReport, LoopSettings, Robot
    from isthmus.deploy.policy import DeployedPolicy


@dataclass(frozen=True)
class RunBundle:
    """Run a bundle on a robot: a control loop with guard, watchdog, stop, telemetry and a latency report.

    Example: `isthmus deploy run bundle --robot sim --gap tilt=90`

    Example: `isthmus deploy run bundle --robot ros://127.0.0.1:11311 --shadow --out runs/shadow`

    Example: `isthmus deploy run bundle --robot ros2://0 --blend 5 --out runs/robot`

    Look on first (`--shadow`), then let the adapted policy take over slowly (`--blend`). docs/safety.md says what is
    promised for a real robot.
    """

    bundle: Annotated[Positional[Path], arg(metavar="BUNDLE", help="What `isthmus deploy export` wrote.")]
    robot: str
    """The robot's address (ros://HOST:PORT, ros2://DOMAIN/CONTROLLER, udp://HOST:PORT), declared for the one in the
    robot file, or sim for the bundle's own simulator."""
    gap: str = "none"
    """With --robot sim: what differs from the simulator, as in tilt=90."""
    shadow: bool = False
    """Compute, send nothing, and compare with what the controller in charge does; with --robot sim that is the policy
    as it was."""
    blend: float = 0.0
    """Seconds over which the adapted policy takes over from the policy as it was, at the start of each episode."""
    steps: int | None = None
    """Control steps of an episode; the task's own length when not given."""
    episodes: int = 1
    """How many episodes."""
    runtime: Literal["numpy", "onnx", "fused"] = "numpy"
    """Who computes: numpy as in the run, onnx for the networks, or fused for a whole step in ONNX Runtime."""
    task: str | None = None
    """Robot file, for a bundle of a robot that one defines. It is Python code and is run."""
    speed: float = 1.0
    """With --robot sim: how many times as fast as real time."""
    seed: int = 0
    """Of where episodes begin."""
    out: Path | None = None
    """New folder for report.json and telemetry.mcap, which Foxglove shows; nothing is written when not given."""
    yes: bool = False
    """Do not ask before a robot is moved."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run the loop, and say how it went."""
        from isthmus.deploy.load import load_policy
        from isthmus.deploy.loop import STOPPED, LoopSettings

        check_range("blend", self.blend, 0.0, 600.0)
        check_range("speed", self.speed, 1e-3, 1e3)
        check_range("episodes", self.episodes, 1, 10_000)
        if self.out is not None and self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise Problem(f"{self.out} is there already: give a new or empty folder")
        policy = load_policy(self.bundle, task=self.task, runtime=self.runtime)
        steps = self.steps or policy.spec.horizon
        check_range("steps", steps, 1, 10**7)
        settings = LoopSettings(steps, self.episodes, self.blend, self.shadow, self.seed)
        self._ask(policy, steps)
        stop = Stop()
        report: LoopReport | None = None
        try:
            with _attended(stop, self.robot), self._robot(policy, stop) as (robot, observed):
                report = self._looped(robot, policy, settings, observed=observed)
        except Interrupted:
            tell(f"isthmus: stopped ({stop.why})")
            raise SystemExit(exit_code(stop)) from None
        self._print(report)
        if report.ended == STOPPED:
            tell(f"isthmus: stopped ({stop.why})")
            raise SystemExit(exit_code(stop))
        if report.ended:
            raise Problem(report.ended)

    def _ask(self, policy: "DeployedPolicy", steps: int) -> None:
        """Ask whether a real robot may be moved."""
        from isthmus.cli.consent import confirm
        from isthmus.deploy.connect import SIMULATOR, address_of

        if self.robot == SIMULATOR:
            return
        named = self.robot if policy.task is None else str(address_of(policy.task, self.robot))
        if self.shadow:
            return
        seconds = steps * self.episodes * policy.spec.control_period
        confirm(
            f"{named} will be moved for up to {seconds:.0f} s, moves to the start not included.",
            named,
            yes=self.yes,
        )

    @contextmanager
    def _robot(self, policy: "DeployedPolicy", stop: Stop) -> Generator[tuple["Robot", bool]]:
        """The robot, and whether it is only looked at."""
        from isthmus.deploy.connect import SIMULATOR, address_of, observed_robot, real_robot, simulated_robot

        task, safety = policy.task, policy.manifest.safety.settings
        if task is None:
            raise Problem(
                f"{self.bundle} needs the robot's code to run a loop: {policy.manifest.robot.outside}; name --task"
            )
        robot: Robot
        if self.robot == SIMULATOR:
            robot, observed = simulated_robot(task, self.gap, safety, stop, self.speed), False
        elif self.gap != "none" or self.speed != 1:
            raise Problem("--gap and --speed are for --robot sim: a robot is what it is")
        elif self.shadow:
            robot, observed = observed_robot(task, address_of(task, self.robot), safety, stop), True
        else:
            robot, observed = real_robot(task, address_of(task, self.robot), safety, stop), False
        try:
            yield robot, observed
        finally:
            robot.close()

    def _looped(
        self, robot: "Robot", policy: "DeployedPolicy", settings: "LoopSettings", *, observed: bool
    ) -> "LoopReport":
        from isthmus.deploy.loop import run_loop
        from isthmus.deploy.telemetry import Telemetry
        from isthmus.io import write_json

        with ExitStack() as stack:
            telemetry = stack.enter_context(Telemetry(self.out / "telemetry.mcap", policy.spec)) if self.out else None
            status = stack.enter_context(stderr.status("")) if sys.stderr.isatty() else None

            def look(done: int, of: int) -> None:
                if status is not None and done % 10 == 0:
                    status.update(f"step {done:,} of {of:,}")

            report = run_loop(robot, policy, settings, telemetry=telemetry, look=look, observed=observed)
        if self.out:
            facts = {"bundle": str(self.bundle), "robot": self.robot, "gap": self.gap, "runtime": policy.runtime}
            write_json(self.out / "report.json", facts | report.to_json())
        return report

    def _print(self, report: "LoopReport") -> None:
        if self.json:
            print_json(report.to_json())
            return
        if report.latency.steps:
            stdout.print(f"{report.latency}", soft_wrap=True)
        if report.difference_rms:
            stdout.print(f"adapted commands beside {report.compared_with}, rms in half ranges:", soft_wrap=True)
            for name, rms in report.difference_rms.items():
                stdout.print(f"  {name}: {rms:.3g}", soft_wrap=True)
        elif self.shadow:
            stdout.print(f"commands were compared with {report.compared_with}", soft_wrap=True)
        if self.out:
            stdout.print(f"{self.out}: report.json, telemetry.mcap", soft_wrap=True)


@contextmanager
def _attended(stop: Stop, robot: str) -> Generator[None]:
    """Open every way to stop a robot before it moves, and say which there are."""
    if robot != "sim":
        tell(
            "stop the robot with space, q or Escape, Ctrl-C or SIGTERM"
            if has_keyboard()
            else f"{NO_KEYBOARD}; use Ctrl-C or SIGTERM"
        )
    with stop_signals(stop), stop_key(stop):
        yield
