"""What an estimator adds to a control step of one robot."""

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from isthmus.bench.measure import Benchmark, middle
from isthmus.core import Float, Mlp, Rows, stream
from isthmus.core.rollout import rollout
from isthmus.estimate.course import Course, course_of
from isthmus.estimate.ensemble import EnsembleFilter
from isthmus.estimate.filter import Filter, SensorModel
from isthmus.estimate.frame import Frame
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.learned import WINDOW, LearnedFilter
from isthmus.estimate.stage import FilterStage
from isthmus.estimate.training import Training
from isthmus.experts import load_expert
from isthmus.robots import load_task
from isthmus.sim import MujocoWorld, RobotModel
from isthmus.tasks import Task

ROBOT, NOISE = "hopper", 0.01
WARM, STEPS = 20, 300
"""Control steps that are not timed, and those that are."""
MILLISECONDS = 1.0
"""That an estimator may add."""


def estimating(repeats: int) -> Iterator[Benchmark]:
    """Every estimator on noisy sensors; an ensemble is many simulations, and may take the whole control period."""
    task = load_task(ROBOT)
    policy, spec = load_expert(task), task.robot_model.spec
    course = course_of(policy, task.source(4), stream(0, "bench"))
    kalman = KalmanFilter(task.source(), _sensors(course), Process(0.03 * course.scale, *_start(course)))
    period = 1e3 * spec.control_period
    filters: dict[str, tuple[Filter, float]] = {
        "kalman": (kalman, MILLISECONDS),
        "learned": (_some_network(course, task.robot_model), MILLISECONDS),
        "ensemble": (EnsembleFilter.of(kalman), period),
    }
    for name, (one, allowed) in filters.items():
        times = [_times(task, one) for _ in range(repeats)]
        ratio, half_iqr = middle([float(np.median(took)) / 1e3 / allowed for took in times])
        every = np.concatenate(times)
        p50, p99 = np.percentile(every, (50, 99))
        yield Benchmark(
            f"estimating-{ROBOT}-{name}",
            ratio,
            half_iqr,
            f"{allowed:g} ms, n = 1 (the control period is {period:.0f} ms)",
            goal=1.0,
            better="lower",
            step={"p50": float(p50), "p99": float(p99), "worst": float(every.max())},
        )


def _times(task: Task, one: Filter) -> Float:
    """Microseconds of every step (STEPS,)."""
    timed = _Timed(FilterStage(lambda: one, 1, task.robot_model.spec.action_size))
    world = MujocoWorld(task.robot_model, estimator=timed)
    rng = stream(0, "bench")
    for _ in rollout(world, load_expert(task), world.reset(rng), steps=WARM + STEPS, restart=rng):
        pass
    return 1e6 * np.array(timed.seconds[WARM:])


class _Timed:
    """An estimator with noisy sensors before it, whose steps are timed."""

    def __init__(self, stage: FilterStage) -> None:
        self._stage, self._rng = stage, stream(0, "bench noise")
        self.seconds: list[float] = []

    def begin(self, sensed: Float, rows: Rows) -> Float:
        return self._stage.begin(self._noisy(sensed), rows)

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        shown, began = self._noisy(sensed), time.perf_counter()
        estimate = self._stage(shown, applied, rows)
        self.seconds.append(time.perf_counter() - began)
        return estimate

    def _noisy(self, sensed: Float) -> Float:
        return sensed + NOISE * self._rng.standard_normal(sensed.shape)


def _sensors(course: Course) -> SensorModel:
    size = len(course.start)
    return SensorModel(np.arange(size), np.full(size, NOISE), np.zeros(size))


def _start(course: Course) -> tuple[Float, Float]:
    return course.start, course.start_covariance


def _some_network(course: Course, robot_model: RobotModel) -> LearnedFilter:
    """A network of the usual size that knows nothing: it takes as long."""
    size, rng = len(course.start), stream(0, "bench network")
    actions = robot_model.spec.action_size
    inputs = WINDOW * size + (WINDOW - 1) * actions
    sizes = (inputs, *Training().hidden, size)
    network = Mlp(
        tuple(rng.normal(0, 0.01, shape).astype(np.float32) for shape in pairwise(sizes)),
        tuple(np.zeros(one, np.float32) for one in sizes[1:]),
        "relu",
        np.zeros(inputs),
        np.ones(inputs),
        np.zeros(size),
        np.ones(size),
    )
    return LearnedFilter(network, Frame.of(robot_model, np.arange(size)), course.start, actions)
