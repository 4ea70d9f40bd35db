"""The estimation of one run: the filter in front of its target, and how it learns from what the sensors showed."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from isthmus.core import Episode, Estimator, Float, Int, Mlp, Problem, unknown_name
from isthmus.estimate.choice import CLEARLY, surprise
from isthmus.estimate.course import Course
from isthmus.estimate.filter import Filter, SensorModel, Shown
from isthmus.estimate.innovations import Explanation
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.learned import LearnedFilter
from isthmus.estimate.physics import Model, model_of, simulator_of
from isthmus.estimate.recorded import Recording, runs_of
from isthmus.estimate.smoother import smoothed
from isthmus.estimate.stage import FilterStage
from isthmus.io import load_arrays, save_arrays
from isthmus.sim import RobotModel
from isthmus.sysid.physics import Physics

ESTIMATORS = ("none", "kalman", "learned", "auto")
"""What can stand in the Estimator stage."""
TRAINED = ("learned", "auto")
"""Those that need a network, which is trained in the source simulator."""
NETWORK = "network_"
"""Before the names of its arrays in a file."""
KIND = "estimator"
"""The kind of its file."""
MOST_STEPS = 600
"""Steps that sensors and physics are estimated from: the latest ones."""
WORTH = 1.5
"""Sensors are estimated anew when there are so many times as many samples as the last time."""
EXACT = 0.005
"""Share of what changes in a step, below which noise and offset of a sensor do not matter."""
FIRST_NOISE, FIRST_PROCESS = 0.01, 0.1
"""Noise of the sensors and error of the simulator before anything is known, as shares of what changes in a step."""


def check_estimator(name: str) -> None:
    """Refuse an estimator that there is not."""
    if name not in ESTIMATORS:
        raise unknown_name("estimator", name, ESTIMATORS)


@dataclass(frozen=True)
class SensorReport:
    """What was found of the sensors, for people to look at."""

    used: bool
    """Whether a filter stands before the target; sensors that are exact need none."""
    estimator: str = "kalman"
    """Which one that is."""
    noise: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    """Standard deviations for each sensor."""
    delay: int = 0
    sensed: tuple[str, ...] = ()


class Estimation:
    """A filter for the robots of a target; it is changed only between episodes."""

    def __init__(
        self,
        kind: str,
        robot_model: RobotModel,
        sensed: Int,
        course: Course,
        train: Callable[[], Mlp] | None = None,
    ) -> None:
        """Begin with what is known of the source; `train` makes the network of a learned estimator."""
        check_estimator(kind)
        if kind in TRAINED and train is None:
            raise Problem(f"estimator {kind} needs a network: say how it is trained")
        self._train = train
        self._network: Mlp | None = None
        self._chosen = "learned" if kind == "learned" else "kalman"
        self._kind, self._robot_model, self._sensed = kind, robot_model, sensed
        self._physics = Physics(robot_model)
        self._course = course
        self._shown = Shown(sensed, self._course.start)
        self._model: Model | None = None
        self._exact = self._complete
        self._learned_from = 0
        self._stage: FilterStage | None = None
        self._filter: Filter = self._shown
        self._off = False
        self._choose()

    @property
    def _complete(self) -> bool:
        return len(self._sensed) == self._robot_model.spec.observation_size

    @property
    def active(self) -> bool:
        """Whether estimates differ from what the sensors show."""
        return self._filter is not self._shown

    def stage(self, n: int) -> Estimator:
        """The Estimator stage of n robots."""
        self._stage = FilterStage(self._current, n, self._robot_model.spec.action_size)
        return self._stage

    @contextmanager
    def unused(self) -> Generator[None]:
        """Show policies what the sensors show, for a while."""
        self._off = True
        try:
            yield
        finally:
            self._off = False

    def sensed(self, wave: Sequence[Episode]) -> list[Episode]:
        """What the sensors showed during the wave that was collected last."""
        if self._stage is None:
            raise Problem("nothing was collected yet")
        return self._stage.sensed(wave)

    def learn(self, episodes: Sequence[Episode], samples: int) -> None:
        """Estimate sensors and physics from what was sensed, if there is much more than the last time."""
        if self._kind == "none" or samples < WORTH * self._learned_from:
            return
        self._learned_from = samples
        recording = Recording.of(runs_of(episodes, MOST_STEPS))
        targets = self._robot_model.spec.targets
        self._model = model_of(recording, self._physics, self._sensed, self._course, targets)
        sensors = self._model.explained.sensors
        least = EXACT * self._course.scale[self._sensed]
        self._exact = sensors.is_exact(self._robot_model.spec.observation_size, least=least)
        if self._kind == "auto" and not self._exact:
            self._chosen = self._compared(recording, self._model)
        self._choose()

    def _compared(self, recording: Recording, model: Model) -> str:
        """The estimator from whose estimates the next values of the sensors are foreseen best."""
        one = model.explained.filter
        kalman, learned = (
            surprise(
                recording.estimates(each),
                recording,
                one.simulator,
                self._sensed,
                self._course.scale,
                one.sensors.delay,
            )
            for each in (one, self._learned_filter())
        )
        return "learned" if learned < kalman - CLEARLY else "kalman"

    def estimated(self, episodes: Sequence[Episode]) -> list[Episode]:
        """Episodes of what was sensed, with estimates in its place."""
        runs = [one for episode in episodes for one in episode]
        if any(one.context for one in runs):
            raise Problem("single steps from placed states cannot be estimated: leave --collect.placed at 0")
        recording = Recording.of(runs)
        one = self._filter if self._model is None else self._model.explained.filter
        estimates = smoothed(one, recording) if isinstance(one, KalmanFilter) else recording.estimates(one)
        found = iter([replace(one, observations=estimates[i, : len(one) + 1]) for i, one in enumerate(runs)])
        return [[next(found) for _ in episode] for episode in episodes]

    def report(self) -> SensorReport:
        """What is known of the sensors."""
        if self._model is None:
            return SensorReport(self.active, self._chosen)
        sensors, names = self._model.explained.sensors, self._robot_model.spec.observation_names
        return SensorReport(
            self.active,
            self._chosen,
            tuple(sensors.noise.tolist()),
            tuple(sensors.bias.tolist()),
            sensors.delay,
            tuple(names[int(i)] for i in sensors.sensed.tolist()),
        )

    def save(self, path: Path) -> None:
        """Write what was learned."""
        arrays: dict[str, np.ndarray] = {}
        about = {"kind": KIND, "learned_from": self._learned_from, "exact": self._exact, "chosen": self._chosen}
        if self._model is not None:
            one = self._model.explained
            arrays = {
                "noise": one.sensors.noise,
                "bias": one.sensors.bias,
                "process": one.filter.process.noise,
                "z": self._model.z,
            }
            about |= {"delay": one.sensors.delay, "nll": one.nll}
        if self._network is not None:
            arrays |= {NETWORK + name: array for name, array in self._network.arrays().items()}
        save_arrays(path, arrays, about)

    def restore(self, path: Path) -> None:
        """Be as when `path` was written."""
        arrays, about = load_arrays(path, KIND)
        try:
            self._learned_from, self._exact = int(about["learned_from"]), bool(about["exact"])
            self._chosen = self._choice(str(about.get("chosen", self._chosen)))
            known = "z" in arrays
            self._model = self._read(arrays, int(about["delay"]), float(about["nll"])) if known else None
            self._network = _network_of(arrays) or self._network
            self._choose()
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path} is not an {KIND} file of this robot, or it is damaged ({error})") from error

    def _choice(self, name: str) -> str:
        allowed = ("kalman", "learned") if self._kind == "auto" else (self._chosen,)
        if name not in allowed:
            raise ValueError(f"estimator {name!r}")
        return name

    def _read(self, arrays: dict[str, Float], delay: int, nll: float) -> Model:
        z, process, course = arrays["z"], arrays["process"], self._course
        if z.shape != (self._physics.size,) or process.shape != course.start.shape:
            raise ValueError("shapes")
        if arrays["noise"].shape != self._sensed.shape:
            raise ValueError("shapes")
        one = KalmanFilter(
            simulator_of(self._physics, z),
            SensorModel(self._sensed, arrays["noise"], arrays["bias"], delay),
            Process(process, course.start, course.start_covariance),
        )
        return Model(Explanation(one, nll), z)

    def _current(self) -> Filter:
        return self._shown if self._off else self._filter

    def _choose(self) -> None:
        if self._kind == "none" or self._exact:
            self._filter = self._shown
        elif self._chosen == "learned":
            self._filter = self._learned_filter()
        elif self._model is not None:
            self._filter = self._model.explained.filter
        else:
            self._filter = self._first()

    def _learned_filter(self) -> LearnedFilter:
        """The network, trained now if it was not yet."""
        if self._network is None and self._train is not None:
            self._network = self._train()
        if self._network is None:
            raise Problem("there is no network for a learned estimator")
        delay = 0 if self._model is None else self._model.explained.sensors.delay
        actions = self._robot_model.spec.action_size
        return LearnedFilter(self._network, self._sensed, self._course.start, actions, delay)

    def _first(self) -> KalmanFilter:
        """The filter before anything is known of the target."""
        course, size = self._course, len(self._sensed)
        return KalmanFilter(
            simulator_of(self._physics, np.zeros(self._physics.size)),
            SensorModel(self._sensed, FIRST_NOISE * course.scale[self._sensed], np.zeros(size)),
            Process(FIRST_PROCESS * course.scale, course.start, course.start_covariance),
        )


def _network_of(arrays: dict[str, Float]) -> Mlp | None:
    """The network in a file, if there is one."""
    own = {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
    return Mlp.from_arrays(own, "relu") if own else None
