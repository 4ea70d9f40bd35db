"""Carry a policy across a gap."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from isthmus.adapt import METHODS, MethodSettings
from isthmus.cli.actuator.equipment import with_actuator
from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument, split_names
from isthmus.cli.consent import ask, estimate_text, plan
from isthmus.cli.from_logs import Recorded, episodes_from, print_estimated, samples_in
from isthmus.cli.output import print_json, stderr, stdout
from isthmus.cli.reference import keep_reference, reference_file
from isthmus.cli.run_result import print_fit, print_result, print_robot, print_step
from isthmus.core import Problem
from isthmus.core.extras import missing_extra
from isthmus.estimate.sensors import sensed_columns
from isthmus.gaps import Gap
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.address import RobotAddress
from isthmus.robots import load_task
from isthmus.robots.equipment import base_of
from isthmus.transfer import Config, PolicyFile, Result, RunFolder, folder_name, run_transfer
from isthmus.transfer.config import usual_episodes, usual_round_samples
from isthmus.transfer.estimate import Estimate, estimate, within
from isthmus.transfer.targets.spec import FROM_LOGS, TargetSpec

if TYPE_CHECKING:
    from isthmus.cli.progress import CrossingDisplay

DEFAULT_MINUTES = 10.0


DECLARED = "declared"
"""For the robot's address: the one in its robot file."""


