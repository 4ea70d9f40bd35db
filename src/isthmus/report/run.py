"""Everything a run folder holds, read and checked once."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from isthmus.adapt import PredictedScore
from isthmus.core import Episode, Float, Problem, WorldSpec
from isthmus.evaluate import Trace
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.robots.registry import is_code
from isthmus.tasks import Task
from isthmus.transfer import Config, Result, RunFolder
from isthmus.transfer.control_step import StepTime
from isthmus.transfer.records import Round as Record

Role = Literal["expert", "unadapted", "adapted"]
ROLES: tuple[Role, ...] = ("expert", "unadapted", "adapted")
SCORES = ("zero", *ROLES)


@dataclass(frozen=True)
class Round:
    """How one round went."""

    number: int
    samples: int
    """Target samples so far."""
    normalised: float
    std: float
    """Standard deviation of the score over the evaluation episodes."""
    error: tuple[float, ...]
    """Held-out action error of each actuator."""
    action_std: tuple[float, ...]
    """Standard deviation of each actuator's actions in the data."""
    losses: tuple[tuple[float, float], ...]
    """Training and held-out loss of every pass; nan where there was none."""
    best: int
    """The pass that was kept."""
    waves: tuple[Sequence[Episode], ...]
    """What was collected."""
    chosen: str = ""
    """What was taken, by a method that chooses among several."""
    predicted: float | None = None
    """The normalised score that was predicted for it."""
    predicted_scores: Mapping[str, PredictedScore] = field(default_factory=dict[str, PredictedScore])
    """How each of them did in rehearsal."""
    evaluated: bool = True
    """Whether the policy was scored after this round; if not, its scores are the latest before."""

    @property
    def episodes(self) -> list[Episode]:
        """The episodes of all waves."""
        return [episode for wave in self.waves for episode in wave]


@dataclass(frozen=True)
class Run:
    """A finished run."""

    config: Config
    task: Task
    gap: Gap
    result: Result
    rounds: tuple[Round, ...]
    traces: dict[Role, Trace]
    step_time: StepTime | None = None
    """How long one robot waits for its command, if that was measured."""

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates of the robot."""
        return self.task.robot_model.spec

    @staticmethod
    def load(folder: RunFolder, *, task: str | None = None, trust: bool = False) -> "Run":
        """Read a run; a folder that is no run, has no result or is damaged is a Problem.

        A robot file is code. It is run only if the user named it, as `task`, or trusts what the folder names.
        """
        if not folder.config_path.exists():
            raise Problem(f"{folder.path} is not a run: it has no {folder.config_path.name}")
        folder.check()
        config = Config.load(folder.config_path)
        if not folder.result_path.exists():
            raise Problem(f"{folder.path} has no result yet: finish it with --resume")
        result = Result.load(folder.result_path)
        if fault := _fault(result):
            raise Problem(f"{folder.result_path} is not a run's result ({fault})")
        robot = load_task(_task_text(folder, config, task, trust=trust))
        return Run(
            config=config,
            task=robot,
            gap=config.load_gap(),
            result=result,
            rounds=_rounds(folder, robot.robot_model.spec),
            traces={role: _trace(folder, role, robot) for role in ROLES},
            step_time=folder.step_time(),
        )


def episodes(trace: Trace) -> list[Float]:
    """The observations (steps + 1, obs) of each traced episode, without the padding."""
    return [trace.observations[i, : length + 1] for i, length in enumerate(trace.lengths)]


def _task_text(folder: RunFolder, config: Config, named: str | None, *, trust: bool) -> str:
    """Which task to load; nothing is run because a run folder says so."""
    if not is_code(config.task):
        if named is not None and named != config.task:
            raise Problem(f"{folder.path} is a run of {config.task}, not of {named}")
        return config.task
    if named is not None:
        return named
    file = folder.working_folder / config.task
    if trust:
        return str(file)
    command = shlex.join(["isthmus", "report", str(folder.path)])
    raise Problem(
        f"{folder.path} was made with the robot file {file}, which is Python code and is run only if you name it: "
        f"{command} --task {shlex.quote(str(file))} (or {command} --trust, which runs whatever file the folder names)"
    )


def _fault(result: Result) -> str | None:
    """What is wrong with the figures, if anything is."""
    if missing := [name for name in SCORES if name not in result.std]:
        return f"std has no {missing[0]}"
    return None if result.expert > result.zero else "the expert scores no better than doing nothing"


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _rounds(folder: RunFolder, spec: WorldSpec) -> tuple[Round, ...]:
    rounds: list[Round] = []
    before = 0
    while (record := folder.round(len(rounds))) is not None:
        number = len(rounds)
        try:
            made = _round(record, number, tuple(folder.waves(number)), spec)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Problem(f"round {number} of {folder.path} is damaged ({error!r})") from error
        if made.samples <= before:
            raise Problem(f"round {number} of {folder.path} is damaged (it has no samples)")
        before = made.samples
        rounds.append(made)
    return tuple(rounds)


def _round(record: Record, number: int, waves: tuple[Sequence[Episode], ...], spec: WorldSpec) -> Round:
    fit = record.fit
    made = Round(
        number=number,
        samples=int(record.samples),
        normalised=float(record.normalised),
        std=float(record.std),
        error=tuple(float(value) for value in fit["error"]),
        action_std=tuple(float(value) for value in fit["action_std"]),
        losses=tuple((_loss(training), _loss(held_out)) for training, held_out in fit["losses"]),
        best=int(fit["best"]),
        waves=waves,
        chosen=str(fit.get("chosen", "")),
        predicted=fit.get("predicted"),
        evaluated=bool(record.evaluated),
        predicted_scores={name: PredictedScore(**one) for name, one in fit.get("predicted_scores", {}).items()},
    )
    predicted = [value for one in made.predicted_scores.values() for value in (one.score, one.error, one.episodes)]
    if not all(_is_finite(value) for value in (*predicted, *([made.predicted] if made.predicted_scores else []))):
        raise ValueError("what was predicted is not a number")
    if not len(made.error) == len(made.action_std) or len(made.error) not in (0, spec.action_size):
        raise ValueError(f"fit has {len(made.error)} actuators, the robot {spec.action_size}")
    for trajectory in (one for episode in made.episodes for one in episode):
        if trajectory.observations.shape[1] != spec.observation_size:
            raise ValueError(f"an episode has {trajectory.observations.shape[1]} observation dimensions")
    return made


def _loss(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _trace(folder: RunFolder, role: Role, task: Task) -> Trace:
    path = folder.trace_path(role)
    trace = Trace.load(path)
    spec = task.robot_model.spec
    n, steps = (*trace.commands.shape, 0, 0)[:2]
    shapes = {
        "observations": (n, steps + 1, spec.observation_size),
        "commands": (n, steps, spec.action_size),
        "source": (n, steps, *trace.source.shape[2:3]),
        "wanted": (n, steps, spec.observation_size),
        "qpos": (n, steps + 1, task.robot_model.model.nq),
        "lengths": (n,),
    }
    for name, shape in shapes.items():
        array: np.ndarray = getattr(trace, name)
        if array.shape != shape or not array.size or array.dtype.kind not in "fi" or not np.isfinite(array).all():
            raise Problem(f"{path} does not fit the run: its {name} are {array.shape}, expected finite {shape}")
    if trace.lengths.min() < 1 or trace.lengths.max() > steps:
        raise Problem(f"{path} does not fit the run: its lengths are not between 1 and {steps}")
    return trace
