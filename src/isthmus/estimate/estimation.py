"""The estimation of one run: the filter in front of its target, and how it learns from what the sensors showed."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Episode, Estimator, Float, Int, Mlp, Problem, unknown_name
from isthmus.estimate.choice import CLEARLY, surprise
from isthmus.estimate.course import Course
from isthmus.estimate.ensemble import EnsembleFilter
from isthmus.estimate.filter import Filter, SensorModel, Shown
from isthmus.estimate.frame import Frame
from isthmus.estimate.innovations import Explanation
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.learned import LearnedFilter
from isthmus.estimate.physics import Model, model_of, simulator_of
from isthmus.estimate.policy import EstimatedPolicy
from isthmus.estimate.recorded import Recording, runs_of
from isthmus.estimate.rehearsed import Sensing
from isthmus.estimate.report import SensorReport
from isthmus.estimate.smoother import smoothed
from isthmus.estimate.stage import FilterStage
from isthmus.io import load_arrays, save_arrays
from isthmus.sim import RobotModel
from isthmus.sysid.physics import Physics

CHOICES = ("kalman", "ensemble", "learned")
ESTIMATORS = ("none", *CHOICES, "auto")
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
        self._chosen = kind if kind in CHOICES else CHOICES[0]
        self.kind, self._robot_model = kind, robot_model
        self.columns: Int = sensed
        """What is sensed (m,)."""
        self._physics = Physics(robot_model)
        self.course: Course = course
        self._shown = Shown(sensed, self.course.start)
        self._frame = Frame.of(robot_model, sensed)
        self._model: Model | None = None
        self._exact = self._complete
        self._learned_from = 0
        self._stage: FilterStage | None = None
        self._filter: Filter | None = None
        self._off, self._used = False, True

    @property
    def _complete(self) -> bool:
        return len(self.columns) == self._robot_model.spec.observation_size

    @property
    def active(self) -> bool:
        """Whether policies are shown something else than the sensors show."""
        return self.corrects and self._used

    @property
    def corrects(self) -> bool:
        """Whether methods learn from estimates. They may do so where a policy does without."""
        return self.kind != "none" and not self._exact

    @property
    def filter(self) -> Filter:
        """What is between the sensors and a policy."""
        if self._off:
            return self._shown
        if self._filter is None:
            self._filter = self._made_filter() if self.active else self._shown
        return self._filter

    def behind(self, policy: AnyPolicy, history: int) -> AnyPolicy:
        """A policy with that before it, for who shows it the sensors; itself, where they show the observation."""
        spec = self._robot_model.spec
        return EstimatedPolicy(policy, self.filter, history, spec) if self.active or not self._complete else policy

    @property
    def may_do_without(self) -> bool:
        """Whether a policy can be shown the sensors as they are: nothing is missing."""
        return self._complete

    @property
    def sensing(self) -> Sensing | None:
        """What a policy is to be rehearsed with; None where the sensors show everything, and exactly."""
        if self._model is None or self._exact:
            return None
        model = self._physics.model(self._physics.values(self._model.z))
        return Sensing(self._model.explained.filter, model, self._made_filter(), self._shown)

    @property
    def physics(self) -> Float | None:
        """Parameters that were identified beside the sensors (p,); None where those are exact, or nothing is known."""
        return None if self._model is None or self._exact else self._model.z

    def use(self, used: bool) -> None:
        """Show policies estimates from the next episode on, or what the sensors show."""
        self._used, self._filter = used, None

    def stage(self, n: int) -> Estimator:
        """The Estimator stage of n robots."""
        self._stage = FilterStage(lambda: self.filter, n, self._robot_model.spec.action_size)
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
        if self.kind == "none" or samples < WORTH * self._learned_from:
            return
        self._learned_from = samples
        recording = Recording.of(runs_of(episodes, MOST_STEPS))
        self._model = model_of(recording, self._physics, self.columns, self.course)
        sensors = self._model.explained.sensors
        least = EXACT * self.course.scale[self.columns]
        self._used = True
        self._exact = sensors.is_exact(self._robot_model.spec.observation_size, least=least)
        if self.kind == "auto" and not self._exact:
            self._chosen = self._compared(recording, self._model)
        self._filter = None

    def _compared(self, recording: Recording, model: Model) -> str:
        """The estimator from whose estimates the next values of the sensors are foreseen best."""
        one = model.explained.filter
        filters: dict[str, Filter] = {
            "kalman": one,
            "ensemble": EnsembleFilter.of(one),
            "learned": self._learned_filter(),
        }
        how = one.simulator, self.columns, self.course.scale, one.sensors.delay
        found = {name: surprise(recording.estimates(each), recording, *how) for name, each in filters.items()}
        best = min(found, key=lambda name: found[name])
        return best if found[best] < found["kalman"] - CLEARLY else "kalman"

    def estimated(self, episodes: Sequence[Episode]) -> list[Episode]:
        """Episodes of what was sensed, with estimates in its place."""
        runs = [one for episode in episodes for one in episode]
        if any(one.context for one in runs):
            raise Problem("single steps from placed states cannot be estimated: leave --collect.placed at 0")
        recording = Recording.of(runs)
        one = self.filter if self._model is None else self._model.explained.filter
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

    def stored(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """What was learned, as arrays and a description."""
        arrays: dict[str, np.ndarray] = {}
        about = {"kind": KIND, "learned_from": self._learned_from, "exact": self._exact, "chosen": self._chosen}
        about["used"] = self._used
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
        return arrays, about

    def take(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Be as when that was stored."""
        self._learned_from, self._exact = int(about["learned_from"]), bool(about["exact"])
        self._used = bool(about.get("used", True))
        self._chosen = self._choice(str(about.get("chosen", self._chosen)))
        known = "z" in arrays
        self._model = self._read(arrays, int(about["delay"]), float(about["nll"])) if known else None
        self._network, self._filter = network_of(arrays) or self._network, None
        if self._network is not None:
            self._learned_filter()  # refuses one of other sensors

    def save(self, path: Path) -> None:
        """Write what was learned."""
        save_arrays(path, *self.stored())

    def restore(self, path: Path) -> None:
        """Be as when `path` was written."""
        try:
            self.take(*load_arrays(path, KIND))
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path} is not an {KIND} file of this robot, or it is damaged ({error})") from error

    def _choice(self, name: str) -> str:
        allowed = CHOICES if self.kind == "auto" else (self._chosen,)
        if name not in allowed:
            raise ValueError(f"estimator {name!r}")
        return name

    def _read(self, arrays: dict[str, Float], delay: int, nll: float) -> Model:
        z, process, course = arrays["z"], arrays["process"], self.course
        if z.shape != (self._physics.size,) or process.shape != course.start.shape:
            raise ValueError("shapes")
        if arrays["noise"].shape != self.columns.shape:
            raise ValueError("shapes")
        one = KalmanFilter(
            simulator_of(self._physics, z),
            SensorModel(self.columns, arrays["noise"], arrays["bias"], delay),
            Process(process, course.start, course.start_covariance, course.most),
        )
        return Model(Explanation(one, nll), z)

    def _made_filter(self) -> Filter:
        """The one that was chosen."""
        if self._chosen == "learned":
            return self._learned_filter()
        kalman = self._first() if self._model is None else self._model.explained.filter
        return EnsembleFilter.of(kalman) if self._chosen == "ensemble" else kalman

    def _learned_filter(self) -> LearnedFilter:
        """The network, trained now if it was not yet."""
        if self._network is None and self._train is not None:
            self._network = self._train()
        if self._network is None:
            raise Problem("there is no network for a learned estimator")
        delay = 0 if self._model is None else self._model.explained.sensors.delay
        actions = self._robot_model.spec.action_size
        return LearnedFilter(self._network, self._frame, self.course.start, actions, delay)

    def _first(self) -> KalmanFilter:
        """The filter before anything is known of the target."""
        course, size = self.course, len(self.columns)
        return KalmanFilter(
            simulator_of(self._physics, np.zeros(self._physics.size)),
            SensorModel(self.columns, FIRST_NOISE * course.scale[self.columns], np.zeros(size)),
            Process(FIRST_PROCESS * course.scale, course.start, course.start_covariance, course.most),
        )


def network_of(arrays: dict[str, Float]) -> Mlp | None:
    """The network in a file, if there is one."""
    own = {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
    return Mlp.from_arrays(own, "relu") if own else None
