"""n simulations of one robot, stepped together on all cores."""

import copy
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco
import numpy as np
from mujoco.batch import Batch

from isthmus.core import Bool, Estimator, Float, History, Problem, Rows, Step, WorldSpec
from isthmus.sim.channels import Channel
from isthmus.sim.robot_model import Fields, RobotModel

NO_STAGE = mujoco.mjtStage.mjSTAGE_NONE.value


class MujocoWorld:
    """A Simulator over `mujoco.batch.Batch`.

    Source and target are the same class. The target's `models` have a gap applied, and channels may lie between a
    command and its actuator (`actions` once a control step, `drives` once a physics step) or between a sensor and the
    observation (`sensors`). An `estimator` turns what the sensors show into the observation. Predictions, episode ends
    and `fields` know nothing of either. The drive of the robot model itself is in predictions too. Derived quantities
    in an observation are those that `mj_step` leaves behind, as in Gymnasium's environments.
    """

    def __init__(
        self,
        robot_model: RobotModel,
        n: int = 1,
        *,
        models: mujoco.MjModel | Sequence[mujoco.MjModel] | None = None,
        actions: Channel | None = None,
        drives: Channel | None = None,
        sensors: Channel | None = None,
        estimator: Estimator | None = None,
        threads: int | None = None,
    ) -> None:
        """Set up n simulations, of the robot's own model, of one other, or of one each.

        Channels and estimators have a state, for n worlds: no two worlds can share one.
        """
        if n < 1:
            raise Problem(f"a world needs at least one simulation, got {n}")
        if models is not None and not isinstance(models, mujoco.MjModel) and len(models) != n:
            raise Problem(f"{n} simulations need {n} models, got {len(models)}")
        self.robot_model = robot_model
        self._models = models
        self._coarse: MujocoWorld | None = None
        self._serial: MujocoWorld | None = None
        self._threads = threads
        self._running = _Rows(robot_model, n, models, threads)
        self._predictors: dict[int, _Predictor] = {}
        self._ended = np.zeros(n, np.bool_)
        self._actions, self._sensors = actions, sensors
        self._drives = robot_model.drive(n) if drives is None and robot_model.drive is not None else drives
        self._estimator = estimator
        self._seen = np.zeros((n, robot_model.spec.observation_size))
        self._episodes = np.random.default_rng(0)

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self.robot_model.spec

    @property
    def n(self) -> int:
        """How many simulations there are."""
        return self._ended.shape[0]

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for scores and pictures. Out of reach behind a `Robot`."""
        return self._running.fields

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the worlds `which` (all by default); returns all observations (n, obs)."""
        count = self.n if which is None else int(np.count_nonzero(which))
        if count:
            self._running.put(*self.robot_model.start(rng, count), which)
            if self._actions is not None or self._drives is not None or self._sensors is not None:
                self._episodes = np.random.default_rng(rng.integers(2**63))
            self._begin(_rows(which))
        return self._observed(self._running.observe(), _rows(which))

    def place(self, observations: Float) -> Float:
        """Start a new episode at `observations` (n, obs), taken as true; returns what is seen there.

        What is random in a channel goes on from the last reset: who is placed twice does not see the same noise twice.
        """
        self._running.restore(_checked(observations, (self.n, self.spec.observation_size)))
        self._running.batch.forward()
        self._begin(_rows(None))
        return self._observed(self._running.observe(), _rows(None))

    def shift(self, observations: Float, which: Bool) -> tuple[Float, Bool]:
        """Let the worlds `which` go on at `observations` (n, obs) instead; what those do not tell stays as it is.

        Returns all that is seen then (n, obs), and which episodes are over there (n,).
        """
        self._running.shift(_checked(observations, (self.n, self.spec.observation_size)), which)
        over = self.robot_model.ended(self._running.fields)
        self._ended[which] = False if over is None else over[which]
        return self._running.observe(), self._ended.copy()

    def remodel(self, models: Sequence[mujoco.MjModel]) -> None:
        """Go on with other models, one each: for simulations that are to begin a new episode."""
        self._models, self._coarse, self._serial = models, None, None
        self._running.use(models)

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) for one control period. Worlds that have ended or are not `which` stay as they are."""
        commands = _checked(commands, (self.n, self.spec.action_size))
        if self._ended.any():
            which = ~self._ended if which is None else which & ~self._ended
        self._running.step(self._delivered(commands, _rows(which)), which, self._drives)
        observations = self._running.observe()
        if not np.isfinite(observations).all():
            worlds = np.flatnonzero(~np.isfinite(observations).all(axis=1))
            raise FloatingPointError(f"the simulation diverged in world {worlds[0]} ({len(worlds)} of {self.n})")
        over = self.robot_model.ended(self._running.fields)
        if over is not None:
            self._ended |= over
        applied = self.spec.clip(commands)
        return Step(self._observed(observations, _rows(which), applied), applied, self._ended.copy())

    def _begin(self, rows: Rows) -> None:
        """Start a new episode in `rows`, whose simulations are in their first state."""
        self._ended[rows] = False
        fields, rest = self._running.fields, self.spec.clip(np.zeros((self.n, self.spec.action_size)))[rows]
        for channel in (self._actions, self._drives):
            if channel is not None:
                channel.begin(rest, fields, self._episodes, rows)
        if self._sensors is not None:
            self._sensors.begin(self._running.observe()[rows], fields, self._episodes, rows)

    def _delivered(self, commands: Float, rows: Rows) -> Float:
        """What reaches the actuators of commands (n, act), given in `rows`."""
        if self._actions is None:
            return commands
        delivered = commands.copy()
        delivered[rows] = self._actions(commands[rows], self._running.fields, rows)
        return delivered

    def _observed(self, true: Float, rows: Rows, applied: Float | None = None) -> Float:
        """What is observed of the `true` observations (n, obs), which are new in `rows`.

        `applied` (n, act) are the actions that led there; None at the start of an episode.
        """
        if self._sensors is None and self._estimator is None:
            return true
        seen = true[rows] if self._sensors is None else self._sensors(true[rows], self._running.fields, rows)
        if self._estimator is not None:
            begins = applied is None
            seen = self._estimator.begin(seen, rows) if begins else self._estimator(seen, applied[rows], rows)
        self._seen[rows] = seen
        return self._seen.copy()

    def predict(self, history: History, actions: Float) -> Float:
        """What is seen one step after `history` when `actions` (n, act) are given; leaves the world as it is."""
        n = len(history.current)
        return self._predictor(n).predict(history, _checked(actions, (n, self.spec.action_size)))

    def show(self, observations: Float) -> Float:
        """What is seen here in the states of `observations` (n, obs), which may come from another robot."""
        rows = self._predictor(len(observations))
        rows.restore(observations)
        rows.batch.forward()
        return rows.observe()

    @property
    def serial(self) -> "MujocoWorld":
        """The same simulator on one thread, for the predictions of a single robot's control step.

        Those are few, and done before other threads are awake. On a busy machine several threads take two to five
        times as long as one.
        """
        if self._threads == 1:
            return self
        if self._serial is None:
            self._serial = MujocoWorld(self.robot_model, models=self._models, threads=1)
        return self._serial

    @property
    def coarse(self) -> "MujocoWorld | None":
        """The same robot by half as many steps of Euler's method, in an eighth of the time of Runge and Kutta's.

        For how the next state changes with an action; None for a model that is as quick already.
        """
        model = self.robot_model.model if self._models is None else self._models
        if not isinstance(model, mujoco.MjModel) or model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4.value:
            return None
        if self.robot_model.drive is not None:  # it counts physics steps, and here those are others
            return None
        if self._coarse is None:
            brief = replace(self.robot_model, frame_skip=self._fewer_steps)
            self._coarse = MujocoWorld(brief, models=self._coarse_model(model), threads=self._threads)
        return self._coarse

    @property
    def _fewer_steps(self) -> int:
        return max(1, self.robot_model.frame_skip // 2)

    def _coarse_model(self, model: mujoco.MjModel) -> mujoco.MjModel:
        model = copy.copy(model)
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER.value
        model.opt.timestep *= self.robot_model.frame_skip / self._fewer_steps
        return model

    def predict_with(
        self, observations: Float, actions: Float, read: Callable[[Fields], Float]
    ) -> tuple[Float, Float, Float]:
        """What is seen one step after `observations`, as by `predict`, and what `read` finds before and after."""
        rows = self._predictor(len(observations))
        rows.restore(observations)
        rows.batch.forward()
        before = read(rows.fields).copy()
        rows.begin()
        rows.step(_checked(actions, (len(observations), self.spec.action_size)), None, rows.drive)
        return rows.observe(), before, read(rows.fields).copy()

    def _predictor(self, n: int) -> "_Predictor":
        """Simulations beside the running ones, n of them; they stay set up."""
        rows = self._predictors.get(n)
        if rows is None:
            if not (self._models is None or isinstance(self._models, mujoco.MjModel)):
                raise Problem("a world of different robots cannot predict for one: give it a single model")
            rows = self._predictors[n] = _Predictor(self.robot_model, n, self._models, self._threads)
        return rows

    def adopt(self, model: mujoco.MjModel) -> None:
        """Go on with another model of the same robot in all simulations; their states stay."""
        self._models = model
        for rows in (self._running, *self._predictors.values()):
            rows.batch.set_models(model)
        for rows in self._predictors.values():
            rows.forget()
        if self._coarse is not None:
            self._coarse.adopt(self._coarse_model(model))
        if self._serial is not None:
            self._serial.adopt(model)

    def data(self, world: int) -> mujoco.MjData:
        """A copy of one simulation, to draw it."""
        data = self._running.batch.get_data(world)
        mujoco.mj_forward(self._running.batch.get_model(world), data)
        return data


class _Rows:
    """The bound arrays of one Batch."""

    def __init__(
        self,
        robot_model: RobotModel,
        n: int,
        models: mujoco.MjModel | Sequence[mujoco.MjModel] | None,
        threads: int | None,
    ) -> None:
        self.robot_model = robot_model
        cores = threads or len(os.sched_getaffinity(0))
        self.batch = Batch(robot_model.model, nsim=n, nthread=max(1, min(cores, n)))
        self.qpos: Float = self.batch.bind("qpos")
        self.qvel: Float = self.batch.bind("qvel")
        self.ctrl: Float = self.batch.bind("ctrl")
        self.fields = {"qpos": self.qpos, "qvel": self.qvel}
        self.fields |= {name: self.batch.bind(name) for name in robot_model.reads}
        self.raised: Float = np.zeros_like(self.qpos)
        if models is not None:
            self.use(models)
        self.batch.reset()
        # What a simulation carries beside positions and velocities (warm start, time, activations) begins the same.
        self.fresh: Float = self.batch.state[:1].copy()

    def use(self, models: mujoco.MjModel | Sequence[mujoco.MjModel]) -> None:
        self.batch.set_models(models)
        # A robot with longer legs stands higher: it starts as far from its own reference as the source's does.
        reference = np.array([model.qpos0 for model in ((models,) if isinstance(models, mujoco.MjModel) else models)])
        self.raised = np.broadcast_to(reference - self.robot_model.model.qpos0, self.qpos.shape)

    def put(self, qpos: Float, qvel: Float, which: Bool | None = None) -> None:
        rows = _rows(which)
        self.batch.state[rows] = self.fresh
        self.qpos[rows], self.qvel[rows] = qpos + self.raised[rows], qvel
        self.batch.forward(which)

    def restore(self, observations: Float) -> None:
        self.batch.state[:] = self.fresh
        self.robot_model.restore(observations, self.qpos, self.qvel)

    def shift(self, observations: Float, which: Bool) -> None:
        old, new = ((np.zeros_like(self.qpos), np.zeros_like(self.qvel)) for _ in range(2))
        self.robot_model.restore(self.observe(), *old)
        self.robot_model.restore(observations, *new)
        for state, now, then in zip((self.qpos, self.qvel), old, new, strict=True):
            state[which] += (then - now)[which]
        for qpos in self.qpos:
            mujoco.mj_normalizeQuat(self.robot_model.model, qpos)
        self.batch.forward(which)

    def step(self, commands: Float, which: Bool | None, drives: Channel | None = None) -> None:
        self.ctrl[:] = commands
        if drives is None:
            self.batch.step(which, nstep=self.robot_model.frame_skip, stage=NO_STAGE)
            return
        rows = _rows(which)
        for _ in range(self.robot_model.frame_skip):
            self.ctrl[rows] = drives(commands[rows], self.fields, rows)
            self.batch.step(which, nstep=1, stage=NO_STAGE)

    def observe(self) -> Float:
        observations = np.empty((len(self.qpos), self.robot_model.spec.observation_size))
        self.robot_model.observe(self.fields, observations)
        return observations


class _Predictor(_Rows):
    """Looks one step ahead, and remembers what it was asked last: episodes that are over ask the same for ever."""

    def __init__(self, robot_model: RobotModel, n: int, models: mujoco.MjModel | None, threads: int | None) -> None:
        super().__init__(robot_model, n, models, threads)
        self.drive = None if robot_model.drive is None else robot_model.drive(n)
        self._query = np.full((n, robot_model.spec.observation_size), np.nan), np.full_like(self.ctrl, np.nan)
        self._past = np.full((n, 0), np.nan)
        self._answer = np.zeros_like(self._query[0])
        self._n = n

    def forget(self) -> None:
        self._query[0][:] = np.nan

    def begin(self, rows: Bool | None = None) -> None:
        """Let the drives of `rows` know nothing of the past."""
        if self.drive is not None:
            self.drive.begin(np.zeros((self._n, 0)), self.fields, np.random.default_rng(0), _rows(rows))

    def predict(self, history: History, commands: Float) -> Float:
        observations = history.current
        at, given = self._query
        new = (observations != at).any(axis=1) | (commands != given).any(axis=1)
        if self.drive is not None:
            past = np.concatenate((history.observations.reshape(self._n, -1), history.actions.reshape(self._n, -1)), 1)
            new |= True if past.shape != self._past.shape else (past != self._past).any(axis=1)
            self._past = past
        if new.any():
            which = None if new.all() else new
            self._remember(history, which)
            self.restore(observations)
            self.step(commands, which, self.drive)
            self._answer[new] = self.observe()[new]
            at[:], given[:] = observations, commands
        return self._answer.copy()

    def _remember(self, history: History, which: Bool | None) -> None:
        """Fill the drives' memory by simulating the control steps before the present one.

        A window that begins an episode repeats the first observation: there is nothing to remember there yet.
        """
        if self.drive is None:
            return
        self.begin(which)
        steps = min(history.length - 1, -(-self.drive.memory // self.robot_model.frame_skip))
        for step in range(history.length - 1 - steps, history.length - 1):
            before, given = history.observations[:, step], history.actions[:, step]
            self.restore(before)
            self.step(given, which, self.drive)
            idle = (history.observations[:, step + 1] == before).all(axis=1) & (given == 0).all(axis=1)
            if idle.any():
                self.begin(idle if which is None else idle & which)


def _rows(which: Bool | None) -> Rows:
    return slice(None) if which is None else which


def _checked(array: Float, shape: tuple[int, int]) -> Float:
    """Guard the boundary once: what goes into a simulation has the right shape and is finite."""
    if array.shape != shape:
        raise ValueError(f"expected an array of shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("a command or observation is not finite")
    return array