@dataclass(frozen=True)
class Transfer:
    """Adapt a policy to a target: collect on the target, learn, evaluate, report.

    Example: `isthmus transfer reacher --gap tilt=90 --samples 2000 --seed 0 --out runs/r0`

    Example: `isthmus transfer arm.py --target real_arm.py --samples 600 --dry-run`

    Example: `isthmus transfer leg-squat --target firmware:weak_leg.toml --samples 1000`

    Example: `isthmus transfer arm.py --logs run1.csv run2.csv --map arm.logmap.toml`

    Example: `isthmus transfer half-cheetah --source gait.npz --gap gravity=0.8 --method inverse --samples 10000`

    Example: `isthmus transfer fetch-swing --robot ros://127.0.0.1:11311 --minutes 10`

    Example: `isthmus transfer fetch-swing --robot ros2://42@lo/arm_controller --minutes 10`

    A run that was stopped goes on with the same command and --resume.
    """

    task: TaskArgument
    gap: str = "none"
    """What is different on the target, as in tilt=90: see `isthmus list gaps`."""
    target: str | None = None
    """A Gymnasium environment instead of a simulated target: its id, or a Python file that defines make_env(), which
    is code and is run; or firmware:BOARD.toml, the robot driven by its own firmware (docs/firmware.md)."""
    robot: str | None = None
    """A robot instead of a simulated target, by its address: ros://HOST:PORT (its ROS master), ros2://DOMAIN/CONTROLLER
    or udp://HOST:PORT; `declared` is the one that the robot file names."""
    minutes: float | None = None
    """Time with the robot, moves to the start and trials included; in place of --samples."""
    logs: tuple[Path, ...] = ()
    """Logs of the robot, learned from before anything is collected. Without a gap, a target or a robot nothing else
    is: scores are then estimates."""
    map: Path | None = None
    """Which column of the logs is which joint (`isthmus logs map`); guessed when not given."""
    speed: float = 1.0
    """How many times as fast as real time a stand-in robot goes; a real one only knows 1."""
    source: PolicyArgument = EXPERT
    reference: Annotated[Path | None, arg(name="source")] = None
    """Recorded observations without actions, in place of a policy: `isthmus policy record`, or any log that
    `isthmus logs inspect` reads (docs/references.md)."""
    actuator: Path | None = None
    """An actuator model (.npz) for the robot's drives, in simulator and target alike: see `isthmus actuator fit`."""
    method: str | None = None
    """The way across: see `isthmus list methods`; auto, or preview for a robot, when not given."""
    estimator: str = "none"
    """What makes observations of what the target's sensors show: none, kalman, ensemble, learned or auto
    (docs/estimation.md)."""
    sensors: tuple[str, ...] = ()
    """What the target senses: all, encoders, imu, positions, velocities, names of observations. What the
    robot file says, or all, when not given."""
    samples: int = 2000
    """Steps that may be taken on the target."""
    seed: int = 0
    """Decides everything random: same seed, same machine, same result."""
    out: Path | None = None
    """Run folder; runs/TASK-GAP-METHOD-SEED when not given."""
    resume: bool = False
    """Go on with the run in the folder."""
    json: bool = False
    """Print the result as JSON only."""
    yes: bool = False
    """Do not ask before a real target, an environment or a robot, is moved."""
    dry_run: bool = False
    """Only print the configuration, and for a real target how much it would be moved; connect to nothing."""
    report: bool = True
    """Write the report page."""
    video: bool = True
    """Draw the video in it."""
    round_samples: int | None = None
    """Samples between two refits: 250, or a tenth of all samples if that is more, when not given; at least 500 for
    auto, and 1,000 for methods that train the policy on."""
    evaluation_episodes: int | None = None
    """Episodes behind every score: 100 in simulation, at least 50 there, when not given. On a real target they are its
    own steps: 5 with an environment, 1 to 3 with a robot."""
    evaluate_rounds: bool = False
    """Score the policy on a real target after every round, not only after the last; in simulation it always is."""
    round_ends: tuple[int, ...] = ()
    """Samples at which rounds end instead, in ascending order."""
    interim_episodes: bool = False
    """Score rounds before the last over few episodes: what counts is where the run ends."""
    stop_at_score: float | None = None
    """Normalised score at which the run ends, once two evaluations in a row came to it."""
    settings: Annotated[MethodSettings, arg(name="")] = field(default_factory=MethodSettings)
    safety: Annotated[SafetySettings, arg(help="Limits of a robot; loosen them only if you must.")] = field(
        default_factory=SafetySettings
    )

    @property
    def _target(self) -> TargetSpec:
        target = TargetSpec.of_options(self.gap, self.target, self._robot_address())
        return TargetSpec.parse(FROM_LOGS) if self.logs and target == TargetSpec() else target

    def _config(self, recorded: int = 0) -> Config:
        """The run that was asked for, which begins with so many recorded samples."""
        target = self._target
        if (self.minutes is not None or self.speed != 1) and not target.is_robot:
            raise Problem(
                "minutes and speed are those of a robot: give its address, as in --robot ros://127.0.0.1:11311"
            )
        method = self._method(target)
        samples, each = self.samples, self.round_samples
        trials, every_round = self._evaluations(target)
        if target.is_robot:
            spec = load_task(self.task).robot_model.spec
            planned = within(self.minutes or DEFAULT_MINUTES, spec, trials, every_round=every_round)
            samples = planned.samples if self.minutes is not None else self.samples
            each, trials = self.round_samples or -(-samples // planned.rounds), planned.trials
        if target.is_estimated:
            samples = 0
        return Config(
            task=self.task,
            gap=target.gap,
            method=method,
            samples=samples + recorded,
            seed=self.seed,
            round_samples=each or usual_round_samples(samples + recorded),
            evaluation_episodes=trials or usual_episodes(target),
            evaluate_rounds=every_round,
            round_ends=self.round_ends,
            interim_episodes=self.interim_episodes,
            stop_at_score=self.stop_at_score,
            settings=self.settings,
            environment=target.environment,
            policy=self._policy_file(method, target),
            safety=self.safety,
            logs=tuple(str(path) for path in self.logs),
            log_map=None if self.map is None else str(self.map),
            estimator=self.estimator,
            sensors=self._sensors(),
        )

    def _sensors(self) -> tuple[str, ...]:
        """The words of `--sensors`, with spaces or commas between them; a Problem for those that the robot has not."""
        words = split_names(self.sensors)
        if words:
            sensed_columns(load_task(self.task).robot_model, words)
        return words

    def _method(self, target: TargetSpec) -> str:
        if self.method is None and self.reference is not None:
            positions = load_task(self.task).robot_model.spec.commands == "position"
            return "preview" if positions else "inverse"
        return self.method or ("preview" if self._sends_positions(target) else "auto")

    def _policy_file(self, method: str, target: TargetSpec) -> PolicyFile | None:
        """The policy to adapt, or the observations that are to be followed."""
        if self.reference is None:
            return self.source.file
        if self.source.file is not None:
            raise Problem("--source and --policy exclude each other: give recorded observations or a policy")
        if method in METHODS and not METHODS[method].follows_policy:
            raise Problem(f"{method} asks no policy, so it cannot follow --source: see `isthmus list methods`")
        return reference_file(self.reference, self.task, self._folder(method, target))

    def _sends_positions(self, target: TargetSpec) -> bool:
        """Whether the target is a robot that takes positions, which is what `preview` is made for."""
        return target.is_robot and load_task(self.task).robot_model.spec.commands == "position"

    def _robot_address(self) -> str | None:
        """The address of the robot that was asked for."""
        if self.robot != DECLARED:
            return self.robot
        declared = load_task(self.task).real
        if declared is None or not declared.driver:
            raise Problem(f"{self.task} declares no driver: give its Task `real=RealRobot(driver=...)`, or an address")
        return declared.driver

    def _evaluations(self, target: TargetSpec) -> tuple[int | None, bool]:
        """Episodes behind a score, if that is settled, and whether every round has one.

        A run goes on as it began: what is not said again is taken from its folder, which may be of an earlier version.
        """
        path = self._folder(self._method(target), target).config_path
        if self.resume and path.exists():
            begun = Config.load(path)
            return self.evaluation_episodes or begun.evaluation_episodes, self.evaluate_rounds or begun.evaluate_rounds
        return self.evaluation_episodes, self.evaluate_rounds or target.simulated

    def _folder(self, method: str, target: TargetSpec) -> RunFolder:
        return RunFolder(self.out or Path("runs") / folder_name(base_of(self.task), target.label, method, self.seed))

    def _estimate(self, config: Config, folder: RunFolder) -> Estimate | None:
        """What is asked of the target, if that may be a real one."""
        if not config.target.is_physical:
            return None
        spec = load_task(config.task).robot_model.spec
        return estimate(config, spec, folder if self.resume and folder.config_path.exists() else None)

    def _with_environment(
        self, config: Config, folder: RunFolder, display: "CrossingDisplay", recorded: Recorded
    ) -> Result:
        """Cross to an environment, which may be a real robot: it is held and closed however this ends."""
        from isthmus.cli.signals import stop_key, stopped_by_signals

        stop = Stop()
        with stopped_by_signals(stop) as abandon, stop_key(stop):
            return run_transfer(
                config, folder, resume=self.resume, watch=display, stop=stop, abandon=abandon, recorded=recorded
            )

    def _with_robot(
        self, config: Config, address: RobotAddress, folder: RunFolder, display: "CrossingDisplay", recorded: Recorded
    ) -> Result:
        """Cross to a robot, with a hand on the emergency stop."""
        from isthmus.cli.attended_robot import attended_robot, tell
        from isthmus.transfer.targets.robot import Attended

        attended = Attended(look=display.look, tell=tell)
        with attended_robot(address, self.speed, attended.stop):
            return run_transfer(config, folder, resume=self.resume, watch=display, attended=attended, recorded=recorded)

    def _cross(self, config: Config, folder: RunFolder, recorded: Recorded) -> Result:
        """Cross to the target, whatever it is."""
        from isthmus.cli.progress import crossing_progress

        with crossing_progress() as display:
            if address := config.target.address:
                return self._with_robot(config, address, folder, display, recorded)
            if config.target.is_physical:
                return self._with_environment(config, folder, display, recorded)
            emulated = None
            if config.target.kind == "firmware":
                from isthmus.cli.firmware.target import emulated
            return run_transfer(config, folder, resume=self.resume, watch=display, emulated=emulated, recorded=recorded)

    def run(self) -> None:
        """Cross, print the closing table, write the report."""
        if self.actuator is not None:
            replace(self, task=with_actuator(self.task, self.actuator), actuator=None).run()
            return
        recorded = self._recorded()
        config = self._config(samples_in(recorded))
        folder = self._folder(config.method, config.target)
        planned = self._estimate(config, folder)
        if self.dry_run:
            self._print_plan(config, folder, planned)
            return
        if planned is not None and planned.anything:
            ask(planned, config.target.label, yes=self.yes)
        if self.reference is not None:
            _check_gap(config)
            config = replace(config, policy=keep_reference(self.reference, self.task, folder, resume=self.resume))
        result = self._cross(config, folder, recorded)
        if self.json:
            print_json(result.to_json())
        else:
            print_result(result)
            if config.follows_reference:
                stdout.print("expert: the simulator's inverse, which follows the recorded observations", soft_wrap=True)
            print_fit(folder, load_task(self.task).robot_model.spec.action_names)
            print_step(folder)
            print_robot(folder)
            if config.target.is_estimated:
                print_estimated(folder, load_task(self.task), recorded)
            if result.falls_short and not self.settings.may_retrain:
                stdout.print("with --may-retrain the policy is trained on in simulation", soft_wrap=True)
        if self.report:
            self._write_report(folder)

    def _write_report(self, folder: RunFolder) -> None:
        """Write the page; without the packages for it, say how to get them: the run is complete all the same."""
        try:
            from isthmus.report import write_report
        except ModuleNotFoundError as error:
            stderr.print(f"no report page: {missing_extra(error.name) or error}", soft_wrap=True)
            return
        path = write_report(folder, video=self.video, task=self.task)
        (stderr if self.json else stdout).print(f"\nreport: {path}", soft_wrap=True)

    def _recorded(self) -> Recorded:
        """What the logs hold, as episodes of the task."""
        if not self.logs:
            if self.map is not None:
                raise Problem("a map says which column of logs is which joint: give them with --logs")
            return ()
        return episodes_from(self.logs, self.task, self.map, self.source.file)

    def _print_plan(self, config: Config, folder: RunFolder, planned: Estimate | None) -> None:
        _check_gap(config)
        if planned is not None and not self.json:
            stdout.print(estimate_text(planned, config.target.label), soft_wrap=True, markup=False)
        print_json(plan(config.to_json(), planned, folder.path))


def _check_gap(config: Config) -> None:
    """Refuse a gap that does not fit the robot, before anything is written."""
    if config.target.simulated:
        load_task(config.task).target(Gap.parse(config.gap))
